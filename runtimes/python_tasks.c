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
#include "runtimes/python_chain.h"
#include "runtimes/python_label.h"
#include "runtimes/python_task_head.h"

/* Tasks that are read, and then looked at again. Of more at once one could go away and come back to
   where it was in between; of fewer, the pages that they share are read too often. */
#define BATCH 256
#define ROUNDS 6	       /* a task that changed is read again so many times */
#define MAX_WAITERS (1u << 15) /* of one task */
#define MAX_ALL_WAITERS (1u << 20)
#define MAX_NAME_BYTES (32u << 20) /* of all names; tasks that come later have none */

SCOPED_DEFINE(struct intern, intern_free)

struct reading {
	struct python_heap *heap;
	struct python_functions *functions;
	struct python_tasks *out;
	/* Of the task that is being read. */
	bool is_gone; /* it was freed */
	struct python_task_head head;
	struct python_span_ids span;
	uint64_t span_name;
	bool has_span;
	struct python_await_chain chain;
	struct python_waiters waiters;
	enum python_via via;

	uint32_t n_batches;
	uint64_t *changed; /* addresses of tasks that have to be read again */
	size_t n_changed, cap_changed;
	size_t n_name_bytes;
};

/* A task that was freed has no references, but its type still; its place may be another object's.
 */
static bool is_gone(struct python_heap *h, uint64_t addr)
{
	return !python_kind_is_task(python_kind(h, addr)) || !python_is_referenced(h, addr);
}

static bool is_running(const struct reading *r)
{
	return !r->head.is_done && r->chain.end == PYTHON_CHAIN_RUNNING;
}

/* Nothing that a task could run: no generator, and not of a type that can be awaited either, as
   Cython's coroutines are. */
static bool is_no_coroutine(struct python_heap *h, uint64_t coro)
{
	enum python_kind kind = python_kind(h, coro);
	uint64_t type = coro ? python_word(h, coro + h->layout->object.type) : 0;

	if (!type || !python_is_referenced(h, coro))
		return true;
	if (kind == PYTHON_OTHER)
		return !python_field(h, type, PYTHON_TYPE_AS_ASYNC);
	return !python_kind_is_generator(kind);
}

/* What a task waits for is also what the innermost of its coroutines awaits; and only the outermost
   one can have no frame, or not have begun. Else it went on while it was read. */
static bool is_torn(const struct reading *r)
{
	const struct python_await_chain *c = &r->chain;

	if (r->head.is_done)
		return false;
	if (is_no_coroutine(r->heap, r->head.coro))
		return true;
	if (c->end == PYTHON_CHAIN_FINISHED || c->end == PYTHON_CHAIN_CREATED)
		return c->n > 1 || r->head.waiter;
	return r->head.waiter && c->end == PYTHON_CHAIN_FUTURE && c->leaf != r->head.waiter;
}

static uint64_t combine(uint64_t hash, uint64_t word)
{
	const uint64_t both[2] = { hash, word };

	return hash_bytes(both, sizeof(both));
}

/* Names of tasks have a number that no other task has, while their places are used again soon. */
static uint64_t name_mark(struct python_heap *h, uint64_t name)
{
	enum python_kind kind = python_kind(h, name);
	uint64_t hash = name, number;

	if (kind == PYTHON_INT && python_int_value(h, name, &number))
		return combine(hash, number);
	for (uint64_t i = 0; kind == PYTHON_STR && i < 24; i += 8)
		hash = combine(hash, python_word(h, name + h->layout->str.ascii_header + i));
	return hash;
}

static uint64_t mark_of(const struct reading *r)
{
	const struct python_task_head *head = &r->head;
	uint64_t name = name_mark(r->heap, head->name);
	uint64_t hash = combine(combine(combine(head->coro, head->waiter), name),
				head->is_done << 9 | head->is_woken << 8 | (unsigned int)r->via);

	if (r->is_gone)
		return 0;
	if (is_running(r)) /* where it is does not count, that it is does */
		return combine(head->coro, name);
	hash = combine(hash, hash_bytes(r->chain.frames, r->chain.n * sizeof(*r->chain.frames)));
	hash = combine(combine(hash, r->chain.leaf), r->chain.end);
	if (r->has_span)
		hash = combine(combine(hash, hash_bytes(&r->span, sizeof(r->span))),
			       name_mark(r->heap, r->span_name));
	for (size_t i = 0; i < r->waiters.n; i++)
		hash = combine(combine(hash, r->waiters.items[i].task), r->waiters.items[i].via);
	return hash;
}

static uint64_t awaited(const struct reading *r)
{
	return r->chain.end == PYTHON_CHAIN_FUTURE ? r->chain.leaf : r->head.waiter;
}

