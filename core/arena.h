/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is given out in small pieces, never moves and is freed all at once. */
#ifndef CORE_ARENA_H
#define CORE_ARENA_H

#include <stddef.h>

/* Bytes behind what is given out that can be loaded, whatever they are. */
#define ARENA_PADDING 16

struct arena_block;

struct arena { /* all zero at first */
	struct arena_block *blocks;
	size_t used, size; /* of the newest block */
	size_t memory;	   /* bytes taken in all */
};

/* len bytes, aligned for anything; NULL: no memory. */
void *arena_alloc(struct arena *a, size_t len);
/* The same, zeroed, n elements of a size. */
void *arena_calloc(struct arena *a, size_t n, size_t size);
/* A copy of these bytes, which is followed by a NUL and aligned for nothing. */
void *arena_copy(struct arena *a, const void *bytes, size_t len);
void arena_deinit(struct arena *a);

#endif
