// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/dump.h"
#include "core/intern.h"
#include "core/scoped.h"

SCOPED_DEFINE(struct intern, intern_free)

static int by_loop_and_name(const void *a, const void *b, void *ctx)
{
	const struct python_task *tasks = ctx;
	const struct python_task *x = &tasks[*(const uint32_t *)a];
	const struct python_task *y = &tasks[*(const uint32_t *)b];
	int order;

	if (x->loop != y->loop)
		return x->loop < y->loop ? -1 : 1;
	order = strverscmp(x->name ? x->name : "", y->name ? y->name : "");

	return order ? order : x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* The place of the task at an address; -1: it is not here. */
static int64_t place_of(const struct intern *addrs, uint64_t addr)
{
	return (int64_t)intern_find(addrs, &addr, sizeof(addr)) - 1;
}

/* Calls for each edge, tasks that are waited for in their order. */
static void each_edge(const struct dump_tree *t, const struct intern *addrs,
		      void (*fn)(const struct dump_tree *t, uint32_t *next, uint32_t parent,
				 uint32_t child, enum python_via via),
		      uint32_t *next)
{
	const struct python_tasks *ts = &t->dump->tasks;

	for (size_t i = 0; i < ts->n; i++) {
		const struct python_task *task = &ts->tasks[t->order[i]];

		for (uint32_t j = 0; j < task->n_waiters; j++) {
			const struct python_waiter *w = &ts->waiters.items[task->first_waiter + j];
			int64_t parent = place_of(addrs, w->task);

			if (parent >= 0)
				fn(t, next, (uint32_t)parent, t->order[i], w->via);
		}
	}
}

static void count_edge(const struct dump_tree *t, uint32_t *next, uint32_t parent, uint32_t child,
		       enum python_via via)
{
	(void)next;
	(void)via;
	t->first[parent + 1]++;
	t->is_root[child] = false;
}

static void put_edge(const struct dump_tree *t, uint32_t *next, uint32_t parent, uint32_t child,
		     enum python_via via)
{
	uint32_t at = next[parent]++;

	t->children[at] = child;
	t->via[at] = via;
}

int dump_tree_init(struct dump_tree *t, const struct python_dump *d)
{
	SCOPED(intern_free) struct intern *addrs = intern_new();
	SCOPED(free) uint32_t *next = NULL;
	const struct python_tasks *ts = &d->tasks;
	size_t n = ts->n;

	*t = (struct dump_tree){ .dump = d };
	t->order = calloc(n + 1, sizeof(*t->order));
	t->first = calloc(n + 1, sizeof(*t->first));
	t->is_root = calloc(n + 1, sizeof(*t->is_root));
	t->children = calloc(ts->waiters.n + 1, sizeof(*t->children));
	t->via = calloc(ts->waiters.n + 1, sizeof(*t->via));
	next = calloc(n + 1, sizeof(*next));
	if (!addrs || !t->order || !t->first || !t->is_root || !t->children || !t->via || !next)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (intern_add(addrs, &ts->tasks[i].addr, sizeof(uint64_t)) != i + 1)
			return -ENOMEM;
		t->order[i] = (uint32_t)i;
		t->is_root[i] = true;
	}
	qsort_r(t->order, n, sizeof(*t->order), by_loop_and_name, ts->tasks);
	each_edge(t, addrs, count_edge, NULL);
	for (size_t i = 0; i < n; i++)
		t->first[i + 1] += t->first[i];
	memcpy(next, t->first, n * sizeof(*next));
	each_edge(t, addrs, put_edge, next);
	return 0;
}

void dump_tree_deinit(struct dump_tree *t)
{
	free(t->order);
	free(t->first);
	free(t->children);
	free(t->via);
	free(t->is_root);
	*t = (struct dump_tree){ 0 };
}
