// SPDX-License-Identifier: Apache-2.0
#include "exporter/flame_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/saturated.h"
#include "core/arena.h"
#include "core/array.h"
#include "core/intern.h"
#include "core/scoped.h"
#include "exporter/names.h"
#include "exporter/twins.h"

struct path { /* what makes a node another node */
	uint32_t parent, frame;
};

struct frame_key { /* what makes a frame another frame */
	uint32_t name, module;
	uint16_t kind, is_inlined;
};

struct links {
	uint32_t first_child, next_sibling;
};

struct flame_tree {
	struct intern *strings, *frames, *paths;
	struct flame_node *nodes; /* by node number */
	struct arena amounts;	  /* of the nodes */
	struct links *links;
	struct flame_frame *known_frames; /* by frame number */
	uint32_t *leaves;		  /* node of each sample; 0: it was left out */
	size_t cap_nodes, cap_frames;
	struct twins twins;
	uint32_t n_values, n_negative;
	uint32_t max_nodes; /* but for what is left out */
	bool failed;
	bool is_cut; /* the sample being added ends at what is left out */
	bool has_cut;
};

SCOPED_DEFINE(struct flame_tree, flame_tree_free)

void flame_tree_free(struct flame_tree *t)
{
	if (!t)
		return;
	intern_free(t->strings);
	intern_free(t->frames);
	intern_free(t->paths);
	free(t->nodes);
	arena_deinit(&t->amounts);
	free(t->known_frames);
	free(t->leaves);
	free(t->links);
	twins_deinit(&t->twins);
	free(t);
}

static uint32_t add_string(struct flame_tree *t, const char *s, size_t len)
{
	uint32_t id = len ? intern_add(t->strings, s, len) : 0;

	t->failed |= len && !id;
	return id;
}

static uint32_t copy_string(struct flame_tree *t, const struct profile *p, uint32_t id)
{
	return add_string(t, profile_get_string(p, id), profile_string_len(p, id));
}

/* The number of a frame, which is the one with the same key; 0 without memory. */
static uint32_t number_frame(struct flame_tree *t, const struct flame_frame *f)
{
	struct frame_key key = { f->name, f->module, f->kind, f->is_inlined };
	uint32_t known = intern_count(t->frames);
	uint32_t id = intern_add(t->frames, &key, sizeof(key));

	if (!id || ARRAY_RESERVE(t->known_frames, t->cap_frames, id) < 0)
		return 0;
	if (id > known || !t->known_frames[id].file)
		t->known_frames[id] = *f;
	return id;
}

/* The frame of what is left out; 0 without memory. */
static uint32_t left_out_frame(struct flame_tree *t)
{
	static const char name[] = "[small frames left out]";
	struct flame_frame frame = { .name = add_string(t, name, sizeof(name) - 1),
				     .kind = FLAME_LEFT_OUT };

	return frame.name ? number_frame(t, &frame) : 0;
}

static bool make_node(struct flame_tree *t, uint32_t node, uint32_t parent, uint32_t frame)
{
	int64_t *amounts = arena_calloc(&t->amounts, 2 * t->n_values + 1, sizeof(*amounts));

	if (!amounts || ARRAY_RESERVE(t->nodes, t->cap_nodes, node) < 0)
		return false;
	t->nodes[node] = (struct flame_node){
		.parent = parent,
		.frame = frame,
		.self = amounts,
		.total = amounts + t->n_values,
	};
	return true;
}

/* The child of parent with this frame, made if it is new and there is room, else the child for what
   is left out; 0 without memory. */
static uint32_t add_node(struct flame_tree *t, uint32_t parent, const struct flame_frame *f)
{
	uint32_t known = intern_count(t->paths);
	struct path path = { parent, number_frame(t, f) };
	uint32_t node;

	if (known >= t->max_nodes && !intern_find(t->paths, &path, sizeof(path))) {
		path.frame = left_out_frame(t);
		t->is_cut = t->has_cut = true;
	}
	node = path.frame ? intern_add(t->paths, &path, sizeof(path)) : 0;
	if (!node || (node > known && !make_node(t, node, parent, path.frame))) {
		t->failed = true;
		return 0;
	}
	return node;
}

