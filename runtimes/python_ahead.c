// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_ahead.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem_cache.h"
#include "runtimes/python_chain.h"
#include "runtimes/python_dict.h"

#define OBJECT_LEN 192	/* of an object: tasks and futures, and the beginning of all others */
#define FRAME_LEN 512	/* of a coroutine with its frame, or of the frame */
#define MAX_LEVELS 8	/* from a task to what its coroutines await */
#define A_TASK 4	/* objects of a level for each task, at most */
#define REFERENCES 1024 /* fetched together */
#define FEW 16		/* tasks: it would take as many messages as it saves */

/* What is to be looked at: an object, or the frame of a generator (to 3.10, where it is elsewhere).
 */
struct item {
	uint64_t addr, generator; /* generator 0: an object */
};

struct level {
	struct item *items;
	size_t n, max;
};

static void add(struct level *l, uint64_t addr, uint64_t generator)
{
	if (addr && l->n < l->max)
		l->items[l->n++] = (struct item){ addr, generator };
}

static void add_task(struct python_heap *h, uint64_t task, struct level *next)
{
	add(next, python_word(h, task + h->at.task.coro), 0);
	add(next, python_word(h, task + h->at.task.waiter), 0);
	add(next, python_word(h, task + h->at.future.callback), 0);
	if (h->at.task.name)
		add(next, python_word(h, task + h->at.task.name), 0);
}

/* What an object leads to. */
static void follow(struct python_heap *h, const struct item *item, struct level *next)
{
	enum python_kind kind = item->generator ? PYTHON_OTHER : python_kind(h, item->addr);

	if (item->generator)
		add(next, python_chain_next(h, item->generator), 0);
	else if (python_kind_is_generator(kind) && h->at.gen.frame)
		add(next, python_word(h, item->addr + h->at.gen.frame), item->addr);
	else if (python_kind_is_generator(kind))
		add(next, python_chain_next(h, item->addr), 0);
	else if (kind == PYTHON_FUTURE)
		add(next, python_word(h, item->addr + h->at.future.callback), 0);
}

static void fetch(struct python_heap *h, const struct level *l)
{
	for (size_t i = 0; i < l->n; i++)
		mem_cache_want(h->mem, l->items[i].addr,
			       l->items[i].generator ? FRAME_LEN : OBJECT_LEN);
	mem_cache_fetch(h->mem);
}

void python_ahead_tasks(struct python_heap *h, const uint64_t *tasks, size_t n)
{
	struct level now = { calloc(A_TASK * n + 1, sizeof(struct item)), 0, A_TASK * n },
		     next = { calloc(A_TASK * n + 1, sizeof(struct item)), 0, A_TASK * n };

	for (size_t i = 0; i < n && n > FEW; i++)
		mem_cache_want(h->mem, tasks[i], OBJECT_LEN);
	mem_cache_fetch(h->mem);
	for (size_t i = 0; i < n && n > FEW && now.items && next.items; i++)
		if (python_kind(h, tasks[i]) == PYTHON_TASK)
			add_task(h, tasks[i], &now);
	for (int depth = 0; depth < MAX_LEVELS && now.n && next.items; depth++) {
		struct level swap = now;

		fetch(h, &now);
		for (size_t i = 0; i < now.n && h->n_left; i++)
			follow(h, &now.items[i], &next);
		now = next;
		next = swap;
		next.n = 0;
	}
	free(now.items);
	free(next.items);
}

struct references {
	struct python_heap *heap;
	size_t n;
};

static bool want_referent(void *ctx, uint64_t element)
{
	struct references *r = ctx;

	mem_cache_want(r->heap->mem, python_field(r->heap, element, PYTHON_FIRST_FIELD),
		       OBJECT_LEN);
	if (++r->n % REFERENCES == 0)
		mem_cache_fetch(r->heap->mem);
	return true;
}

static bool want_reference(void *ctx, uint64_t element)
{
	struct references *r = ctx;

	mem_cache_want(r->heap->mem, element, PYTHON_FIRST_FIELD + 8 + r->heap->at.head);
	if (++r->n % REFERENCES == 0)
		mem_cache_fetch(r->heap->mem);
	return true;
}

void python_ahead_references(struct python_heap *h, uint64_t set)
{
	struct references r = { h, 0 };
	uint64_t table = python_field(h, set, PYTHON_SET_TABLE);
	uint64_t mask = python_field(h, set, PYTHON_SET_MASK);

	if (python_kind(h, set) != PYTHON_SET || mask >= PYTHON_MAX_ITEMS)
		return;
	mem_cache_want(h->mem, table, 16 * (mask + 1));
	mem_cache_fetch(h->mem);
	python_set_each(h, set, want_reference, &r);
	mem_cache_fetch(h->mem);
	python_set_each(h, set, want_referent, &r);
	mem_cache_fetch(h->mem);
}
