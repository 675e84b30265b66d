// SPDX-License-Identifier: Apache-2.0
#include "exporter/html_labels.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/intern.h"
#include "core/saturated.h"
#include "core/scoped.h"
#include "core/text.h"

/* Of one key: more are no list that anybody looks through. */
#define MAX_OF_KEY 40
/* Nodes of all values together; some 15 bytes each in the page. Values that would have more are not
   offered. */
#define MAX_PARTS 60000
#define MAX_PAIRS 100000 /* of keys and values that are looked at */

SCOPED_DEFINE(struct intern, intern_free)

/* A key and a value, strings of the profile. */
struct pair {
	uint32_t key, value;
};

/* A pair, by its number, and a node. */
struct place {
	uint32_t pair, node;
};

/* What a pair has in a node. */
struct part {
	uint32_t node, next; /* part of the same pair; 0: no more */
	int64_t values[MAX_VALUES];
};

struct chosen {
	uint32_t pair; /* its number */
	uint32_t key;
	int64_t worth;
};

struct labels {
	const struct profile *profile;
	const struct flame_tree *tree;
	uint32_t type; /* that says what is heavy */
	uint32_t n_types;
	struct intern *pairs, *places;
	int64_t *worth; /* by number of the pair */
	bool *is_chosen, *is_left_out;
	uint32_t *first;    /* part of each pair */
	struct part *parts; /* by number of the place */
	size_t cap_worth, cap_parts;
	int64_t total;
};

/* What is a level of the graph already, or differs from sample to sample. */
static bool is_offered(const struct profile *p, const struct label *l)
{
	static const char *const others[] = { "process", "process_name", "comm", "pid", "tid" };
	const char *key = profile_get_string(p, l->key);

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(key, others[i]))
			return false;
	return l->str != 0;
}

/* Calls fn for every label that is offered, of every sample that is in the tree. */
static int each_label(struct labels *ls,
		      int (*fn)(struct labels *ls, struct pair pair, uint32_t sample))
{
	const struct profile *p = ls->profile;

	for (uint32_t i = 0; i < profile_n_samples(p); i++) {
		const struct sample *s = profile_get_sample(p, i);
		size_t n;
		const struct label *labels = profile_get_labels(p, s->labels, &n);

		for (size_t k = 0; flame_tree_leaf(ls->tree, i) && k < n; k++) {
			struct pair pair = { labels[k].key, labels[k].str };
			int err = is_offered(p, &labels[k]) ? fn(ls, pair, i) : 0;

			if (err)
				return err;
		}
	}
	return 0;
}

static int weigh(struct labels *ls, struct pair pair, uint32_t sample)
{
	uint32_t known = intern_count(ls->pairs), id;
	int64_t value = profile_get_sample(ls->profile, sample)->values[ls->type];

	if (known >= MAX_PAIRS && !intern_find(ls->pairs, &pair, sizeof(pair)))
		return 0;
	id = intern_add(ls->pairs, &pair, sizeof(pair));
	if (!id || ARRAY_RESERVE(ls->worth, ls->cap_worth, id) < 0)
		return -ENOMEM;
	ls->worth[id] = add_saturated(id > known ? 0 : ls->worth[id], value);
	return 0;
}

/* Adds a sample's worth to the part of its node. */
static int add_part(struct labels *ls, struct pair pair, uint32_t sample)
{
	const struct sample *s = profile_get_sample(ls->profile, sample);
	struct place place = { intern_find(ls->pairs, &pair, sizeof(pair)),
			       flame_tree_leaf(ls->tree, sample) };
	uint32_t known = intern_count(ls->places), id;

	if (!place.pair || !ls->is_chosen[place.pair] || ls->is_left_out[place.pair])
		return 0;
	id = intern_find(ls->places, &place, sizeof(place));
	if (!id && known >= MAX_PARTS) {
		ls->is_left_out[place.pair] = true;
		return 0;
	}
	id = intern_add(ls->places, &place, sizeof(place));
	if (!id || ARRAY_RESERVE(ls->parts, ls->cap_parts, id) < 0)
		return -ENOMEM;
	if (id > known) {
		ls->parts[id] = (struct part){ place.node, ls->first[place.pair], { 0 } };
		ls->first[place.pair] = id;
	}
	for (uint32_t v = 0; v < ls->n_types; v++)
		ls->parts[id].values[v] = add_saturated(ls->parts[id].values[v], s->values[v]);
	return 0;
}

static int by_key_and_worth(const void *a, const void *b)
{
	const struct chosen *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->worth != y->worth)
		return x->worth > y->worth ? -1 : 1;
	return x->pair < y->pair ? -1 : x->pair > y->pair;
}

static size_t end_of_key(const struct chosen *all, size_t n, size_t first)
{
	size_t end = first;

	while (end < n && all[end].key == all[first].key)
		end++;
	return end;
}