static void note_sample(struct flame_node *node, const struct location *l, uint32_t line,
			bool is_first, const int64_t *values)
{
	node->flags |= l->flags;
	if (l->flags & LOCATION_GUESSED)
		node->guessed = add_saturated(node->guessed, values[0]);
	if (is_first)
		node->line = line;
	else if (node->line != line)
		node->line = FLAME_MANY_LINES;
}

static uint32_t add_frame(struct flame_tree *t, const struct profile *p, uint32_t parent,
			  struct frame *f, const int64_t *values)
{
	uint32_t known = intern_count(t->paths), node;
	const char *name = twins_name(&t->twins, p, f);
	struct flame_frame frame = {
		.name = add_string(t, name, strlen(name)),
		.module = copy_string(t, p, f->mapping->filename),
		.file = copy_string(t, p, f->function->filename),
		.start_line = f->function->start_line,
		.kind = f->location.kind,
		.is_inlined = f->is_inline,
	};

	node = add_node(t, parent, &frame);
	if (node && !t->is_cut)
		note_sample(&t->nodes[node], &f->location, f->line, node > known, values);
	return node;
}

/* A location's frames, the physical function first. */
static uint32_t add_location(struct flame_tree *t, const struct profile *p, uint32_t parent,
			     uint32_t location, const int64_t *values)
{
	for (size_t i = location_n_frames(p, location); i-- > 0 && !t->failed && !t->is_cut;) {
		struct frame f;

		location_frame(p, location, i, &f);
		parent = add_frame(t, p, parent, &f, values);
	}
	return parent;
}

/* The text of the first of these labels that the sample has. */
static uint32_t label_string(struct flame_tree *t, const struct profile *p, uint32_t labels,
			     const char *const *keys)
{
	size_t n;
	const struct label *l = profile_get_labels(p, labels, &n);

	for (; *keys; keys++) {
		for (size_t i = 0; i < n; i++) {
			char number[64];
			int len;

			if (strcmp(profile_get_string(p, l[i].key), *keys))
				continue;
			if (l[i].str)
				return copy_string(t, p, l[i].str);
			len = snprintf(number, sizeof(number), "%s %lld", *keys,
				       (long long)l[i].num);
			return add_string(t, number, (size_t)len);
		}
	}
	return 0;
}

static uint32_t add_level(struct flame_tree *t, uint32_t parent, uint32_t name, uint16_t kind)
{
	struct flame_frame frame = { .name = name, .kind = kind };

	return name && !t->is_cut ? add_node(t, parent, &frame) : parent;
}

static void add_sample(struct flame_tree *t, const struct profile *p, uint32_t number,
		       bool with_threads)
{
	const struct sample *s = profile_get_sample(p, number);
	static const char *const process[] = { "process", "process_name", "comm", "pid", NULL };
	static const char *const thread[] = { "thread", "thread_name", "tid", NULL };
	const uint32_t *stack;
	int64_t any = 0;
	uint32_t node;
	size_t n;

	for (uint32_t v = 0; v < t->n_values; v++) {
		if (s->values[v] < 0) {
			t->n_negative++;
			return;
		}
		any |= s->values[v];
	}
	if (!any)
		return;
	t->is_cut = false;
	node = add_level(t, 0, label_string(t, p, s->labels, process), FLAME_PROCESS);
	if (with_threads)
		node = add_level(t, node, label_string(t, p, s->labels, thread), FLAME_THREAD);
	stack = profile_get_stack(p, s->stack, &n);
	while (n-- > 0 && !t->failed && !t->is_cut)
		node = add_location(t, p, node, stack[n], s->values);
	if (!node)
		node = add_level(t, 0, add_string(t, "[no stack]", 10), FRAME_MARK);
	t->leaves[number] = node;
	for (uint32_t v = 0; v < t->n_values; v++)
		t->nodes[node].self[v] = add_saturated(t->nodes[node].self[v], s->values[v]);
}

