// SPDX-License-Identifier: Apache-2.0
#include "jfr/seen_chunks.h"

#include <errno.h>
#include <stdlib.h>

#include "core/array.h"

#define FIRST_SLOTS 64 /* a power of two */

void seen_chunks_deinit(struct seen_chunks *seen)
{
	free(seen->items);
	free(seen->slots);
	*seen = (struct seen_chunks){ 0 };
}

static uint32_t *slot_of(const struct seen_chunks *seen, const struct seen_chunk *c)
{
	uint64_t hash = (uint64_t)c->start_ns * UINT64_C(0x9e3779b97f4a7c15);
	size_t mask = seen->n_slots - 1, i;

	hash = (hash ^ (uint64_t)c->start_ticks) * UINT64_C(0xff51afd7ed558ccd);
	hash = (hash ^ hash >> 32 ^ c->size) * UINT64_C(0xc4ceb9fe1a85ec53);
	for (i = (size_t)(hash >> 32) & mask; seen->slots[i]; i = (i + 1) & mask) {
		const struct seen_chunk *s = &seen->items[seen->slots[i] - 1];

		if (s->start_ns == c->start_ns && s->start_ticks == c->start_ticks &&
		    s->size == c->size)
			break;
	}
	return &seen->slots[i];
}

static int grow(struct seen_chunks *seen)
{
	size_t n_slots = seen->n_slots ? 2 * seen->n_slots : FIRST_SLOTS;
	uint32_t *slots = calloc(n_slots, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(seen->slots);
	seen->slots = slots;
	seen->n_slots = n_slots;
	for (size_t i = 0; i < seen->n; i++)
		*slot_of(seen, &seen->items[i]) = (uint32_t)i + 1;
	return 0;
}

bool seen_chunks_has(const struct seen_chunks *seen, const struct chunk_header *h)
{
	const struct seen_chunk c = { .start_ns = h->start_ns, .start_ticks = h->start_ticks };

	uint32_t index = seen->n ? *slot_of(seen, &c) : 0;
	const struct seen_part *part = index ? &seen->items[index - 1].part : NULL;

	return part && (part->is_whole || part->read_to);
}

/* Its place, which is a new one or not. */
static int add(struct seen_chunks *seen, const struct seen_chunk *c, size_t *index, bool *is_new)
{
	uint32_t *slot;

	if (seen->n >= UINT32_MAX - 1)
		return -E2BIG;
	if (2 * (seen->n + 1) > seen->n_slots && grow(seen))
		return -ENOMEM;
	slot = slot_of(seen, c);
	*is_new = !*slot;
	if (*is_new && ARRAY_RESERVE(seen->items, seen->cap, seen->n))
		return -ENOMEM;
	if (*is_new) {
		seen->items[seen->n] = *c;
		*slot = (uint32_t)++seen->n;
	}
	*index = *slot - 1;
	return 0;
}

int seen_chunks_part(struct seen_chunks *seen, const struct chunk_header *h,
		     struct seen_part **part)
{
	const struct seen_chunk c = { .start_ns = h->start_ns, .start_ticks = h->start_ticks };
	size_t index;
	bool is_new;
	int err = add(seen, &c, &index, &is_new);

	if (!err)
		*part = &seen->items[index].part;
	return err;
}

int seen_chunks_add(struct seen_chunks *seen, const struct chunk_header *h, bool *is_new)
{
	const struct seen_chunk c = {
		.start_ns = h->start_ns,
		.start_ticks = h->start_ticks,
		.size = h->size,
	};
	struct seen_part *part;
	size_t index;
	int err = add(seen, &c, &index, is_new);

	if (!err)
		err = seen_chunks_part(seen, h, &part);
	if (!err)
		part->is_whole = true;
	return err;
}

int seen_chunks_expect(struct seen_chunks *seen, const struct chunk_header *h)
{
	struct seen_part *part;
	int err = seen_chunks_part(seen, h, &part);

	if (!err)
		part->is_to_come = true;
	return err;
}