/* The heaviest of each key; none of one that all samples have with the same value. */
static size_t choose(struct labels *ls, struct chosen *all)
{
	size_t n = intern_count(ls->pairs), kept = 0;

	for (uint32_t id = 1; id <= n; id++) {
		struct pair pair;

		memcpy(&pair, intern_get(ls->pairs, id, NULL), sizeof(pair));
		all[id - 1] = (struct chosen){ id, pair.key, ls->worth[id] };
	}
	qsort(all, n, sizeof(*all), by_key_and_worth);
	for (size_t first = 0, end; first < n; first = end) {
		end = end_of_key(all, n, first);
		if (end - first == 1 && all[first].worth == ls->total)
			continue;
		for (size_t i = first; i < end && i - first < MAX_OF_KEY; i++)
			all[kept++] = all[i];
	}
	for (size_t i = 0; i < kept; i++)
		ls->is_chosen[all[i].pair] = true;
	return kept;
}

/* The number of each node in preorder; NULL without memory. */
static uint32_t *number_nodes(const struct flame_tree *t)
{
	uint32_t *numbers = calloc((size_t)flame_tree_n_nodes(t) + 1, sizeof(*numbers)), n = 0;

	for (uint32_t i = flame_tree_next(t, 0); numbers && i; i = flame_tree_next(t, i))
		numbers[i] = n++;
	return numbers;
}

static void put_string(const struct labels *ls, uint32_t id, FILE *out)
{
	text_put_json(profile_get_string(ls->profile, id), profile_string_len(ls->profile, id),
		      out);
}

static void put_value(const struct labels *ls, uint32_t id, const uint32_t *numbers, FILE *out)
{
	const char *separator = "";
	struct pair pair;

	memcpy(&pair, intern_get(ls->pairs, id, NULL), sizeof(pair));
	fputc('[', out);
	put_string(ls, pair.value, out);
	fputs(",[", out);
	for (uint32_t i = ls->first[id]; i; i = ls->parts[i].next) {
		fprintf(out, "%s%u", separator, numbers[ls->parts[i].node]);
		for (uint32_t v = 0; v < ls->n_types; v++)
			fprintf(out, ",%" PRId64, ls->parts[i].values[v]);
		separator = ",";
	}
	fputs("]]", out);
}

static void put_all(const struct labels *ls, const struct chosen *all, size_t n,
		    const uint32_t *numbers, FILE *out)
{
	const char *separator = "";

	fputc('[', out);
	for (size_t first = 0, end; first < n; first = end) {
		const char *between = "";

		end = end_of_key(all, n, first);
		fprintf(out, "%s[", separator);
		put_string(ls, all[first].key, out);
		fputs(",[", out);
		for (size_t i = first; i < end; i++) {
			if (ls->is_left_out[all[i].pair])
				continue;
			fputs(between, out);
			put_value(ls, all[i].pair, numbers, out);
			between = ",\n";
		}
		fputs("]]", out);
		separator = ",\n";
	}
	fputc(']', out);
}

static int put(struct labels *ls, FILE *out)
{
	SCOPED(free) struct chosen *all = NULL;
	SCOPED(free) uint32_t *numbers = number_nodes(ls->tree);
	size_t n;
	int err = each_label(ls, weigh);

	if (err)
		return err;
	n = intern_count(ls->pairs);
	all = calloc(n + 1, sizeof(*all));
	ls->is_chosen = calloc(n + 1, sizeof(*ls->is_chosen));
	ls->is_left_out = calloc(n + 1, sizeof(*ls->is_left_out));
	ls->first = calloc(n + 1, sizeof(*ls->first));
	if (!all || !numbers || !ls->is_chosen || !ls->is_left_out || !ls->first)
		return -ENOMEM;
	n = choose(ls, all);
	err = each_label(ls, add_part);
	if (!err)
		put_all(ls, all, n, numbers, out);
	return err;
}

int html_put_labels(const struct profile *p, const struct flame_tree *t, FILE *out)
{
	const struct profile_header *h = profile_get_header(p);
	SCOPED(intern_free) struct intern *pairs = intern_new();
	SCOPED(intern_free) struct intern *places = intern_new();
	struct labels ls = {
		.profile = p,
		.tree = t,
		.n_types = h->n_sample_types < MAX_VALUES ? h->n_sample_types : MAX_VALUES,
		.pairs = pairs,
		.places = places,
	};
	int err = -ENOMEM;

	ls.type = ls.n_types ? ls.n_types - 1 : 0;
	for (uint32_t i = 0; i < profile_n_samples(p); i++)
		if (flame_tree_leaf(t, i))
			ls.total =
				add_saturated(ls.total, profile_get_sample(p, i)->values[ls.type]);
	if (pairs && places)
		err = put(&ls, out);
	free(ls.worth);
	free(ls.parts);
	free(ls.is_chosen);
	free(ls.is_left_out);
	free(ls.first);
	return err;
}
