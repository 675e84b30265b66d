// SPDX-License-Identifier: Apache-2.0
#include "core/profile.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/intern.h"
#include "core/sample_table.h"

/* What may change after a location was interned. */
struct location_state {
	uint32_t lines;
	uint16_t flags;
};

struct count {
	uint32_t name;
	uint64_t n;
};

struct profile {
	uint64_t serial;
	struct profile_header header;
	struct intern *strings, *functions, *mappings, *locations, *lines, *stacks, *label_sets;
	struct location_state *states; /* of location id - 1 */
	size_t cap_states;
	struct sample_table samples;
	struct count *counts;
	size_t n_counts, cap_counts;
	uint32_t *comments;
	size_t n_comments, cap_comments;
	int err;
};

struct profile *profile_new(void)
{
	static atomic_uint_least64_t last_serial;
	struct profile *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->serial = atomic_fetch_add(&last_serial, 1) + 1;
	p->strings = intern_new();
	p->functions = intern_new();
	p->mappings = intern_new();
	p->locations = intern_new();
	p->lines = intern_new();
	p->stacks = intern_new();
	p->label_sets = intern_new();
	if (!p->strings || !p->functions || !p->mappings || !p->locations || !p->lines ||
	    !p->stacks || !p->label_sets) {
		profile_free(p);
		return NULL;
	}
	return p;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	intern_free(p->strings);
	intern_free(p->functions);
	intern_free(p->mappings);
	intern_free(p->locations);
	intern_free(p->lines);
	intern_free(p->stacks);
	intern_free(p->label_sets);
	free(p->states);
	sample_table_deinit(&p->samples);
	free(p->counts);
	free(p->comments);
	free(p);
}

struct profile_header *profile_header(struct profile *p)
{
	return &p->header;
}

void profile_begin(struct profile *p, const char *type, const char *unit)
{
	struct profile_header *h = &p->header;

	h->sample_types[0] =
		(struct value_type){ profile_string(p, "samples"), profile_string(p, "count") };
	h->sample_types[1] =
		(struct value_type){ profile_string(p, type), profile_string(p, unit) };
	h->n_sample_types = 2;
	h->default_sample_type = h->sample_types[1].type;
	h->period_type = h->sample_types[1];
}

const struct profile_header *profile_get_header(const struct profile *p)
{
	return &p->header;
}

uint64_t profile_serial(const struct profile *p)
{
	return p->serial;
}

int profile_error(const struct profile *p)
{
	return p->err;
}

size_t profile_memory(const struct profile *p)
{
	return sizeof(*p) + intern_memory(p->strings) + intern_memory(p->functions) +
	       intern_memory(p->mappings) + intern_memory(p->locations) + intern_memory(p->lines) +
	       intern_memory(p->stacks) + intern_memory(p->label_sets) +
	       p->cap_states * sizeof(*p->states) + sample_table_memory(&p->samples);
}

/* Makes room for index n of an array; new elements are zero. */
static int reserve(struct profile *p, void *array, size_t *cap, size_t n, size_t size)
{
	size_t before = *cap;
	void **a = array;

	if (array_reserve(a, cap, n, size) < 0)
		return p->err = -ENOMEM;
	memset((char *)*a + before * size, 0, (*cap - before) * size);
	return 0;
}

static uint32_t add_row(struct profile *p, struct intern *table, const void *row, size_t len)
{
	uint32_t id = intern_add(table, row, len);

	if (!id)
		p->err = -ENOMEM;
	return id;
}

uint32_t profile_string_n(struct profile *p, const char *s, size_t len)
{
	len = s ? strnlen(s, len) : 0;
	return len ? add_row(p, p->strings, s, len) : 0;
}

uint32_t profile_find_string_n(const struct profile *p, const char *s, size_t len)
{
	return intern_find(p->strings, s, strnlen(s, len));
}

uint32_t profile_string(struct profile *p, const char *s)
{
	return s && *s ? add_row(p, p->strings, s, strlen(s)) : 0;
}

uint32_t profile_function(struct profile *p, const struct function *f)
{
	return add_row(p, p->functions, f, sizeof(*f));
}

uint32_t profile_mapping(struct profile *p, const struct profile_mapping *m)
{
	return add_row(p, p->mappings, m, sizeof(*m));
}

static uint32_t add_lines(struct profile *p, const struct line *lines, size_t n)
{
	return n ? add_row(p, p->lines, lines, n * sizeof(*lines)) : 0;
}

