// SPDX-License-Identifier: Apache-2.0
#include "core/profile_merge.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/profile.h"

struct merge {
	struct profile *into;
	const struct profile *from;
	/* what the ids of `from` are in `into`; that of 0 is 0 */
	uint32_t *strings, *functions, *mappings, *locations, *stacks, *label_sets;
	void *room; /* for one row of any length */
	size_t room_len;
};

static void *room_for(struct merge *m, size_t n, size_t size)
{
	void *room;

	if (n * size <= m->room_len)
		return m->room;
	room = realloc(m->room, n * size);
	if (room) {
		m->room = room;
		m->room_len = n * size;
	}
	return room;
}

static uint32_t string(const struct merge *m, uint32_t id)
{
	return id ? m->strings[id] : 0;
}

static int merge_strings(struct merge *m)
{
	uint32_t n = profile_n_strings(m->from);

	m->strings = calloc((size_t)n + 1, sizeof(*m->strings));
	for (uint32_t id = 1; m->strings && id <= n; id++)
		m->strings[id] = profile_string_n(m->into, profile_get_string(m->from, id),
						  profile_string_len(m->from, id));
	return m->strings ? 0 : -ENOMEM;
}

static int merge_functions(struct merge *m)
{
	uint32_t n = profile_n_functions(m->from);

	m->functions = calloc((size_t)n + 1, sizeof(*m->functions));
	for (uint32_t id = 1; m->functions && id <= n; id++) {
		struct function f = *profile_get_function(m->from, id);

		f.name = string(m, f.name);
		f.system_name = string(m, f.system_name);
		f.filename = string(m, f.filename);
		m->functions[id] = profile_function(m->into, &f);
	}
	return m->functions ? 0 : -ENOMEM;
}

static int merge_mappings(struct merge *m)
{
	uint32_t n = profile_n_mappings(m->from);

	m->mappings = calloc((size_t)n + 1, sizeof(*m->mappings));
	for (uint32_t id = 1; m->mappings && id <= n; id++) {
		struct profile_mapping mapping = *profile_get_mapping(m->from, id);

		mapping.filename = string(m, mapping.filename);
		mapping.build_id = string(m, mapping.build_id);
		m->mappings[id] = profile_mapping(m->into, &mapping);
	}
	return m->mappings ? 0 : -ENOMEM;
}

static struct line *map_lines(struct merge *m, const struct line *lines, size_t n)
{
	struct line *mapped = room_for(m, n + 1, sizeof(*mapped));

	for (size_t i = 0; mapped && i < n; i++) {
		mapped[i] = lines[i];
		mapped[i].function = lines[i].function ? m->functions[lines[i].function] : 0;
	}
	return mapped;
}

/* What was found out about a location since it was made, unless that is known already. */
static int merge_state(struct merge *m, uint32_t id, bool is_new)
{
	struct location now = profile_get_location(m->from, id);
	struct location known = profile_get_location(m->into, m->locations[id]);
	const struct line *lines;
	size_t n;

	if (!is_new && !(known.flags & (LOCATION_UNSYMBOLIZED | LOCATION_UNNAMED)))
		return 0;
	lines = profile_get_lines(m->from, id, &n);
	lines = map_lines(m, lines, n);
	if (!lines)
		return -ENOMEM;
	profile_set_lines(m->into, m->locations[id], lines, n, now.flags);
	return 0;
}

static int merge_location(struct merge *m, uint32_t id)
{
	uint32_t n_known = profile_n_locations(m->into);
	const struct line *lines;
	struct location made, now = profile_get_location(m->from, id);
	uint32_t made_lines;
	size_t n;

	made = profile_get_made_location(m->from, id, &lines, &n);
	made_lines = made.lines;
	lines = map_lines(m, lines, n);
	if (!lines)
		return -ENOMEM;
	made.mapping = made.mapping ? m->mappings[made.mapping] : 0;
	m->locations[id] = profile_location(m->into, &made, lines, n);
	if (now.flags == made.flags && now.lines == made_lines)
		return 0;
	return merge_state(m, id, m->locations[id] > n_known);
}

static int merge_locations(struct merge *m)
{
	uint32_t n = profile_n_locations(m->from);
	int err;

	m->locations = calloc((size_t)n + 1, sizeof(*m->locations));
	err = m->locations ? 0 : -ENOMEM;
	for (uint32_t id = 1; !err && id <= n; id++)
		err = merge_location(m, id);
	return err;
}

