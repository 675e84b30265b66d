// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/intern.h"
#include "core/mem_cache.h"
#include "core/scoped.h"
#include "runtimes/python_chain.h"
#include "runtimes/python_task_head.h"

#define BATCH 1024	       /* tasks that are read, and then looked at again */
#define ROUNDS 4	       /* a task that changed is read again so many times */
#define MAX_WAITERS (1u << 15) /* of one task */
#define MAX_ALL_WAITERS (1u << 20)
#define MAX_NAME_BYTES (32u << 20) /* of all names; tasks that come later have none */

/* What tells that a task went on. */
struct mark {
	uint64_t addr;
	struct python_task_head head;
	uint64_t instr; /* of its coroutine */
};

struct reading {
	struct python_heap *heap;
	struct python_functions *functions;
	struct python_tasks *out;
	struct python_await_chain chain;
	struct mark marks[BATCH];
	size_t n_marks;
	uint64_t *changed; /* addresses of tasks that have to be read again */
	size_t n_changed, cap_changed;
	size_t n_name_bytes;
};

static uint64_t coroutine_instr(struct python_heap *h, uint64_t coro)
{
	uint64_t frame = python_kind_is_generator(python_kind(h, coro))
				 ? python_generator_frame(h, coro)
				 : 0;
	uint64_t at = frame + h->layout->frame.instr;

	if (!frame)
		return 0;
	return h->layout->instr == PYTHON_INSTR_POINTER ? python_word(h, at) : python_int(h, at);
}

static struct mark mark_of(struct python_heap *h, uint64_t addr)
{
	struct python_task_head head = python_task_head(h, addr);

	return (struct mark){ addr, head, head.is_done ? 0 : coroutine_instr(h, head.coro) };
}

/* A task that runs has another instruction every time; all else must stay. */
static bool is_same(const struct mark *a, const struct mark *b, bool is_running)
{
	return a->head.coro == b->head.coro && a->head.waiter == b->head.waiter &&
	       a->head.name == b->head.name && a->head.is_done == b->head.is_done &&
	       (is_running || a->instr == b->instr);
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
	size_t left = MAX_ALL_WAITERS - ws->n;
	int err;

	t->first_waiter = (uint32_t)ws->n;
	err = python_waiters_add(r->heap, t->addr, left < MAX_WAITERS ? left : MAX_WAITERS, ws);
	t->n_waiters = (uint32_t)(ws->n - t->first_waiter);
	r->out->is_cut |= err == -E2BIG;
	return err == -E2BIG ? 0 : err;
}

/* Has a part that is not for others: "_wait", "Lock.__aenter__". */
static bool is_private(const char *name)
{
	return *name == '_' || strstr(name, "._");
}

