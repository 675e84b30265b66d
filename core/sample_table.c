// SPDX-License-Identifier: Apache-2.0
#include "core/sample_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/intern.h"

#define BLOCK_ROWS 256 /* a power of two; 50 kB where rows are longest */

void sample_table_deinit(struct sample_table *t)
{
	intern_free(t->keys);
	for (size_t i = 0; i < t->n_blocks; i++)
		free(t->blocks[i]);
	free(t->blocks);
	*t = (struct sample_table){ 0 };
}

static size_t row_words(size_t n_values)
{
	return sizeof(struct sample) / sizeof(uint64_t) + n_values;
}

size_t sample_table_memory(const struct sample_table *t)
{
	return (t->keys ? intern_memory(t->keys) : 0) + t->memory +
	       t->blocks_cap * sizeof(*t->blocks);
}

struct sample *sample_table_at(const struct sample_table *t, size_t index)
{
	uint64_t *block = t->blocks[index / BLOCK_ROWS];

	return (struct sample *)(block + index % BLOCK_ROWS * row_words(t->n_values));
}

static int add_block(struct sample_table *t)
{
	size_t len = BLOCK_ROWS * row_words(t->n_values) * sizeof(**t->blocks);
	int err = ARRAY_RESERVE(t->blocks, t->blocks_cap, t->n_blocks);

	if (err)
		return err;
	t->blocks[t->n_blocks] = malloc(len);
	if (!t->blocks[t->n_blocks])
		return -ENOMEM;
	t->n_blocks++;
	t->memory += len;
	return 0;
}

static int make_row(struct sample_table *t, uint32_t stack, uint32_t labels, uint64_t time_ns)
{
	struct sample *s;

	if (t->n == t->n_blocks * BLOCK_ROWS && add_block(t))
		return -ENOMEM;
	s = sample_table_at(t, t->n++);
	memset(s, 0, row_words(t->n_values) * sizeof(uint64_t));
	s->stack = stack;
	s->labels = labels;
	s->time_ns = time_ns;
	return 0;
}

uint32_t sample_table_add(struct sample_table *t, size_t n_values, uint32_t stack, uint32_t labels,
			  uint64_t time_ns, const int64_t *values)
{
	uint32_t key[2] = { stack, labels }, id;
	struct sample *s;

	if (!t->keys)
		t->keys = intern_new();
	if (!t->n)
		t->n_values = n_values;
	id = t->keys ? intern_add(t->keys, key, sizeof(key)) : 0;
	if (!id || id > t->n + 1 || (id > t->n && make_row(t, stack, labels, time_ns)))
		return 0; /* also when there was none for an earlier row */
	s = sample_table_at(t, id - 1);
	for (size_t i = 0; values && i < t->n_values; i++)
		s->values[i] = (int64_t)((uint64_t)s->values[i] + (uint64_t)values[i]);
	return id;
}

/* Rows only become shorter, so each is read before it is written over. */
void sample_table_keep(struct sample_table *t, uint32_t kept)
{
	size_t words = row_words(t->n_values), all_kept = row_words(0), n_kept = 0;
	uint8_t values[MAX_VALUES];

	for (size_t v = 0; v < t->n_values; v++)
		if (kept & (1u << v))
			values[n_kept++] = (uint8_t)v;
	for (size_t i = 0; i < t->n; i++) {
		uint64_t *block = t->blocks[i / BLOCK_ROWS];
		const uint64_t *from = block + i % BLOCK_ROWS * words;
		uint64_t *to = block + i % BLOCK_ROWS * (all_kept + n_kept);

		memmove(to, from, all_kept * sizeof(*to));
		for (size_t k = 0; k < n_kept; k++)
			to[all_kept + k] = from[all_kept + values[k]];
	}
	t->n_values = n_kept;
}