static int merge_stack(struct merge *m, uint32_t id)
{
	size_t n;
	const uint32_t *stack = profile_get_stack(m->from, id, &n);
	uint32_t *mapped = room_for(m, n + 1, sizeof(*mapped));

	if (!mapped)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		mapped[i] = stack[i] ? m->locations[stack[i]] : 0;
	m->stacks[id] = profile_stack(m->into, mapped, n);
	return 0;
}

static int merge_stacks(struct merge *m)
{
	uint32_t n = profile_n_stacks(m->from);
	int err;

	m->stacks = calloc((size_t)n + 1, sizeof(*m->stacks));
	err = m->stacks ? 0 : -ENOMEM;
	for (uint32_t id = 1; !err && id <= n; id++)
		err = merge_stack(m, id);
	return err;
}

static int merge_label_set(struct merge *m, uint32_t id)
{
	size_t n;
	const struct label *labels = profile_get_labels(m->from, id, &n);
	struct label *mapped = room_for(m, n + 1, sizeof(*mapped));

	if (!mapped)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		mapped[i] = labels[i];
		mapped[i].key = string(m, labels[i].key);
		mapped[i].str = string(m, labels[i].str);
		mapped[i].num_unit = string(m, labels[i].num_unit);
	}
	m->label_sets[id] = profile_label_set(m->into, mapped, n);
	return 0;
}

static int merge_label_sets(struct merge *m)
{
	uint32_t n = profile_n_label_sets(m->from);
	int err;

	m->label_sets = calloc((size_t)n + 1, sizeof(*m->label_sets));
	err = m->label_sets ? 0 : -ENOMEM;
	for (uint32_t id = 1; !err && id <= n; id++)
		err = merge_label_set(m, id);
	return err;
}

static void merge_rest(struct merge *m)
{
	for (uint32_t i = 0; i < profile_n_samples(m->from); i++) {
		const struct sample *s = profile_get_sample(m->from, i);

		profile_add(m->into, m->stacks[s->stack], m->label_sets[s->labels], s->time_ns,
			    s->values);
	}
	for (uint32_t i = 0; i < profile_n_counts(m->from); i++) {
		uint64_t n;
		const char *name = profile_get_count(m->from, i, &n);

		profile_count(m->into, name, n);
	}
	for (uint32_t i = 0; i < profile_n_comments(m->from); i++)
		profile_comment(m->into, profile_get_comment(m->from, i));
}

static bool is_same_string(const struct profile *a, uint32_t x, const struct profile *b, uint32_t y)
{
	return !strcmp(profile_get_string(a, x), profile_get_string(b, y));
}

static bool has_same_types(const struct profile *a, const struct profile *b)
{
	const struct profile_header *x = profile_get_header(a), *y = profile_get_header(b);

	if (x->n_sample_types != y->n_sample_types)
		return false;
	for (uint32_t i = 0; i < x->n_sample_types; i++) {
		const struct value_type *s = &x->sample_types[i], *t = &y->sample_types[i];

		if (!is_same_string(a, s->type, b, t->type) ||
		    !is_same_string(a, s->unit, b, t->unit))
			return false;
	}
	return true;
}

static void map_value_type(const struct merge *m, struct value_type *t)
{
	t->type = string(m, t->type);
	t->unit = string(m, t->unit);
}

static void take_header(const struct merge *m)
{
	struct profile_header *h = profile_header(m->into);

	*h = *profile_get_header(m->from);
	for (uint32_t i = 0; i < h->n_sample_types; i++)
		map_value_type(m, &h->sample_types[i]);
	map_value_type(m, &h->period_type);
	h->default_sample_type = string(m, h->default_sample_type);
	h->hostname = string(m, h->hostname);
}

static int merge(struct merge *m, bool with_header)
{
	int err = merge_strings(m);

	if (!err && with_header)
		take_header(m);
	if (!err)
		err = merge_functions(m);
	if (!err)
		err = merge_mappings(m);
	if (!err)
		err = merge_locations(m);
	if (!err)
		err = merge_stacks(m);
	if (!err)
		err = merge_label_sets(m);
	if (!err)
		merge_rest(m);
	return err;
}

int profile_merge(struct profile *into, const struct profile *from)
{
	struct merge m = { .into = into, .from = from };
	bool is_empty = !profile_get_header(into)->n_sample_types;
	int err;

	if (!is_empty && !has_same_types(into, from))
		return -EINVAL;
	err = merge(&m, is_empty);
	free(m.strings);
	free(m.functions);
	free(m.mappings);
	free(m.locations);
	free(m.stacks);
	free(m.label_sets);
	free(m.room);
	return err ? err : profile_error(into) ? profile_error(into) : profile_error(from);
}
