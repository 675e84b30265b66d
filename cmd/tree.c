// SPDX-License-Identifier: Apache-2.0
/* Call trees: from the roots down, or from chosen functions up to their callers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/frames.h"
#include "cmd/view.h"
#include "core/intern.h"
#include "core/scoped.h"

#define LEAST_PERCENT 0.5 /* a branch below this is not shown, only counted */
#define MAX_INDENT 60

struct node {
	uint32_t name, parent; /* nodes count from 1; the parent of a root is 0 */
	int64_t total, self;
};

struct tree {
	struct view *view;
	struct intern *keys; /* (parent, name) of each node; its id is the node's number */
	struct node *nodes;  /* nodes[0] is above the roots */
	size_t cap;
	uint32_t *order; /* nodes by parent, the largest first */
	uint32_t *first; /* first[parent]: where its children begin in order */
};

static uint32_t find_child(struct tree *t, uint32_t parent, uint32_t name)
{
	uint32_t key[2] = { parent, name };
	uint32_t id = intern_add(t->keys, key, sizeof(key));

	if (id < t->cap)
		return id;
	if (id) {
		size_t cap = t->cap ? t->cap * 2 : 1024;
		struct node *grown = realloc(t->nodes, cap * sizeof(*grown));

		if (!grown)
			return 0;
		memset(grown + t->cap, 0, (cap - t->cap) * sizeof(*grown));
		t->nodes = grown;
		t->cap = cap;
	}
	return id;
}

/* Adds one sample along n names, from the root of the tree outwards. */
static int add_path(struct tree *t, const uint32_t *names, size_t n, int step, int64_t value)
{
	uint32_t at = 0;

	t->nodes[0].total += value;
	for (size_t i = 0; i < n; i++, names += step) {
		uint32_t child = find_child(t, at, *names);

		if (!child)
			return -ENOMEM;
		t->nodes[child].name = *names;
		t->nodes[child].parent = at;
		t->nodes[child].total += value;
		at = child;
	}
	t->nodes[at].self += value;
	return 0;
}

/* matches NULL: whole stacks from the root. Else from the innermost match to its callers. */
static int add_samples(struct tree *t, const bool *matches)
{
	struct view *v = t->view;
	uint32_t index = 0;
	int64_t value;
	size_t n;

	while (view_next(v, &index, &n, &value)) {
		size_t from = 0;
		int err;

		while (matches && from < n && !matches[v->stack[from]])
			from++;
		if (from == n)
			continue;
		err = matches ? add_path(t, v->stack + from, n - from, 1, value)
			      : add_path(t, v->stack + n - 1, n, -1, value);
		if (err < 0)
			return err;
	}
	return 0;
}

static int by_parent(const void *a, const void *b, void *tree)
{
	const struct tree *t = tree;
	const struct node *x = &t->nodes[*(const uint32_t *)a],
			  *y = &t->nodes[*(const uint32_t *)b];

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return strcmp(frames_name(t->view->frames, x->name), frames_name(t->view->frames, y->name));
}

static int sort_nodes(struct tree *t)
{
	uint32_t n = intern_count(t->keys);

	t->order = calloc((size_t)n + 1, sizeof(*t->order));
	t->first = calloc((size_t)n + 2, sizeof(*t->first));
	if (!t->order || !t->first)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		t->order[i] = i + 1;
	qsort_r(t->order, n, sizeof(*t->order), by_parent, t);
	for (uint32_t i = 1; i <= n; i++)
		t->first[t->nodes[i].parent + 1]++;
	for (uint32_t i = 1; i <= n + 1; i++)
		t->first[i] += t->first[i - 1];
	return 0;
}

static void print_node(const struct tree *t, const struct node *node, size_t depth)
{
	const struct view *v = t->view;
	int indent = (int)(depth < MAX_INDENT ? depth : MAX_INDENT);

	view_amount(v, node->total);
	view_amount(v, node->self);
	fprintf(v->out, "  %*s", indent, "");
	if (depth > MAX_INDENT)
		indent += fprintf(v->out, "(%zu) ", depth);
	view_name(v, 36 + indent, frames_name(v->frames, node->name));
}

/*
 * Depth first with one cursor a level (stacks of others may be deeper than ours). Children below
 * LEAST_PERCENT, and lines beyond v->n_rows, are only counted.
 */
static int print_tree(const struct tree *t)
{
	struct view *v = t->view;
	SCOPED(free) uint32_t *cursor = calloc(frames_longest(v->frames) + 2, sizeof(*cursor));
	size_t depth = 0, printed = 0, hidden = 0;
	uint32_t parent = 0;

	if (!cursor)
		return -ENOMEM;
	view_title(v, "     Total Total%      Self  Self%  Name");
	cursor[0] = t->first[0];
	for (;;) {
		uint32_t node;

		if (cursor[depth] == t->first[parent + 1]) {
			if (!depth--)
				break;
			parent = t->nodes[parent].parent;
			continue;
		}
		node = t->order[cursor[depth]++];
		if (view_percent(v, t->nodes[node].total) < LEAST_PERCENT ||
		    (v->n_rows && printed == v->n_rows)) {
			hidden++;
			continue;
		}
		print_node(t, &t->nodes[node], depth);
		printed++;
		cursor[++depth] = t->first[node];
		parent = node;
	}
	if (hidden)
		fprintf(v->out, "%36s… %zu more branches, not shown\n", "", hidden);
	return 0;
}

static int show(struct view *v, const bool *matches)
{
	struct tree t = { .view = v,
			  .keys = intern_new(),
			  .nodes = calloc(1024, sizeof(*t.nodes)),
			  .cap = 1024 };
	int err = t.keys && t.nodes ? add_samples(&t, matches) : -ENOMEM;

	if (!err && matches && !intern_count(t.keys))
		err = -ENOENT;
	if (!err)
		err = sort_nodes(&t);
	if (!err)
		err = print_tree(&t);
	intern_free(t.keys);
	free(t.nodes);
	free(t.order);
	free(t.first);
	return err;
}

int view_tree(struct view *v)
{
	return show(v, NULL);
}

int view_callers(struct view *v, const char *expression)
{
	SCOPED(free) bool *matches = view_match(v, expression);

	return matches ? show(v, matches) : -ENOMEM;
}