static void sum_totals(struct flame_tree *t)
{
	for (uint32_t i = intern_count(t->paths) + 1; i-- > 0;) {
		struct flame_node *node = &t->nodes[i], *parent = &t->nodes[node->parent];

		for (uint32_t v = 0; v < t->n_values; v++) {
			node->total[v] = add_saturated(node->total[v], node->self[v]);
			if (i)
				parent->total[v] = add_saturated(parent->total[v], node->total[v]);
		}
	}
}

/* How much of everything a node is, by the value that shows it largest. */
static double share(const struct flame_tree *t, uint32_t node)
{
	double largest = 0;

	for (uint32_t v = 0; v < t->n_values; v++) {
		double all = (double)t->nodes[0].total[v];
		double part = all > 0 ? (double)t->nodes[node].total[v] / all : 0;

		largest = part > largest ? part : largest;
	}
	return largest;
}

static int larger_first(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x > *y ? -1 : *x < *y;
}

/* The smallest share that keeps at most max nodes; 0 keeps all, negative: no memory. */
static double smallest_share(const struct flame_tree *t, uint32_t max)
{
	uint32_t n = intern_count(t->paths);
	SCOPED(free) double *shares = NULL;

	if (n <= max)
		return 0;
	shares = malloc(n * sizeof(*shares));
	if (!shares)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		shares[i] = share(t, i + 1);
	qsort(shares, n, sizeof(*shares), larger_first);
	/* shares[max] is the largest that has to go, and all that are as small go with it. */
	return shares[max] * (1 + 1e-9);
}

/* Puts what is below the share into a child of its own. A child is never larger than its parent, so
   what stays is a tree. */
static void leave_out(struct flame_tree *t, double least)
{
	uint32_t n = intern_count(t->paths), frame = left_out_frame(t);

	for (uint32_t i = 1; i <= n && !t->failed; i++) {
		uint32_t parent = t->nodes[i].parent, rest;
		bool is_rest = t->nodes[i].frame == frame && (!parent || t->nodes[parent].frame);

		if (share(t, i) >= least || is_rest)
			continue;
		t->nodes[i].frame = 0;
		if (parent && !t->nodes[parent].frame)
			continue;
		rest = add_node(t, parent, &t->known_frames[frame]);
		for (uint32_t v = 0; rest && v < t->n_values; v++) {
			int64_t part = t->nodes[i].total[v];

			t->nodes[rest].self[v] = add_saturated(t->nodes[rest].self[v], part);
			t->nodes[rest].total[v] = add_saturated(t->nodes[rest].total[v], part);
		}
	}
}

static bool link_nodes(struct flame_tree *t)
{
	uint32_t n = intern_count(t->paths);

	t->links = calloc((size_t)n + 1, sizeof(*t->links));
	if (!t->links)
		return false;
	for (uint32_t i = n; i > 0; i--) {
		struct links *parent = &t->links[t->nodes[i].parent];

		if (!t->nodes[i].frame)
			continue;
		t->links[i].next_sibling = parent->first_child;
		parent->first_child = i;
	}
	return true;
}

static struct flame_tree *tree_alloc(const struct profile *p, uint32_t max_nodes)
{
	struct flame_tree *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->max_nodes = max_nodes;
	t->strings = intern_new();
	t->frames = intern_new();
	t->paths = intern_new();
	t->n_values = profile_get_header(p)->n_sample_types;
	t->leaves = calloc((size_t)profile_n_samples(p) + 1, sizeof(*t->leaves));
	if (!t->leaves || !t->strings || !t->frames || !t->paths || !make_node(t, 0, 0, 0) ||
	    twins_find(&t->twins, p)) {
		flame_tree_free(t);
		return NULL;
	}
	return t;
}

