// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_task_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/intern.h"
#include "runtimes/python_label.h"

#define MAX_WAITERS (1u << 15) /* of one task */
#define MAX_ALL_WAITERS (1u << 20)
#define MAX_NAME_BYTES (32u << 20) /* of all names; tasks that come later have none */

/* A task that was freed has no references, but its type still; its place may be another object's.
 */
static bool is_gone(struct python_heap *h, uint64_t addr)
{
	return !python_kind_is_task(python_kind(h, addr)) || !python_is_referenced(h, addr);
}

static bool is_running(const struct python_task_reading *r)
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

bool python_task_is_torn(const struct python_task_reading *r)
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

uint64_t python_task_mark(const struct python_task_reading *r)
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

static uint64_t awaited(const struct python_task_reading *r)
{
	return r->chain.end == PYTHON_CHAIN_FUTURE ? r->chain.leaf : r->head.waiter;
}

int python_task_read(struct python_task_reading *r, uint64_t addr)
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

static int add_places(struct python_task_reading *r, struct python_task *t)
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

static int add_waiters(struct python_task_reading *r, struct python_task *t)
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
static uint32_t call_of(const struct python_task_reading *r, const struct python_task *t)
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

static enum python_task_state state_of(const struct python_task_reading *r)
{
	if (r->head.is_done)
		return PYTHON_TASK_DONE;
	if (is_running(r))
		return PYTHON_TASK_RUNNING;
	return r->head.waiter && !r->head.is_woken ? PYTHON_TASK_WAITING : PYTHON_TASK_RUNNABLE;
}

static void read_names(struct python_task_reading *r, struct python_task *t)
{
	if (r->n_name_bytes >= MAX_NAME_BYTES)
		return;
	t->name = python_task_name(r->heap, r->head.name);
	if (t->has_span)
		t->span_name = python_span_name(r->heap, r->span_name);
	r->n_name_bytes +=
		(t->name ? strlen(t->name) : 0) + (t->span_name ? strlen(t->span_name) : 0);
}

int python_task_add(struct python_task_reading *r, uint64_t addr, uint32_t batch)
{
	struct python_task t = {
		.addr = addr,
		.batch = batch,
		.mark = python_task_mark(r),
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
