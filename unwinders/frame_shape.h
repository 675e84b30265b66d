/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a function without unwind data keeps its return address, as far as its own instructions
 * say: those from its start to the pc (what was pushed), or those from the pc to a `ret` (what is
 * popped). Knows the instructions that move the stack pointer, and a few between them.
 */
#ifndef UNWINDERS_FRAME_SHAPE_H
#define UNWINDERS_FRAME_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHAPE_N_REGS 16	  /* general registers */
#define SHAPE_MAX_CODE 64 /* bytes worth looking at */

enum shape_base {
	SHAPE_FROM_SP,
	SHAPE_FROM_FP,
	SHAPE_FROM_SAVED_SP, /* rsp was rounded down; what it was before stands in the frame */
	SHAPE_NONE,	     /* rounded down, and not saved */
};

struct frame_shape {
	enum shape_base base; /* what the offsets count from */
	int64_t return_slot;  /* where the return address is */
	uint64_t allocated; /* SHAPE_FROM_SAVED_SP: bytes below the old rsp before it was rounded */
	uint32_t saved;	    /* registers that were saved, one bit each, by DWARF number */
	int64_t slots[SHAPE_N_REGS]; /* and where */
};

/* code: the function's first bytes, up to the pc at most. What was recognized of it. */
void frame_shape_by_prologue(const uint8_t *code, size_t len, struct frame_shape *out);
/* code: the bytes at the pc. False: they do not lead straight to a return. */
bool frame_shape_by_epilogue(const uint8_t *code, size_t len, struct frame_shape *out);
/* code: bytes around the pc, which is at code[at]. True between a function's start and where its
   frame pointer is set up. */
bool frame_shape_at_entry(const uint8_t *code, size_t len, size_t at, struct frame_shape *out);
/* A frame with a frame pointer: the caller's at [rbp], the return address above it. */
struct frame_shape frame_shape_standard(void);

#endif
