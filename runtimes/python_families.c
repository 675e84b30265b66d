// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_families.h"

#include <stdlib.h>
#include <string.h>

#include "core/intern.h"
#include "core/scoped.h"

struct python_families {
	const struct python_tasks *ts;
	struct intern *addrs; /* of the tasks; ids are their places from 1 */
	bool *is_apart;
};

struct member {
	uint64_t family, addr;
};

struct python_families *python_families_new(const struct python_tasks *ts)
{
	struct python_families *f = calloc(1, sizeof(*f));
	bool is_whole;

	if (!f)
		return NULL;
	f->ts = ts;
	f->addrs = intern_new();
	f->is_apart = calloc(ts->n + 1, sizeof(*f->is_apart));
	is_whole = f->addrs && f->is_apart;
	for (size_t i = 0; i < ts->n && is_whole; i++)
		is_whole = intern_add(f->addrs, &ts->tasks[i].addr, sizeof(uint64_t)) == i + 1;
	if (is_whole)
		return f;
	python_families_free(f);
	return NULL;
}

void python_families_free(struct python_families *f)
{
	if (!f)
		return;
	intern_free(f->addrs);
	free(f->is_apart);
	free(f);
}

/* The task that is a task's k-th waiter, from 1; 0: it is not here. */
static uint32_t parent_of(const struct python_families *f, const struct python_task *t, uint32_t k)
{
	return intern_find(f->addrs, &f->ts->waiters.items[t->first_waiter + k].task,
			   sizeof(uint64_t));
}

const bool *python_families_apart(struct python_families *f, bool only_moved)
{
	const struct python_tasks *ts = f->ts;

	memset(f->is_apart, 0, ts->n * sizeof(*f->is_apart));
	for (size_t i = 0; i < ts->n; i++) {
		const struct python_task *t = &ts->tasks[i], *parent;

		for (uint32_t k = 0; k < t->n_waiters; k++) {
			uint32_t at = parent_of(f, t, k);

			parent = at ? &ts->tasks[at - 1] : t;
			if (parent->batch != t->batch &&
			    (!only_moved || parent->has_moved || t->has_moved))
				f->is_apart[i] = f->is_apart[at - 1] = true;
		}
	}
	return f->is_apart;
}

/* A task belongs to who waits for it, and one for whom nobody does to itself. */
static uint64_t family_of(const struct python_families *f, const struct python_task *t)
{
	for (uint32_t k = 0; k < t->n_waiters; k++) {
		uint32_t at = parent_of(f, t, k);

		if (at && f->is_apart[at - 1])
			return f->ts->tasks[at - 1].addr;
	}
	return t->addr;
}

static int by_family(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->family != y->family)
		return x->family < y->family ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

uint64_t *python_families_addrs(const struct python_families *f, size_t *n)
{
	const struct python_tasks *ts = f->ts;
	SCOPED(free) struct member *members = calloc(ts->n + 1, sizeof(*members));
	uint64_t *addrs = calloc(ts->n + 1, sizeof(*addrs));

	*n = 0;
	if (!members || !addrs) {
		free(addrs);
		return NULL;
	}
	for (size_t i = 0; i < ts->n; i++)
		if (f->is_apart[i])
			members[(*n)++] =
				(struct member){ family_of(f, &ts->tasks[i]), ts->tasks[i].addr };
	qsort(members, *n, sizeof(*members), by_family);
	for (size_t i = 0; i < *n; i++)
		addrs[i] = members[i].addr;
	return addrs;
}
