// SPDX-License-Identifier: Apache-2.0
#include "core/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_LEN (64 * 1024)
#define FIRST_BLOCK_LEN 1024 /* most arenas stay small */

struct arena_block {
	struct arena_block *next;
	alignas(max_align_t) unsigned char bytes[];
};

static int grow(struct arena *a, size_t len)
{
	size_t size = a->memory ? BLOCK_LEN : FIRST_BLOCK_LEN;
	struct arena_block *block;

	if (size < len)
		size = len;
	if (size > SIZE_MAX / 2)
		return -1;
	block = malloc(sizeof(*block) + size + ARENA_PADDING);
	if (!block)
		return -1;
	block->next = a->blocks;
	a->blocks = block;
	a->used = 0;
	a->size = size;
	a->memory += sizeof(*block) + size + ARENA_PADDING;
	return 0;
}

static void *take(struct arena *a, size_t len, size_t align)
{
	size_t at = (a->used + align - 1) & ~(align - 1);

	if (!a->blocks || at > a->size || len > a->size - at) {
		if (grow(a, len))
			return NULL;
		at = 0;
	}
	a->used = at + len;
	return a->blocks->bytes + at;
}

void *arena_alloc(struct arena *a, size_t len)
{
	return take(a, len, alignof(max_align_t));
}

void *arena_calloc(struct arena *a, size_t n, size_t size)
{
	void *p;

	if (size && n > SIZE_MAX / size)
		return NULL;
	p = arena_alloc(a, n * size);
	if (p)
		memset(p, 0, n * size);
	return p;
}

void *arena_copy(struct arena *a, const void *bytes, size_t len)
{
	char *p = len < SIZE_MAX ? take(a, len + 1, 1) : NULL;

	if (!p)
		return NULL;
	if (len)
		memcpy(p, bytes, len);
	p[len] = '\0';
	return p;
}

void arena_deinit(struct arena *a)
{
	while (a->blocks) {
		struct arena_block *next = a->blocks->next;

		free(a->blocks);
		a->blocks = next;
	}
	*a = (struct arena){ 0 };
}
