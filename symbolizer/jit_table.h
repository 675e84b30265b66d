/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of one process's names, for jit_symbols.c and jit_room.c only. */
#ifndef SYMBOLIZER_JIT_TABLE_H
#define SYMBOLIZER_JIT_TABLE_H

#include "symbolizer/jit_symbols.h"

struct intern;

struct range {
	uint64_t start, time_ns;
	uint32_t size;
	uint32_t name; /* string id */
	uint32_t first_line, n_lines;
};

struct jit_symbols {
	struct intern *text;
	struct range *ranges; /* in the order they came */
	size_t n, cap;
	struct jit_line *lines;
	size_t n_lines, cap_lines;
	size_t first_pending; /* lines of the range to come */
	/* The ranges by start, as a tree in an array: a node is the middle of its part, and knows
	   the highest end in it. Built when somebody asks. */
	uint32_t *order;
	uint64_t *max_end;
	size_t n_ordered, cap_ordered;
	struct jit_room *room;		  /* NULL: none */
	size_t counted;			  /* bytes in room->used that are ours */
	struct jit_symbols *next, **link; /* of the room's holders */
};

/* With its place in the order. */
#define RANGE_LEN (sizeof(struct range) + sizeof(uint32_t) + sizeof(uint64_t))

/* Forgets the oldest n ranges. The tables stay as large as they are until none is left. */
void jit_symbols_forget(struct jit_symbols *s, size_t n);

/* Would that much more still be in the share? */
bool jit_room_has(const struct jit_symbols *s, size_t more);
/* The same, be it that others have to give some of theirs. */
bool jit_room_find(const struct jit_symbols *s, size_t more);
/* To be called after every change. */
void jit_room_tell(struct jit_symbols *s);

#endif
