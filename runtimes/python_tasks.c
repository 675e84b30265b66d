// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/intern.h"
#include "core/mem_cache.h"
#include "core/scoped.h"
#include "runtimes/python_ahead.h"
#include "runtimes/python_families.h"
#include "runtimes/python_task_read.h"

/* Tasks that are read, and then looked at again. Of more at once one could go away and come back to
   where it was in between; of fewer, the pages that they share are read too often. */
#define BATCH 256
#define ROUNDS 6	/* a task that changed is read again so many times */
#define FAMILY_ROUNDS 3 /* and so are those that go together no more */
#define ROUND_READS 3	/* for such a round, times those of the first one */

SCOPED_DEFINE(struct intern, intern_free)
SCOPED_DEFINE(struct python_families, python_families_free)

/* Reading while the program goes on. */
struct rounds {
	struct python_task_reading reading;
	uint32_t n_batches;
	uint64_t *changed; /* addresses of tasks that have to be read again */
	size_t n_changed, cap_changed;
	uint64_t n_used; /* reads, for the first of all tasks */
	/* What was read of tasks that are being read once more. */
	struct python_task *aside;
	size_t n_aside;
};

static void free_names(struct python_task *t)
{
	free(t->name);
	free(t->span_name);
}

static int note_changed(struct rounds *r, uint64_t addr)
{
	if (ARRAY_RESERVE(r->changed, r->cap_changed, r->n_changed) < 0)
		return -ENOMEM;
	r->changed[r->n_changed++] = addr;
	return 0;
}

/* Keeps those of the tasks from `first` on that are still as they were. */
static int check(struct rounds *r, size_t first)
{
	struct python_task_reading *reading = &r->reading;
	struct python_tasks *ts = reading->out;
	size_t n_kept = first;
	int err = 0;

	mem_cache_refresh(reading->heap->mem);
	for (size_t i = first; i < ts->n; i++) {
		struct python_task *t = &ts->tasks[i];

		if (!err)
			err = python_task_read(reading, t->addr);
		if (!err && python_task_mark(reading) == t->mark) {
			ts->tasks[n_kept++] = *t;
			continue;
		}
		if (!err)
			err = note_changed(r, t->addr);
		free_names(t);
	}
	ts->n = n_kept;
	return err;
}

static int read_batch(struct rounds *r, const uint64_t *addrs, size_t n)
{
	struct python_task_reading *reading = &r->reading;
	size_t first = reading->out->n;

	r->n_batches++;
	mem_cache_renew(reading->heap->mem);
	python_ahead_tasks(reading->heap, addrs, n);
	for (size_t i = 0; i < n; i++) {
		int err = python_task_read(reading, addrs[i]);

		if (!err && reading->is_gone && reading->heap->n_left)
			continue;
		if (!err && (!reading->heap->n_left || python_task_is_torn(reading)))
			err = note_changed(r, addrs[i]);
		else if (!err)
			err = python_task_add(reading, addrs[i], r->n_batches);
		if (err < 0)
			return err;
	}
	return check(r, first);
}

static int read_round(struct rounds *r, const uint64_t *addrs, size_t n)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i += BATCH)
		err = read_batch(r, addrs + i, n - i < BATCH ? n - i : BATCH);
	return err;
}

/* Those that never held still. */
static int add_changed(struct python_tasks *ts, const uint64_t *addrs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (ARRAY_RESERVE(ts->changed, ts->cap_changed, ts->n_changed) < 0)
			return -ENOMEM;
		ts->changed[ts->n_changed++] = addrs[i];
	}
	return 0;
}

/* addrs are freed. */
static int read_rounds(struct rounds *r, uint64_t *addrs, size_t n)
{
	int err = 0;

	for (int round = 0; n && round < ROUNDS && !err; round++) {
		err = read_round(r, addrs, n);
		free(addrs);
		addrs = TAKE(r->changed);
		n = r->n_changed;
		r->n_changed = r->cap_changed = 0;
	}
	if (!err)
		err = add_changed(r->reading.out, addrs, n);
	free(addrs);
	return err;
}

/* Which of them have moved by now? */
static int look_again(struct rounds *r, const bool *which)
{
	struct python_tasks *ts = r->reading.out;
	int err = 0;

	mem_cache_renew(r->reading.heap->mem);
	for (size_t i = 0; i < ts->n && !err; i++) {
		if (!which[i])
			continue;
		err = python_task_read(&r->reading, ts->tasks[i].addr);
		ts->tasks[i].has_moved = !err && python_task_mark(&r->reading) != ts->tasks[i].mark;
	}
	return err;
}

static int set_aside(struct rounds *r, const bool *which)
{
	struct python_tasks *ts = r->reading.out;
	size_t n = 0;

	r->aside = calloc(ts->n + 1, sizeof(*r->aside));
	if (!r->aside)
		return -ENOMEM;
	for (size_t i = 0; i < ts->n; i++) {
		if (which[i])
			r->aside[r->n_aside++] = ts->tasks[i];
		else
			ts->tasks[n++] = ts->tasks[i];
	}
	ts->n = n;
	return 0;
}