/* Of the innermost frames that are asyncio's, the outermost that is for others. */
static uint32_t call_of(const struct reading *r, const struct python_task *t)
{
	const struct python_place *places = r->out->places + t->first_place;
	uint32_t call = 0;

	for (size_t i = t->n_places; i > 0; i--) {
		uint32_t id = places[i - 1].function;
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

static void set_awaited(struct reading *r, const struct python_task_head *head,
			struct python_task *t)
{
	struct python_heap *h = r->heap;
	enum python_kind kind;

	t->awaits = r->chain.end == PYTHON_CHAIN_FUTURE ? r->chain.leaf : head->waiter;
	kind = python_kind(h, t->awaits);
	t->awaits_task = python_kind_is_task(kind);
	if (t->awaits && !t->awaits_task)
		t->via = (uint8_t)python_future_via(h, t->awaits);
	t->call = call_of(r, t);
}

static int read_task(struct reading *r, const struct mark *mark)
{
	struct python_heap *h = r->heap;
	const struct python_task_head *head = &mark->head;
	struct python_task t = { .addr = mark->addr, .coro = head->coro, .loop = head->loop };
	int err;

	if (ARRAY_RESERVE(r->out->tasks, r->out->cap, r->out->n) < 0)
		return -ENOMEM;
	python_chain_read(h, head->coro, &r->chain);
	t.is_cut = r->chain.end == PYTHON_CHAIN_BROKEN;
	t.is_started = r->chain.end != PYTHON_CHAIN_CREATED;
	t.state = head->is_done				 ? PYTHON_TASK_DONE
		  : r->chain.end == PYTHON_CHAIN_RUNNING ? PYTHON_TASK_RUNNING
		  : head->waiter			 ? PYTHON_TASK_WAITING
							 : PYTHON_TASK_RUNNABLE;
	err = add_places(r, &t);
	if (!err && t.state != PYTHON_TASK_DONE)
		err = add_waiters(r, &t);
	if (err < 0)
		return err;
	if (t.state == PYTHON_TASK_WAITING)
		set_awaited(r, head, &t);
	if (r->n_name_bytes < MAX_NAME_BYTES)
		t.name = python_task_name(h, head->name);
	r->n_name_bytes += t.name ? strlen(t.name) : 0;
	r->out->tasks[r->out->n++] = t;
	return 0;
}

/* Keeps those of the tasks from `first` on that are still as they were. */
static int check(struct reading *r, size_t first)
{
	struct python_tasks *ts = r->out;
	size_t n_kept = first;

	mem_cache_forget(r->heap->mem);
	for (size_t i = first; i < ts->n; i++) {
		struct python_task *t = &ts->tasks[i];
		struct mark now = mark_of(r->heap, t->addr);

		if (is_same(&r->marks[i - first], &now, t->state == PYTHON_TASK_RUNNING)) {
			ts->tasks[n_kept++] = *t;
			continue;
		}
		free(t->name);
		t->name = NULL;
		if (ARRAY_RESERVE(r->changed, r->cap_changed, r->n_changed) < 0) {
			/* What follows has owners still. */
			memmove(&ts->tasks[n_kept], &ts->tasks[i + 1],
				(ts->n - i - 1) * sizeof(*ts->tasks));
			ts->n = n_kept + ts->n - i - 1;
			return -ENOMEM;
		}
		r->changed[r->n_changed++] = t->addr;
	}
	ts->n = n_kept;
	return 0;
}

static int read_batch(struct reading *r, const uint64_t *addrs, size_t n)
{
	size_t first = r->out->n;

	mem_cache_forget(r->heap->mem);
	for (size_t i = 0; i < n; i++) {
		int err;

		r->marks[i] = mark_of(r->heap, addrs[i]);
		err = read_task(r, &r->marks[i]);
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

int python_tasks_read(struct python_heap *h, const struct intern *addresses,
		      struct python_functions *fs, struct python_tasks *out)
{
	SCOPED(free) struct reading *r = calloc(1, sizeof(*r));
	size_t n = intern_count(addresses);
	uint64_t *addrs = calloc(n + 1, sizeof(*addrs));
	int err = r && addrs ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++)
		memcpy(&addrs[i], intern_get(addresses, (uint32_t)i + 1, NULL), sizeof(*addrs));
	if (!err)
		*r = (struct reading){ .heap = h, .functions = fs, .out = out };
	for (int round = 0; n && round < ROUNDS && !err; round++) {
		err = read_round(r, addrs, n);
		free(addrs);
		addrs = TAKE(r->changed);
		n = r->n_changed;
		r->n_changed = r->cap_changed = 0;
	}
	out->n_changed = n;
	free(addrs);
	return err;
}

void python_tasks_deinit(struct python_tasks *ts)
{
	for (size_t i = 0; i < ts->n; i++)
		free(ts->tasks[i].name);
	free(ts->tasks);
	free(ts->places);
	python_waiters_deinit(&ts->waiters);
	*ts = (struct python_tasks){ 0 };
}

void python_tasks_loops(struct python_heap *h, const struct intern *addresses, struct intern *loops)
{
	for (uint32_t i = 1; i <= intern_count(addresses); i++) {
		struct python_task_head head;
		uint64_t addr;

		memcpy(&addr, intern_get(addresses, i, NULL), sizeof(addr));
		head = python_task_head(h, addr);
		if (head.loop)
			intern_add(loops, &head.loop, sizeof(head.loop));
	}
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
