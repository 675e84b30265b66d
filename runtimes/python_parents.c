// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_parents.h"

#include <stdlib.h>
#include <string.h>

#include "core/intern.h"
#include "core/mem_cache.h"
#include "core/profile.h"
#include "core/scoped.h"
#include "runtimes/python_dump.h"
#include "runtimes/python_logical.h"

#define N_SLOTS 64 /* tasks that are known at a time; a power of two */
/* As long as a task runs, nothing that waits for it goes on; but it may wait in between, and what
   waits for its parents may give up meanwhile. */
#define KEEP_NS (50 * UINT64_C(1000000))
#define MAX_TASKS 256 /* that wait for one, directly or not */
#define CACHE_BYTES (1u << 20)
#define OBJECT_HEAD 16 /* counts, type: they say nothing of a name */

SCOPED_DEFINE(struct intern, intern_free)
SCOPED_DEFINE(struct python_logical, python_logical_free)

/* What a task is known by. No padding: it is compared as bytes. */
struct key {
	uint64_t task, coro, name, name_hash, serial;
	uint64_t callbacks[WIRE_TASK_CALLBACKS];
};

struct slot {
	struct key key;
	uint64_t until_ns;
	uint32_t *locations;
	size_t n;
	bool is_lost;
};

struct python_parents {
	struct python_memory *memory;
	uint64_t parent_key;
	struct slot slots[N_SLOTS];
	uint32_t locations[PYTHON_LOGICAL_MAX];
};

struct python_parents *python_parents_new(void)
{
	struct python_parents *pp = calloc(1, sizeof(*pp));

	if (!pp)
		return NULL;
	pp->memory = python_memory_new();
	if (pp->memory)
		return pp;
	free(pp);
	return NULL;
}

void python_parents_free(struct python_parents *pp)
{
	for (size_t i = 0; pp && i < N_SLOTS; i++)
		free(pp->slots[i].locations);
	if (pp)
		python_memory_free(pp->memory);
	free(pp);
}

size_t python_parents_memory(const struct python_parents *pp)
{
	size_t sum = sizeof(*pp);

	for (size_t i = 0; i < N_SLOTS; i++)
		sum += pp->slots[i].n * sizeof(uint32_t);
	return sum + python_memory_size(pp->memory);
}

/* A search for who waits for a task. */
struct search {
	struct python_heap heap;
	const struct wire_python_task *task;
	struct intern *addresses; /* of the task and of all that wait for it */
	struct python_waiters waiters;
	struct python_tasks tasks;
	struct python_functions *functions;
};

/* The copy is of the object from its start. Of a str the characters count and how many there are,
   of an int its digits; what is in between may be filled in later. */
static bool has_name(struct search *s)
{
	const struct wire_python_task *t = s->task;
	const struct python_layout *l = s->heap.layout;
	enum python_kind kind = python_kind(&s->heap, t->addr);
	size_t first = kind == PYTHON_STR ? l->str.ascii_header : OBJECT_HEAD;
	size_t len = kind == PYTHON_INT ? l->integer.digits + sizeof(uint32_t) : t->len;
	uint8_t now[WIRE_TASK_NAME_MAX];
	uint64_t length;

	if (t->len > sizeof(t->name) || len > t->len || len < first || first < OBJECT_HEAD ||
	    mem_read(s->heap.mem, t->addr, now, len))
		return false;
	if (kind == PYTHON_STR) {
		memcpy(&length, t->name + l->str.length, sizeof(length));
		if (python_word(&s->heap, t->addr + l->str.length) != length)
			return false;
		if (length < len - first)
			len = first + length;
	}
	return !memcmp(now + first, t->name + first, len - first);
}

/* Is it still the task of the sample, and is who waits for it still the same? */
static bool is_same(struct search *s)
{
	const struct wire_python_task *t = s->task;
	struct python_heap *h = &s->heap;

	if (!python_kind_is_task(python_kind(h, t->task)) ||
	    python_word(h, t->task + h->at.task.coro) != t->coro)
		return false;
	for (uint64_t i = 0; i < WIRE_TASK_CALLBACKS; i++)
		if (python_word(h, t->task + h->at.future.callback + 8 * i) != t->callbacks[i])
			return false;
	return !h->at.task.name ||
	       (python_word(h, t->task + h->at.task.name) == t->addr && has_name(s));
}

/* Everything that waits for it, and what waits for that. */
static int gather(struct search *s)
{
	int err = 0;

	intern_add(s->addresses, &s->task->task, sizeof(uint64_t));
	for (uint32_t i = 1; i <= intern_count(s->addresses) && !err; i++) {
		uint64_t addr;

		memcpy(&addr, intern_get(s->addresses, i, NULL), sizeof(addr));
		s->waiters.n = 0;
		err = python_waiters_add(&s->heap, addr, MAX_TASKS, &s->waiters);
		for (size_t k = 0; k < s->waiters.n; k++)
			if (intern_count(s->addresses) < MAX_TASKS)
				intern_add(s->addresses, &s->waiters.items[k].task,
					   sizeof(uint64_t));
	}
	return err;
}