/* Those that never held still since, from `first` on: what was read of them was so at its time. */
static int put_back(struct rounds *r, size_t first)
{
	SCOPED(intern_free) struct intern *changed = intern_new();
	struct python_tasks *ts = r->reading.out;
	int err = changed ? 0 : -ENOMEM;

	for (size_t i = first; i < ts->n_changed && !err; i++)
		intern_add(changed, &ts->changed[i], sizeof(*ts->changed));
	for (size_t i = 0; i < r->n_aside; i++) {
		struct python_task *t = &r->aside[i];

		if (!err && intern_find(changed, &t->addr, sizeof(t->addr)))
			err = ARRAY_RESERVE(ts->tasks, ts->cap, ts->n);
		else
			t->addr = 0;
		if (!err && t->addr)
			ts->tasks[ts->n++] = *t;
		else
			free_names(t);
	}
	if (!err)
		ts->n_changed = first;
	free(TAKE(r->aside));
	r->n_aside = 0;
	return err;
}

/* Those that go together no more, set aside if they are to be read again: *n addresses, NULL at
   the end. */
static int find_moved(struct rounds *r, bool is_last, uint64_t **addrs, size_t *n)
{
	struct python_tasks *ts = r->reading.out;
	SCOPED(python_families_free) struct python_families *f = python_families_new(ts);
	int err = f ? look_again(r, python_families_apart(f, false)) : -ENOMEM;
	const bool *moved;

	*n = 0;
	*addrs = NULL;
	if (err || is_last)
		return err;
	moved = python_families_apart(f, true);
	*addrs = python_families_addrs(f, n);
	return *addrs ? set_aside(r, moved) : -ENOMEM;
}

/* Families that went on while they were read are read once more, each at one moment, as long as
   there are reads enough to do that with all. */
static int settle(struct rounds *r)
{
	const struct python_heap *h = r->reading.heap;
	uint64_t *addrs;
	size_t n = 1;
	int err = 0;

	for (int round = 0; n && !err && r->n_batches > 1; round++) {
		bool is_last = round == FAMILY_ROUNDS || h->n_left < ROUND_READS * r->n_used;
		size_t n_changed = r->reading.out->n_changed;

		err = find_moved(r, is_last, &addrs, &n);
		if (err)
			free(addrs);
		else
			err = read_rounds(r, addrs, n);
		if (put_back(r, n_changed) < 0)
			err = -ENOMEM;
	}
	return err;
}

static int by_addr(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

int python_tasks_read(struct python_heap *h, const struct intern *addresses,
		      struct python_functions *fs, struct python_tasks *out)
{
	SCOPED(free) struct rounds *r = calloc(1, sizeof(*r));
	size_t n = intern_count(addresses);
	uint64_t *addrs = calloc(n + 1, sizeof(*addrs));
	int err;

	if (!r || !addrs) {
		free(addrs);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		memcpy(&addrs[i], intern_get(addresses, (uint32_t)i + 1, NULL), sizeof(*addrs));
	/* Those of a batch share pages then. */
	qsort(addrs, n, sizeof(*addrs), by_addr);
	r->reading = (struct python_task_reading){ .heap = h, .functions = fs, .out = out };
	r->n_used = h->n_left;
	err = read_rounds(r, addrs, n);
	r->n_used -= h->n_left;
	if (!err)
		err = settle(r);
	free(r->changed);
	python_waiters_deinit(&r->reading.waiters);
	return err;
}

void python_tasks_keep(struct python_tasks *ts, const struct intern *addresses)
{
	size_t n = 0;

	for (size_t i = 0; i < ts->n; i++) {
		struct python_task *t = &ts->tasks[i];

		if (intern_find(addresses, &t->addr, sizeof(t->addr)))
			ts->tasks[n++] = *t;
		else
			free_names(t);
	}
	ts->n = n;
	n = 0;
	for (size_t i = 0; i < ts->n_changed; i++)
		if (intern_find(addresses, &ts->changed[i], sizeof(*ts->changed)))
			ts->changed[n++] = ts->changed[i];
	ts->n_changed = n;
}

void python_tasks_deinit(struct python_tasks *ts)
{
	for (size_t i = 0; i < ts->n; i++)
		free_names(&ts->tasks[i]);
	free(ts->tasks);
	free(ts->places);
	free(ts->changed);
	python_waiters_deinit(&ts->waiters);
	*ts = (struct python_tasks){ 0 };
}

/* "Lock.acquire" stays, "TaskGroup._aexit" is "TaskGroup"; what is private all over stays too. */
static void put_public(const char *name, char out[PYTHON_REASON_MAX])
{
	const char *end = *name == '_' ? NULL : strstr(name, "._");
	size_t len = end ? (size_t)(end - name) : strlen(name);

	len = len < PYTHON_REASON_MAX ? len : PYTHON_REASON_MAX - 1;
	memcpy(out, name, len);
	out[len] = 0;
}

const char *python_task_reason(const struct python_task *t, const struct python_functions *fs,
			       char out[PYTHON_REASON_MAX])
{
	const struct python_function *call = python_functions_get(fs, t->call);
	bool is_plain = !call || !strcmp(call->name, "wait_for");

	*out = 0;
	if (t->state != PYTHON_TASK_WAITING)
		return out;
	if (t->awaits_task)
		return strcpy(out, "task");
	if (!is_plain)
		put_public(call->name, out);
	else if (t->via != PYTHON_VIA_AWAIT)
		strcpy(out, python_via_name((enum python_via)t->via));
	else
		strcpy(out, call ? "wait_for" : "future");
	return out;
}

const char *python_task_state_name(enum python_task_state state)
{
	static const char *const names[] = {
		[PYTHON_TASK_RUNNING] = "running",
		[PYTHON_TASK_RUNNABLE] = "runnable",
		[PYTHON_TASK_WAITING] = "waiting",
		[PYTHON_TASK_DONE] = "done",
	};

	return names[state];
}
