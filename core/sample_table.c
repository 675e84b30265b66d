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

static size_t block_len(const struct sample_table *t)
{
	return BLOCK_ROWS * row_words(t->n_values) * sizeof(**t->blocks);
}

static int add_block(struct sample_table *t)
{
	int err = ARRAY_RESERVE(t->blocks, t->blocks_cap, t->n_blocks);

	if (err)
		return err;
	t->blocks[t->n_blocks] = malloc(block_len(t));
	if (!t->blocks[t->n_blocks])
		return -ENOMEM;
	t->n_blocks++;
	t->memory += block_len(t);
	return 0;
}

static void set_columns(struct sample_table *t, uint32_t columns)
{
	t->columns = columns;
	t->n_values = 0;
	for (uint32_t left = columns; left; left &= left - 1)
		t->place[__builtin_ctz(left)] = (uint8_t)t->n_values++;
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

uint32_t sample_table_add(struct sample_table *t, uint32_t columns, uint32_t stack, uint32_t labels,
			  uint64_t time_ns, const int64_t *values)
{
	uint32_t key[2] = { stack, labels }, id;
	struct sample *s;

	if (!t->keys)
		t->keys = intern_new();
	if (!t->n && !t->columns)
		set_columns(t, columns);
	id = t->keys ? intern_add(t->keys, key, sizeof(key)) : 0;
	if (!id || id > t->n + 1 || (id > t->n && make_row(t, stack, labels, time_ns)))
		return 0; /* also when there was none for an earlier row */
	s = sample_table_at(t, id - 1);
	for (size_t i = 0; values && i < t->n_values; i++)
		s->values[i] = (int64_t)((uint64_t)s->values[i] + (uint64_t)values[i]);
	return id;
}

/* A table of the same rows with other columns; those of `shared` keep their values. */
static int copy_rows(struct sample_table *to, const struct sample_table *from, uint32_t shared)
{
	while (to->n < from->n) {
		const struct sample *old = sample_table_at(from, to->n);
		struct sample *new;

		if (make_row(to, old->stack, old->labels, old->time_ns))
			return -ENOMEM;
		new = sample_table_at(to, to->n - 1);
		for (uint32_t left = shared; left; left &= left - 1) {
			int column = __builtin_ctz(left);

			new->values[to->place[column]] = old->values[from->place[column]];
		}
	}
	return 0;
}

static int change_columns(struct sample_table *t, uint32_t columns)
{
	struct sample_table changed = { 0 };
	int err;

	set_columns(&changed, columns);
	err = copy_rows(&changed, t, t->columns & columns);
	if (!err) {
		changed.keys = t->keys;
		t->keys = NULL;
	}
	sample_table_deinit(err ? &changed : t);
	if (!err)
		*t = changed;
	return err;
}

int sample_table_widen(struct sample_table *t, uint32_t columns)
{
	return columns & ~t->columns ? change_columns(t, t->columns | columns) : 0;
}

int sample_table_keep(struct sample_table *t, uint32_t kept)
{
	int err = t->columns == kept ? 0 : change_columns(t, kept);

	if (err)
		sample_table_deinit(t);
	else
		set_columns(t, (uint32_t)((UINT64_C(1) << t->n_values) - 1));
	return err;
}