uint32_t profile_location(struct profile *p, const struct location *l, const struct line *lines,
			  size_t n)
{
	uint32_t known = intern_count(p->locations);
	struct location row = *l;
	uint32_t id;

	row.lines = add_lines(p, lines, n);
	id = add_row(p, p->locations, &row, sizeof(row));
	if (id <= known)
		return id;
	if (reserve(p, &p->states, &p->cap_states, id, sizeof(*p->states)) < 0)
		return 0;
	p->states[id - 1] = (struct location_state){ row.lines, row.flags };
	return id;
}

uint32_t profile_mark(struct profile *p, const char *name)
{
	struct location location = { .kind = FRAME_MARK };
	struct function function = { 0 };
	struct line line = { 0 };

	function.name = function.system_name = profile_string(p, name);
	line.function = profile_function(p, &function);
	return profile_location(p, &location, &line, 1);
}

void profile_set_lines(struct profile *p, uint32_t location, const struct line *lines, size_t n,
		       uint16_t set_flags)
{
	struct location_state *state;

	if (!location || location > intern_count(p->locations) || location > p->cap_states)
		return;
	state = &p->states[location - 1];
	state->flags &= (uint16_t) ~(LOCATION_UNSYMBOLIZED | LOCATION_UNNAMED);
	state->flags |= set_flags;
	if (n)
		state->lines = add_lines(p, lines, n);
}

uint32_t profile_stack(struct profile *p, const uint32_t *locations, size_t n)
{
	return add_row(p, p->stacks, locations, n * sizeof(*locations));
}

uint32_t profile_find_stack(const struct profile *p, const uint32_t *locations, size_t n)
{
	return intern_find(p->stacks, locations, n * sizeof(*locations));
}

static int by_key(const void *a, const void *b)
{
	const struct label *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->str != y->str)
		return x->str < y->str ? -1 : 1;
	return x->num < y->num ? -1 : x->num > y->num;
}

static void sort_labels(struct label *labels, size_t n)
{
	size_t i;

	for (i = 1; i < n && by_key(&labels[i - 1], &labels[i]) <= 0; i++)
		;
	if (i < n)
		qsort(labels, n, sizeof(*labels), by_key);
}

uint32_t profile_label_set(struct profile *p, struct label *labels, size_t n)
{
	if (!n)
		return 0;
	sort_labels(labels, n);
	return add_row(p, p->label_sets, labels, n * sizeof(*labels));
}

uint32_t profile_find_label_set(const struct profile *p, struct label *labels, size_t n)
{
	sort_labels(labels, n);
	return intern_find(p->label_sets, labels, n * sizeof(*labels));
}

static uint32_t add_sample(struct profile *p, uint32_t columns, uint32_t stack, uint32_t labels,
			   uint64_t time_ns, const int64_t *values)
{
	uint32_t id = sample_table_add(&p->samples, columns, stack, labels, time_ns, values);

	if (!id)
		p->err = -ENOMEM;
	return id;
}

uint32_t profile_add(struct profile *p, uint32_t stack, uint32_t labels, uint64_t time_ns,
		     const int64_t *values)
{
	return add_sample(p, (uint32_t)((UINT64_C(1) << p->header.n_sample_types) - 1), stack,
			  labels, time_ns, values);
}

uint32_t profile_add_none(struct profile *p, uint32_t stack, uint32_t labels, uint64_t time_ns)
{
	return add_sample(p, 0, stack, labels, time_ns, NULL);
}

void profile_widen(struct profile *p, uint32_t types)
{
	if (sample_table_widen(&p->samples, types))
		p->err = -ENOMEM;
}

void profile_add_more(struct profile *p, uint32_t sample, const int64_t *values, uint32_t used)
{
	const struct sample_table *t = &p->samples;
	struct sample *s;

	if (used & ~t->columns)
		profile_widen(p, used);
	s = sample_table_at(t, sample - 1);
	for (used &= t->columns; used; used &= used - 1) {
		int i = __builtin_ctz(used);
		int64_t *value = &s->values[t->place[i]];

		*value = (int64_t)((uint64_t)*value + (uint64_t)values[i]);
	}
}

void profile_restack(struct profile *p, bool (*stack_of)(void *ctx, struct sample *s), void *ctx)
{
	struct sample_table old = p->samples;

	p->samples = (struct sample_table){ 0 };
	for (size_t i = 0; i < old.n; i++) {
		struct sample *s = sample_table_at(&old, i);

		if (stack_of(ctx, s))
			add_sample(p, old.columns, s->stack, s->labels, s->time_ns, s->values);
	}
	sample_table_deinit(&old);
}

void profile_keep_types(struct profile *p, uint32_t kept)
{
	struct profile_header *h = &p->header;
	uint32_t n_kept = 0;

	for (uint32_t i = 0; i < h->n_sample_types; i++)
		if (kept & (1u << i))
			h->sample_types[n_kept++] = h->sample_types[i];
	h->n_sample_types = n_kept;
	if (sample_table_keep(&p->samples, kept))
		p->err = -ENOMEM;
}

