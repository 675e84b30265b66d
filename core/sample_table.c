// SPDX-License-Identifier: Apache-2.0
#include "core/sample_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/intern.h"

void sample_table_deinit(struct sample_table *t)
{
	intern_free(t->keys);
	free(t->words);
	*t = (struct sample_table){ 0 };
}

static size_t row_words(size_t n_values)
{
	return sizeof(struct sample) / sizeof(uint64_t) + n_values;
}

size_t sample_table_memory(const struct sample_table *t)
{
	return (t->keys ? intern_memory(t->keys) : 0) +
	       t->cap * row_words(t->n_values) * sizeof(*t->words);
}

struct sample *sample_table_at(const struct sample_table *t, size_t index)
{
	return (struct sample *)(t->words + index * row_words(t->n_values));
}

static int make_row(struct sample_table *t, uint32_t stack, uint32_t labels, uint64_t time_ns)
{
	size_t len = row_words(t->n_values) * sizeof(*t->words);
	struct sample *s;

	if (array_reserve((void **)&t->words, &t->cap, t->n, len))
		return -ENOMEM;
	s = sample_table_at(t, t->n++);
	memset(s, 0, len);
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
	size_t words = row_words(t->n_values), n_kept = 0, len;
	uint64_t *to = t->words;

	for (size_t i = 0; i < t->n; i++) {
		const uint64_t *from = t->words + i * words;
		const uint64_t *values = from + row_words(0);

		memmove(to, from, row_words(0) * sizeof(*to));
		to += row_words(0);
		for (size_t v = 0; v < t->n_values; v++)
			if (kept & (1u << v))
				*to++ = values[v];
	}
	for (size_t v = 0; v < t->n_values; v++)
		n_kept += kept >> v & 1;
	len = t->cap * words;
	t->n_values = n_kept;
	t->cap = len / row_words(n_kept);
}
