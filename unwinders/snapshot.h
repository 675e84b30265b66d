/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finishes in user space a walk that the kernel half could not: over registers and copied bytes of
 * the stack. The same step functions as in the kernel first; DWARF expressions and return addresses
 * in registers by a full CFI interpreter; for code without unwind data the frame pointer if it
 * proves itself, else a search for the return address (the call before it, its target, a walk that
 * then reaches a root). Such frames are flagged as guessed.
 */
#ifndef UNWINDERS_SNAPSHOT_H
#define UNWINDERS_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/weft.h"
#include "unwinders/cfi.h"

/* What the walk needs to know of the code at a pc; filled by the caller's find(). */
struct code_region {
	uint64_t start, end;		  /* of the mapping */
	uint64_t bias;			  /* pc - bias is the virtual address in the tables */
	const struct unwind_table *table; /* NULL: none */
	const struct cfi_input *cfi;	  /* for rules of kind CFA_USER; NULL: none */
	const uint8_t *code; /* bytes of the mapping's file, for call checks; NULL: read() them */
	size_t code_len;
	uint64_t code_start; /* pc of code[0] */
};

struct snapshot {
	uint64_t regs[WIRE_N_REGS];
	uint32_t valid_regs;
	bool is_exact; /* regs' rip is a pc, not a return address */
	/* The stack: bytes[i] is at stack_start + i where known says the page is there. */
	uint64_t stack_start;
	const uint8_t *stack;
	size_t stack_len;	   /* a multiple of SNAPSHOT_PAGE */
	const uint8_t *page_known; /* one byte a page */
	bool is_stopped;	   /* the target does not run: read() does for its stacks, too */
	/* Environment. */
	void *ctx;
	/* False: the pc is in no executable mapping. */
	bool (*find)(void *ctx, uint64_t pc, struct code_region *out);
	/* Other target memory (code of JITs, data); 0 or -errno. May be NULL. */
	int (*read)(void *ctx, uint64_t addr, void *buf, size_t len);
	/* Start and size of the function around a pc; false unknown. May be NULL. */
	bool (*function)(void *ctx, uint64_t pc, uint64_t *start, uint64_t *size);
};

/* Appends frames (user frames, leaf first) behind the first n of out, up to max in all; *n moves.
   Returns why it ended: enum counter. */
int snapshot_walk(const struct snapshot *s, struct wire_frame *out, size_t *n, size_t max);

#endif
