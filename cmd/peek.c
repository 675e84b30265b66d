// SPDX-License-Identifier: Apache-2.0
/* Who calls a function directly and what it calls, as pprof's peek. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/frames.h"
#include "cmd/top_table.h"
#include "cmd/view.h"
#include "core/array.h"
#include "core/intern.h"
#include "core/scoped.h"

#define RULE "----------------------------------------------------------+-------------"

struct edge {
	uint32_t caller, callee;
	int64_t value;
	uint32_t last; /* the sample that counted it last: recursion counts once */
};

struct edges {
	struct intern *keys; /* (caller, callee) */
	struct edge *items;  /* of key id i: items[i - 1] */
	size_t cap;
};

static int add_edge(struct edges *e, uint32_t caller, uint32_t callee, int64_t value,
		    uint32_t index)
{
	uint32_t key[2] = { caller, callee };
	uint32_t known = intern_count(e->keys), id = intern_add(e->keys, key, sizeof(key));
	struct edge *edge;

	if (!id)
		return -ENOMEM;
	if (ARRAY_RESERVE(e->items, e->cap, id - 1) < 0)
		return -ENOMEM;
	edge = &e->items[id - 1];
	if (id > known)
		*edge = (struct edge){ .caller = caller, .callee = callee };
	if (edge->last != index)
		edge->value += value;
	edge->last = index;
	return 0;
}

/* The edges that touch a function that matches. */
static int collect(struct edges *e, struct view *v, const bool *matches)
{
	uint32_t index = 0;
	int64_t value;
	size_t n;

	while (view_next(v, &index, &n, &value))
		for (size_t i = 0; i + 1 < n; i++)
			if ((matches[v->stack[i]] || matches[v->stack[i + 1]]) &&
			    add_edge(e, v->stack[i + 1], v->stack[i], value, index) < 0)
				return -ENOMEM;
	return 0;
}

static int by_value(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return x->caller != y->caller ? (x->caller < y->caller ? -1 : 1)
				      : (x->callee < y->callee ? -1 : x->callee > y->callee);
}

static void print_edge(const struct view *v, const struct edge *edge, uint32_t other,
		       const struct top_row *row)
{
	char text[32];
	double share = row->cum ? 100.0 * (double)edge->value / (double)row->cum : 0;

	fprintf(v->out, "%38s %11s %6.1f%% |   ", "",
		scale_print(&v->scale, edge->value, text, sizeof(text)), share);
	view_name(v, 62, frames_name(v->frames, other));
}

static void print_function(const struct view *v, const struct edges *e, const struct top_row *row)
{
	size_t n = intern_count(e->keys);

	for (size_t i = 0; i < n; i++)
		if (e->items[i].callee == row->name)
			print_edge(v, &e->items[i], e->items[i].caller, row);
	view_amount(v, row->flat);
	fputs("  ", v->out);
	view_amount(v, row->cum);
	fprintf(v->out, "%21s | ", "");
	view_name(v, 60, frames_name(v->frames, row->name));
	for (size_t i = 0; i < n; i++)
		if (e->items[i].caller == row->name)
			print_edge(v, &e->items[i], e->items[i].callee, row);
	fputs(RULE "\n", v->out);
}

static int print_matches(struct view *v, const struct edges *e, const bool *matches)
{
	struct top_table t;
	size_t printed = 0;
	int err = top_table_init(&t, v);

	if (err < 0)
		return err;
	for (size_t i = 0; i < t.n; i++) {
		if (!matches[t.rows[i].name] || (v->n_rows && printed == v->n_rows))
			continue;
		if (!printed++) {
			view_title(
				v,
				"      Flat  Flat%         Cum   Cum%      Calls  Calls% | Name");
			fputs(RULE "\n", v->out);
		}
		print_function(v, e, &t.rows[i]);
	}
	top_table_deinit(&t);
	return printed ? 0 : -ENOENT;
}

int view_peek(struct view *v, const char *expression)
{
	SCOPED(free) bool *matches = view_match(v, expression);
	struct edges e = { .keys = intern_new() };
	int err = matches && e.keys ? collect(&e, v, matches) : -ENOMEM;

	if (!err) {
		if (e.items)
			qsort(e.items, intern_count(e.keys), sizeof(*e.items), by_value);
		err = print_matches(v, &e, matches);
	}
	intern_free(e.keys);
	free(e.items);
	return err;
}