static int by_value(const void *a, const void *b, void *profile)
{
	const struct sample *x = profile_get_sample(profile, *(const uint32_t *)a);
	const struct sample *y = profile_get_sample(profile, *(const uint32_t *)b);

	return x->values[0] > y->values[0] ? -1 : x->values[0] < y->values[0];
}

/* The samples' numbers, the largest first. */
static uint32_t *largest_samples(const struct profile *p)
{
	uint32_t n = profile_n_samples(p), *order = malloc(n * sizeof(*order));

	for (uint32_t i = 0; order && i < n; i++)
		order[i] = i;
	if (order)
		qsort_r(order, n, sizeof(*order), by_value, (void *)p);
	return order;
}

/* Without the threads; order: of the samples, or NULL. */
static struct flame_tree *build(const struct profile *p, uint32_t max_nodes, const uint32_t *order)
{
	uint32_t spare = max_nodes / 4;
	SCOPED(flame_tree_free)
	struct flame_tree *t =
		tree_alloc(p, max_nodes > UINT32_MAX - spare ? UINT32_MAX : max_nodes + spare);

	for (uint32_t i = 0; t && i < profile_n_samples(p) && !t->failed; i++)
		add_sample(t, p, order ? order[i] : i, false);
	return t && !t->failed ? TAKE(t) : NULL;
}

struct flame_tree *flame_tree_new(const struct profile *p, uint32_t max_nodes)
{
	SCOPED(flame_tree_free) struct flame_tree *t = build(p, max_nodes, NULL);
	double least;

	if (t && t->has_cut) {
		SCOPED(free) uint32_t *order = largest_samples(p);

		flame_tree_free(t);
		t = order ? build(p, max_nodes, order) : NULL;
	}
	if (!t)
		return NULL;
	sum_totals(t);
	least = smallest_share(t, max_nodes);
	if (least > 0)
		leave_out(t, least);
	if (least < 0 || t->failed || !link_nodes(t))
		return NULL;
	return TAKE(t);
}

struct flame_tree *flame_tree_new_with_threads(const struct profile *p, uint32_t max_nodes)
{
	SCOPED(flame_tree_free) struct flame_tree *t = tree_alloc(p, UINT32_MAX);

	if (!t)
		return NULL;
	for (uint32_t i = 0; i < profile_n_samples(p) && !t->failed; i++) {
		add_sample(t, p, i, true);
		if (intern_count(t->paths) > max_nodes)
			return NULL;
	}
	if (t->failed)
		return NULL;
	sum_totals(t);
	return link_nodes(t) ? TAKE(t) : NULL;
}

uint32_t flame_tree_n_nodes(const struct flame_tree *t)
{
	return intern_count(t->paths);
}

uint32_t flame_tree_n_frames(const struct flame_tree *t)
{
	return intern_count(t->frames);
}

uint32_t flame_tree_n_strings(const struct flame_tree *t)
{
	return intern_count(t->strings);
}

uint32_t flame_tree_leaf(const struct flame_tree *t, uint32_t sample)
{
	uint32_t node = t->leaves[sample];

	while (node && !t->nodes[node].frame)
		node = t->nodes[node].parent;
	return node;
}

uint32_t flame_tree_n_negative(const struct flame_tree *t)
{
	return t->n_negative;
}

const struct flame_node *flame_tree_node(const struct flame_tree *t, uint32_t node)
{
	return &t->nodes[node];
}

const struct flame_frame *flame_tree_frame(const struct flame_tree *t, uint32_t frame)
{
	return &t->known_frames[frame];
}

const char *flame_tree_string(const struct flame_tree *t, uint32_t string, size_t *len)
{
	return intern_get(t->strings, string, len);
}

uint32_t flame_tree_next(const struct flame_tree *t, uint32_t node)
{
	if (t->links[node].first_child)
		return t->links[node].first_child;
	while (node && !t->links[node].next_sibling)
		node = t->nodes[node].parent;
	return node ? t->links[node].next_sibling : 0;
}
