/* SPDX-License-Identifier: Apache-2.0 */
/* Little room for the names of a process, so that they are forgotten while they are read. */
#ifndef JIT_ROOM_H
#define JIT_ROOM_H

#include "symbolizer/jit_symbols.h"

/* A table takes a fixed part with its first name; with 1 KiB more it forgets from the 65th on. */
static inline struct jit_room little_room(void)
{
	struct jit_symbols *s = jit_symbols_new(NULL);
	size_t least;

	jit_symbols_add(s, 1, 1, 1, "x", 1);
	least = jit_symbols_memory(s) + 1024;
	jit_symbols_free(s);
	return (struct jit_room){ .max = least, .max_each = least };
}

#endif
