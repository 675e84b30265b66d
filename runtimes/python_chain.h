/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The await chain of a coroutine: the frames from it inwards, each suspended in an await of the
 * next one, down to what the innermost one waits for.
 */
#ifndef RUNTIMES_PYTHON_CHAIN_H
#define RUNTIMES_PYTHON_CHAIN_H

#include "runtimes/python_functions.h"
#include "runtimes/python_heap.h"

#define PYTHON_MAX_CHAIN 1024

enum python_chain_end {
	PYTHON_CHAIN_FUTURE,   /* leaf is a future or task */
	PYTHON_CHAIN_OBJECT,   /* leaf is an iterator of another kind, or 0: it awaits nothing */
	PYTHON_CHAIN_RUNNING,  /* the last frame is being executed */
	PYTHON_CHAIN_CREATED,  /* it has not begun yet */
	PYTHON_CHAIN_FINISHED, /* there is no frame any more */
	PYTHON_CHAIN_BROKEN,   /* too long, or in a circle */
};

struct python_chain_frame {
	uint64_t frame, code, qualname, instr;
};

struct python_await_chain {
	struct python_chain_frame frames[PYTHON_MAX_CHAIN]; /* outermost first */
	size_t n;
	enum python_chain_end end;
	uint64_t leaf;
};

void python_chain_read(struct python_heap *h, uint64_t coroutine, struct python_await_chain *out);

/* What a suspended generator awaits; 0: nothing. */
uint64_t python_chain_next(struct python_heap *h, uint64_t generator);
/* The frame of a generator of any kind, where it is; 0: it has none (any more). */
uint64_t python_generator_frame(struct python_heap *h, uint64_t generator);
/* A local variable of a frame, parameters first; 0 is `self` in methods. */
uint64_t python_frame_local(struct python_heap *h, uint64_t frame, unsigned int i);
/* From 3.11 on: how many words a suspended frame has from its first local variable to the top of
   its stack, each of which python_frame_local() reads. */
unsigned int python_frame_depth(struct python_heap *h, uint64_t frame);

#endif
