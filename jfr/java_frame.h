/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of stacks. Most stacks have most of their frames in common with others: frames of the
 * same bytes are one frame, which is put together once.
 */
#ifndef JFR_JAVA_FRAME_H
#define JFR_JAVA_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jfr/names_row.h"

/* How the frames of a stack are read: they lie in it, or are constants themselves, as JMC's writer
   has them. */
struct frames {
	struct chunk *c;
	struct java_stack *stack; /* whose they are */
	struct names *names;	  /* which it is of */
	const struct layout *layout;
	const int16_t *at; /* where the fields of a frame are, as of a stack */
	uint64_t method_type;
	uint64_t type_type;	/* 0: frames have none */
	uint64_t constant_type; /* 0: they lie in the stack */
	unsigned int n_varints; /* of each that may be known by its bytes; 0: none may */
};

/* false: nobody says how they are read. */
bool frames_init(struct frames *f, struct chunk *c, const struct found *stack, const int16_t *at,
		 struct java_stack *of);
/* How many could be read; constants do not move while they are. */
size_t frames_read(const struct frames *f, struct reader *r, const struct java_frame **out,
		   size_t n);

#endif