/* Everything that can change. */
static int read_raw(struct reading *r, uint64_t addr)
{
	struct python_heap *h = r->heap;
	size_t left = MAX_ALL_WAITERS - r->out->waiters.n;
	int err = 0;

	r->is_gone = is_gone(h, addr);
	r->head = python_task_head(h, addr);
	python_chain_read(h, r->head.coro, &r->chain);
	r->waiters.n = 0;
	if (!r->head.is_done)
		err = python_waiters_add(h, addr, left < MAX_WAITERS ? left : MAX_WAITERS,
					 &r->waiters);
	r->via = PYTHON_VIA_AWAIT;
	if (r->head.waiter)
		r->via = python_future_via(h, awaited(r));
	r->has_span = !is_running(r) && python_span_of(h->mem, &r->out->spans, r->head.context,
						       &r->span, &r->span_name);
	r->out->is_cut |= err == -E2BIG;
	return err == -E2BIG ? 0 : err;
}

static int add_places(struct reading *r, struct python_task *t)
{
	const struct python_await_chain *c = &r->chain;
	struct python_tasks *ts = r->out;

	t->first_place = (uint32_t)ts->n_places;
	for (size_t i = 0; i < c->n; i++) {
		const struct python_chain_frame *f = &c->frames[i];

		if (ARRAY_RESERVE(ts->places, ts->cap_places, ts->n_places) < 0)
			return -ENOMEM;
		ts->places[ts->n_places++] = python_functions_place(r->functions, r->heap, f->code,
								    f->qualname, f->instr);
	}
	t->n_places = (uint32_t)c->n;
	if (c->n)
		t->coroutine = ts->places[t->first_place].function;
	return 0;
}

static int add_waiters(struct reading *r, struct python_task *t)
{
	struct python_waiters *ws = &r->out->waiters;

	t->first_waiter = (uint32_t)ws->n;
	t->n_waiters = (uint32_t)r->waiters.n;
	for (size_t i = 0; i < r->waiters.n; i++) {
		if (ARRAY_RESERVE(ws->items, ws->cap, ws->n) < 0)
			return -ENOMEM;
		ws->items[ws->n++] = r->waiters.items[i];
	}
	return 0;
}

/* Has a part that is not for others: "_wait", "Lock.__aenter__". */
static bool is_private(const char *name)
{
	return *name == '_' || strstr(name, "._");
}

/* Of the innermost frames that are asyncio's, the outermost that is for others. */
static uint32_t call_of(const struct reading *r, const struct python_task *t)
{
	const struct python_place *places = r->out->places;
	uint32_t call = 0;

	for (size_t i = t->n_places; i > 0; i--) {
		uint32_t id = places[t->first_place + i - 1].function;
		const struct python_function *f = python_functions_get(r->functions, id);

		if (!f || !f->is_asyncio)
			break;
		if (!strcmp(f->name, "Future.__await__"))
			continue; /* of the Python half: what the C half does without a frame */
		if (!call || !is_private(f->name))
			call = id;
	}
	return call;
}

static enum python_task_state state_of(const struct reading *r)
{
	if (r->head.is_done)
		return PYTHON_TASK_DONE;
	if (is_running(r))
		return PYTHON_TASK_RUNNING;
	return r->head.waiter && !r->head.is_woken ? PYTHON_TASK_WAITING : PYTHON_TASK_RUNNABLE;
}

static void read_names(struct reading *r, struct python_task *t)
{
	if (r->n_name_bytes >= MAX_NAME_BYTES)
		return;
	t->name = python_task_name(r->heap, r->head.name);
	if (t->has_span)
		t->span_name = python_span_name(r->heap, r->span_name);
	r->n_name_bytes +=
		(t->name ? strlen(t->name) : 0) + (t->span_name ? strlen(t->span_name) : 0);
}

static void free_names(struct python_task *t)
{
	free(t->name);
	free(t->span_name);
}

/* Makes a task of what was read. */
static int add_task(struct reading *r, uint64_t addr)
{
	struct python_task t = {
		.addr = addr,
		.batch = r->n_batches,
		.mark = mark_of(r),
		.coro = r->head.coro,
		.loop = r->head.loop,
		.state = (uint8_t)state_of(r),
		.is_cut = r->chain.end == PYTHON_CHAIN_BROKEN,
		.is_started = r->chain.end != PYTHON_CHAIN_CREATED,
		.has_span = r->has_span && !r->head.is_done,
		.span = r->span,
	};
	int err = ARRAY_RESERVE(r->out->tasks, r->out->cap, r->out->n);

	if (!err)
		err = add_places(r, &t);
	if (!err)
		err = add_waiters(r, &t);
	if (err < 0)
		return err;
	if (t.state == PYTHON_TASK_WAITING) {
		t.awaits = awaited(r);
		t.awaits_task = python_kind_is_task(python_kind(r->heap, t.awaits));
		t.via = (uint8_t)r->via;
		t.call = call_of(r, &t);
		if (r->out->has_timers)
			t.timer =
				python_timer_of(r->heap, addr, &r->chain, r->functions,
						t.n_places ? &r->out->places[t.first_place] : NULL);
	}
	read_names(r, &t);
	r->out->tasks[r->out->n++] = t;
	return 0;
}