/* Its place among the tasks that were read; -1: it kept changing. */
static int64_t place_of(const struct python_tasks *ts, uint64_t addr)
{
	for (size_t i = 0; i < ts->n; i++)
		if (ts->tasks[i].addr == addr)
			return (int64_t)i;
	return -1;
}

/* How many locations; -1: nothing is known. */
static int64_t search(struct search *s, struct profile *p, uint32_t *out)
{
	SCOPED(python_logical_free) struct python_logical *l = NULL;
	struct python_dump dump = { .functions = s->functions };
	int64_t place;

	if (gather(s) || python_tasks_read(&s->heap, s->addresses, s->functions, &s->tasks))
		return -1;
	/* The last thing that was read anew is all that tells whether a task went on. */
	place = place_of(&s->tasks, s->task->task);
	if (place < 0 || !is_same(s))
		return -1;
	dump.tasks = s->tasks;
	l = python_logical_new(&dump);
	if (!l)
		return -1;
	return (int64_t)python_logical_parents(l, python_logical_id(l, (size_t)place), p, out);
}

/* The same with all that it needs. */
static int64_t read_parents(struct python_parents *pp, const struct python_parents_source *source,
			    const struct wire_python_task *task, struct profile *p)
{
	SCOPED(intern_free) struct intern *addresses = intern_new();
	struct search s = { .task = task,
			    .addresses = addresses,
			    .functions = python_memory_functions(pp->memory) };
	struct python_search limits;
	int64_t n;

	if (!addresses || !s.functions ||
	    python_search_begin(&limits, source->part, source->mem, source->layout, CACHE_BYTES,
				&s.heap))
		return -1;
	mem_cache_read_ahead(limits.cache, true);
	s.heap.at = *source->at;
	python_heap_recall(&s.heap, &pp->memory->heap);
	n = search(&s, p, pp->locations);
	if (n >= 0)
		python_heap_remember(&s.heap, &pp->memory->heap);
	if (s.heap.parent_key)
		pp->parent_key = s.heap.parent_key;
	if (!s.heap.n_left)
		n = -1; /* there were not steps enough for all of it */
	python_tasks_deinit(&s.tasks);
	python_waiters_deinit(&s.waiters);
	python_search_end(&limits, source->part, &s.heap);
	return n;
}

static void fill(struct python_parents *pp, struct slot *slot,
		 const struct python_parents_source *source, const struct wire_python_task *task,
		 struct profile *p)
{
	uint32_t *out = pp->locations;
	int64_t n = read_parents(pp, source, task, p);

	slot->is_lost = n < 0;
	if (n < 0) {
		out[0] = python_logical_mark(p, PYTHON_LOGICAL_CHANGED);
		n = 1;
	} else if (n > 0) {
		uint32_t last = out[n - 1];

		slot->is_lost = last == python_logical_mark(p, PYTHON_LOGICAL_CHANGED);
	}
	free(slot->locations);
	slot->n = (size_t)n;
	slot->locations = malloc(slot->n * sizeof(*out) + 1);
	if (slot->locations)
		memcpy(slot->locations, out, slot->n * sizeof(*out));
	else
		slot->n = 0;
}

struct python_parents_found python_parents_get(struct python_parents *pp,
					       const struct python_parents_source *source,
					       const struct wire_python_task *task, uint64_t now_ns,
					       struct profile *p)
{
	struct slot *slot = &pp->slots[(task->task * UINT64_C(0x9e3779b97f4a7c15)) >> 58];
	struct key key = {
		.task = task->task,
		.coro = task->coro,
		.name = task->addr,
		.serial = profile_serial(p),
	};

	_Static_assert(N_SLOTS == 1 << (64 - 58), "the highest bits choose the slot");
	if (task->len > OBJECT_HEAD && task->len <= sizeof(task->name))
		key.name_hash = hash_bytes(task->name + OBJECT_HEAD, task->len - OBJECT_HEAD);
	memcpy(key.callbacks, task->callbacks, sizeof(key.callbacks));
	if (now_ns >= slot->until_ns || memcmp(&key, &slot->key, sizeof(key))) {
		fill(pp, slot, source, task, p);
		slot->key = key;
		slot->until_ns = now_ns + KEEP_NS;
	}
	return (struct python_parents_found){ slot->locations, slot->n, slot->is_lost,
					      pp->parent_key };
}
