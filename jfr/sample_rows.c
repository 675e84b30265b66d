// SPDX-License-Identifier: Apache-2.0
#include "jfr/sample_rows.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/intern.h"

#define FIRST_SLOTS 4096 /* a power of two */

void sample_rows_deinit(struct sample_rows *r)
{
	free(r->items);
	free(r->sums);
	free(r->slots);
	*r = (struct sample_rows){ 0 };
}

void sample_rows_clear(struct sample_rows *r)
{
	if (r->n)
		memset(r->slots, 0, r->n_slots * sizeof(*r->slots));
	r->n = 0;
}

static bool is_same(const struct moment_refs *a, const struct moment_refs *b)
{
	return a->stack == b->stack && a->thread == b->thread && a->class == b->class &&
	       a->state == b->state && a->of == b->of && a->span == b->span;
}

static uint32_t *slot_of(const struct sample_rows *r, const struct moment_refs *refs)
{
	size_t mask = r->n_slots - 1, i = (size_t)hash_bytes(refs, sizeof(*refs)) & mask;

	while (r->slots[i] && !is_same(&r->items[r->slots[i] - 1].refs, refs))
		i = (i + 1) & mask;
	return &r->slots[i];
}

struct sample_row *sample_rows_find(const struct sample_rows *r, const struct moment_refs *refs)
{
	uint32_t index = r->n_slots ? *slot_of(r, refs) : 0;

	return index ? &r->items[index - 1] : NULL;
}

static int grow(struct sample_rows *r)
{
	size_t n_slots = r->n_slots ? r->n_slots * 2 : FIRST_SLOTS;
	uint32_t *slots = calloc(n_slots, sizeof(*slots));

	if (!slots)
		return -1;
	free(r->slots);
	r->slots = slots;
	r->n_slots = n_slots;
	for (size_t i = 0; i < r->n; i++)
		if (!r->items[i].is_alone)
			*slot_of(r, &r->items[i].refs) = (uint32_t)i + 1;
	return 0;
}

struct sample_row *sample_rows_add(struct sample_rows *r, const struct sample_row *row)
{
	if (ARRAY_RESERVE(r->items, r->cap, r->n) || ARRAY_RESERVE(r->sums, r->sums_cap, r->n) ||
	    (2 * (r->n + 1) > r->n_slots && grow(r)))
		return NULL;
	r->sums[r->n] = (struct worth){ 0 };
	r->items[r->n++] = *row;
	if (!row->is_alone)
		*slot_of(r, &row->refs) = (uint32_t)r->n;
	return &r->items[r->n - 1];
}