static int note_changed(struct reading *r, uint64_t addr)
{
	if (ARRAY_RESERVE(r->changed, r->cap_changed, r->n_changed) < 0)
		return -ENOMEM;
	r->changed[r->n_changed++] = addr;
	return 0;
}

/* Keeps those of the tasks from `first` on that are still as they were. */
static int check(struct reading *r, size_t first)
{
	struct python_tasks *ts = r->out;
	size_t n_kept = first;
	int err = 0;

	mem_cache_refresh(r->heap->mem);
	for (size_t i = first; i < ts->n; i++) {
		struct python_task *t = &ts->tasks[i];

		if (!err)
			err = read_raw(r, t->addr);
		if (!err && mark_of(r) == t->mark) {
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

static int read_batch(struct reading *r, const uint64_t *addrs, size_t n)
{
	size_t first = r->out->n;

	r->n_batches++;
	mem_cache_renew(r->heap->mem);
	python_ahead_tasks(r->heap, addrs, n);
	for (size_t i = 0; i < n; i++) {
		int err = read_raw(r, addrs[i]);

		if (!err && r->is_gone)
			continue;
		if (!err && is_torn(r)) {
			err = note_changed(r, addrs[i]);
		} else if (!err) {
			err = add_task(r, addrs[i]);
		}
		if (err < 0)
			return err;
	}
	return check(r, first);
}

static int read_round(struct reading *r, const uint64_t *addrs, size_t n)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i += BATCH)
		err = read_batch(r, addrs + i, n - i < BATCH ? n - i : BATCH);
	return err;
}

/* Of which of the tasks somebody waits who was read at another time, and who that is. */
static void find_apart(const struct python_tasks *ts, const struct intern *addrs, bool *is_apart)
{
	for (size_t i = 0; i < ts->n; i++) {
		const struct python_task *t = &ts->tasks[i];

		for (uint32_t k = 0; k < t->n_waiters; k++) {
			uint64_t addr = ts->waiters.items[t->first_waiter + k].task;
			uint32_t parent = intern_find(addrs, &addr, sizeof(addr));

			if (parent && ts->tasks[parent - 1].batch != t->batch)
				is_apart[i] = is_apart[parent - 1] = true;
		}
	}
}

/* Those go together only if neither has gone on by now: then there was a moment with both. */
static int check_apart(struct reading *r)
{
	SCOPED(intern_free) struct intern *addrs = intern_new();
	struct python_tasks *ts = r->out;
	SCOPED(free) bool *is_apart = calloc(ts->n + 1, sizeof(*is_apart));
	int err = 0;

	if (!addrs || !is_apart)
		return -ENOMEM;
	for (size_t i = 0; i < ts->n; i++)
		if (intern_add(addrs, &ts->tasks[i].addr, sizeof(uint64_t)) != i + 1)
			return -ENOMEM;
	find_apart(ts, addrs, is_apart);
	mem_cache_renew(r->heap->mem);
	for (size_t i = 0; i < ts->n && !err; i++) {
		if (!is_apart[i])
			continue;
		err = read_raw(r, ts->tasks[i].addr);
		ts->tasks[i].has_moved = !err && mark_of(r) != ts->tasks[i].mark;
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
	SCOPED(free) struct reading *r = calloc(1, sizeof(*r));
	size_t n = intern_count(addresses);
	uint64_t *addrs = calloc(n + 1, sizeof(*addrs));
	int err = r && addrs ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++)
		memcpy(&addrs[i], intern_get(addresses, (uint32_t)i + 1, NULL), sizeof(*addrs));
	/* Those of a batch share pages then. */
	if (n && !err)
		qsort(addrs, n, sizeof(*addrs), by_addr);
	if (!err)
		*r = (struct reading){ .heap = h, .functions = fs, .out = out };
	for (int round = 0; n && round < ROUNDS && !err; round++) {
		err = read_round(r, addrs, n);
		free(addrs);
		addrs = TAKE(r->changed);
		n = r->n_changed;
		r->n_changed = r->cap_changed = 0;
	}
	out->changed = addrs;
	out->n_changed = err ? 0 : n;
	if (!err && r->n_batches > 1)
		err = check_apart(r);
	if (r)
		python_waiters_deinit(&r->waiters);
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