void profile_count(struct profile *p, const char *name, uint64_t n)
{
	uint32_t id = profile_string(p, name);

	for (size_t i = 0; i < p->n_counts; i++) {
		if (p->counts[i].name == id) {
			p->counts[i].n += n;
			return;
		}
	}
	if (reserve(p, &p->counts, &p->cap_counts, p->n_counts, sizeof(*p->counts)) < 0)
		return;
	p->counts[p->n_counts++] = (struct count){ id, n };
}

void profile_comment(struct profile *p, const char *text)
{
	uint32_t id = profile_string(p, text);

	if (!id ||
	    reserve(p, &p->comments, &p->cap_comments, p->n_comments, sizeof(*p->comments)) < 0)
		return;
	p->comments[p->n_comments++] = id;
}

uint32_t profile_n_strings(const struct profile *p)
{
	return intern_count(p->strings);
}

uint32_t profile_n_functions(const struct profile *p)
{
	return intern_count(p->functions);
}

uint32_t profile_n_mappings(const struct profile *p)
{
	return intern_count(p->mappings);
}

uint32_t profile_n_locations(const struct profile *p)
{
	return intern_count(p->locations);
}

uint32_t profile_n_stacks(const struct profile *p)
{
	return intern_count(p->stacks);
}

uint32_t profile_n_label_sets(const struct profile *p)
{
	return intern_count(p->label_sets);
}

uint32_t profile_n_samples(const struct profile *p)
{
	return (uint32_t)p->samples.n;
}

uint32_t profile_n_counts(const struct profile *p)
{
	return (uint32_t)p->n_counts;
}

uint32_t profile_n_comments(const struct profile *p)
{
	return (uint32_t)p->n_comments;
}

const char *profile_get_string(const struct profile *p, uint32_t id)
{
	const char *s = intern_get(p->strings, id, NULL);

	return s ? s : "";
}

size_t profile_string_len(const struct profile *p, uint32_t id)
{
	size_t len;

	intern_get(p->strings, id, &len);
	return len;
}

const struct function *profile_get_function(const struct profile *p, uint32_t id)
{
	static const struct function none;
	const struct function *f = intern_get(p->functions, id, NULL);

	return f ? f : &none;
}

const struct profile_mapping *profile_get_mapping(const struct profile *p, uint32_t id)
{
	static const struct profile_mapping none;
	const struct profile_mapping *m = intern_get(p->mappings, id, NULL);

	return m ? m : &none;
}

struct location profile_get_location(const struct profile *p, uint32_t id)
{
	const struct location *row = intern_get(p->locations, id, NULL);
	struct location l = { 0 };

	if (row && id <= p->cap_states) {
		l = *row;
		l.lines = p->states[id - 1].lines;
		l.flags = p->states[id - 1].flags;
	}
	return l;
}

const struct line *profile_get_lines(const struct profile *p, uint32_t location, size_t *n)
{
	size_t len = 0;
	const struct line *lines =
		intern_get(p->lines, profile_get_location(p, location).lines, &len);

	*n = len / sizeof(*lines);
	return lines;
}

struct location profile_get_made_location(const struct profile *p, uint32_t id,
					  const struct line **lines, size_t *n)
{
	const struct location *row = intern_get(p->locations, id, NULL);
	struct location l = row ? *row : (struct location){ 0 };
	size_t len = 0;

	*lines = intern_get(p->lines, l.lines, &len);
	*n = len / sizeof(**lines);
	return l;
}

const uint32_t *profile_get_stack(const struct profile *p, uint32_t id, size_t *n)
{
	size_t len;
	const uint32_t *stack = intern_get(p->stacks, id, &len);

	*n = len / sizeof(*stack);
	return stack;
}

const struct label *profile_get_labels(const struct profile *p, uint32_t id, size_t *n)
{
	size_t len;
	const struct label *labels = intern_get(p->label_sets, id, &len);

	*n = len / sizeof(*labels);
	return labels;
}

const struct sample *profile_get_sample(const struct profile *p, uint32_t index)
{
	return index < p->samples.n ? sample_table_at(&p->samples, index) : NULL;
}

const char *profile_get_count(const struct profile *p, uint32_t index, uint64_t *n)
{
	if (index >= p->n_counts)
		return NULL;
	*n = p->counts[index].n;
	return profile_get_string(p, p->counts[index].name);
}

const char *profile_get_comment(const struct profile *p, uint32_t index)
{
	return index < p->n_comments ? profile_get_string(p, p->comments[index]) : NULL;
}
