// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_waiters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "runtimes/python_dict.h"

#define MAX_FUTURES 64 /* between a task and the tasks that wait for it */
#define MAX_CELLS 32
#define BUILTIN_DEFINITION 16 /* m_ml, whose first word is the name */

/* Functions that asyncio adds as callbacks, by how their qualified names end. */
static const struct {
	const char *qualname;
	enum python_via via;
} callbacks[] = {
	{ "gather.<locals>._done_callback", PYTHON_VIA_GATHER },
	{ "_wait.<locals>._on_completion", PYTHON_VIA_WAIT },
	{ "shield.<locals>._inner_done_callback", PYTHON_VIA_SHIELD },
}, marks[] = {
	{ "shield.<locals>._outer_done_callback", PYTHON_VIA_SHIELD },
	{ "_chain_future.<locals>._call_check_cancel", PYTHON_VIA_EXECUTOR },
};

struct search {
	struct python_heap *heap;
	struct python_waiters *out;
	size_t first, max; /* in out: those that were found begin here, so many there may be */
	int err;
	/* Futures that were found, with how; each is looked at once. */
	struct {
		uint64_t addr;
		enum python_via via;
	} futures[MAX_FUTURES];
	size_t n_futures;
	enum python_via via; /* of the future that is being looked at */
};

const char *python_via_name(enum python_via via)
{
	static const char *const names[] = {
		[PYTHON_VIA_AWAIT] = "await",	    [PYTHON_VIA_GATHER] = "gather",
		[PYTHON_VIA_WAIT] = "wait",	    [PYTHON_VIA_WAIT_FOR] = "wait_for",
		[PYTHON_VIA_SHIELD] = "shield",	    [PYTHON_VIA_TASK_GROUP] = "TaskGroup",
		[PYTHON_VIA_EXECUTOR] = "executor",
	};

	return names[via];
}

static void add_task(struct search *s, uint64_t task, enum python_via via)
{
	struct python_waiters *out = s->out;
	enum python_kind kind = python_kind(s->heap, task);

	if (!python_kind_is_task(kind))
		return;
	/* The same one twice is rare, and early: it is in a TaskGroup and awaited too. */
	for (size_t i = s->first; i < out->n && i - s->first < MAX_FUTURES; i++)
		if (out->items[i].task == task)
			return;
	if (out->n - s->first >= s->max)
		s->err = -E2BIG;
	else if (ARRAY_RESERVE(out->items, out->cap, out->n) < 0)
		s->err = -ENOMEM;
	else
		out->items[out->n++] = (struct python_waiter){ task, via };
}

/* What is nearest to the task that is waited for says how. */
static void add_future(struct search *s, uint64_t future, enum python_via via)
{
	if (s->via != PYTHON_VIA_AWAIT)
		via = s->via;
	for (size_t i = 0; i < s->n_futures; i++)
		if (s->futures[i].addr == future)
			return;
	if (s->n_futures < MAX_FUTURES) {
		s->futures[s->n_futures].addr = future;
		s->futures[s->n_futures++].via = via;
	}
}

/* The futures that a nested function refers to. */
static void follow_closure(struct search *s, uint64_t function, enum python_via via)
{
	struct python_heap *h = s->heap;
	uint64_t closure = python_word(h, function + h->at.function.closure);
	size_t n = python_items(h, closure, python_kind(h, closure));

	for (size_t i = 0; i < n && i < MAX_CELLS; i++) {
		uint64_t cell = python_item(h, closure, PYTHON_TUPLE, i);
		uint64_t value = python_kind(h, cell) == PYTHON_CELL
					 ? python_field(h, cell, PYTHON_FIRST_FIELD)
					 : 0;

		if (python_kind_is_future(python_kind(h, value)))
			add_future(s, value, via);
	}
}

static bool is_named(struct python_heap *h, uint64_t function, const char *end)
{
	return python_kind(h, function) == PYTHON_FUNCTION &&
	       python_str_ends(h, python_word(h, function + h->at.function.qualname), end);
}

/* A task of an anyio task group waits, as asyncio's do, behind the task that entered the group:
   self.cancel_scope._host_task of the group that the callback refers to. */
static void decode_group(struct search *s, uint64_t function)
{
	struct python_heap *h = s->heap;
	uint64_t closure = python_word(h, function + h->at.function.closure);
	size_t n = python_items(h, closure, python_kind(h, closure));

	for (size_t i = 0; i < n && i < MAX_CELLS; i++) {
		uint64_t cell = python_item(h, closure, PYTHON_TUPLE, i), scope = 0;

		if (python_kind(h, cell) == PYTHON_CELL)
			scope = python_member(h, python_field(h, cell, PYTHON_FIRST_FIELD),
					      "cancel_scope");
		if (scope)
			add_task(s, python_member(h, scope, "_host_task"), PYTHON_VIA_TASK_GROUP);
	}
}

static void decode_function(struct search *s, uint64_t function)
{
	if (is_named(s->heap, function, "TaskGroup._spawn.<locals>.task_done"))
		decode_group(s, function);
	for (size_t i = 0; i < sizeof(callbacks) / sizeof(*callbacks); i++)
		if (is_named(s->heap, function, callbacks[i].qualname))
			follow_closure(s, function, callbacks[i].via);
}

/* wait_for() of 3.11 and before. */
static void decode_partial(struct search *s, uint64_t partial)
{
	struct python_heap *h = s->heap;
	uint64_t args = python_field(h, partial, PYTHON_PARTIAL_ARGS), waiter;

	if (!is_named(h, python_field(h, partial, PYTHON_PARTIAL_FUNCTION), "_release_waiter") ||
	    python_kind(h, args) != PYTHON_TUPLE || !python_items(h, args, PYTHON_TUPLE))
		return;
	waiter = python_item(h, args, PYTHON_TUPLE, 0);
	if (python_kind_is_future(python_kind(h, waiter)))
		add_future(s, waiter, PYTHON_VIA_WAIT_FOR);
}

static void decode_method(struct search *s, uint64_t method)
{
	struct python_heap *h = s->heap;
	uint64_t function = python_field(h, method, PYTHON_METHOD_FUNCTION);
	uint64_t self = python_field(h, method, PYTHON_METHOD_SELF);

	if (is_named(h, function, "TaskGroup._on_task_done"))
		add_task(s, python_attribute_with_key(h, self, "_parent_task", &h->parent_key),
			 PYTHON_VIA_TASK_GROUP);
	else if (is_named(h, function, "Task.__wakeup"))
		add_task(s, self, s->via);
}

static bool wakes_up(struct python_heap *h, uint64_t builtin)
{
	static const char wakeup[] = "TaskWakeupMethWrapper", name[] = "task_wakeup";
	uint64_t definition = python_field(h, builtin, BUILTIN_DEFINITION);
	uint64_t text = definition ? python_word(h, definition) : 0;
	char buf[sizeof(wakeup)] = { 0 };

	for (size_t i = 0; i < sizeof(buf) && text; i++) {
		buf[i] = (char)python_byte(h, text + i);
		if (!buf[i])
			break;
	}
	return !memcmp(buf, wakeup, sizeof(wakeup)) || !memcmp(buf, name, sizeof(name));
}

static void decode(struct search *s, uint64_t callback)
{
	struct python_heap *h = s->heap;

	switch (python_kind(h, callback)) {
	case PYTHON_WAKEUP:
		add_task(s, python_field(h, callback, PYTHON_FIRST_FIELD), s->via);
		break;
	case PYTHON_BUILTIN:
		if (wakes_up(h, callback))
			add_task(s, python_field(h, callback, PYTHON_BUILTIN_SELF), s->via);
		break;
	case PYTHON_FUNCTION:
		decode_function(s, callback);
		break;
	case PYTHON_PARTIAL:
		decode_partial(s, callback);
		break;
	case PYTHON_METHOD:
		decode_method(s, callback);
		break;
	default:
		break;
	}
}

/* Calls fn for each callback of a future. */
static void each_callback(struct python_heap *h, uint64_t future,
			  void (*fn)(struct search *s, uint64_t callback), struct search *s)
{
	bool is_pure = python_kind_is_pure(python_kind(h, future));
	uint64_t list, first = 0;
	size_t n;

	if (is_pure) {
		list = python_attribute(h, future, "_callbacks");
	} else {
		first = python_word(h, future + h->at.future.callback);
		list = python_word(h, future + h->at.future.callbacks);
	}
	if (first)
		fn(s, first);
	n = python_items(h, list, python_kind(h, list));
	for (size_t i = 0; i < n && h->n_left && !s->err; i++) {
		uint64_t pair = python_item(h, list, PYTHON_LIST, i);

		if (python_kind(h, pair) == PYTHON_TUPLE && python_items(h, pair, PYTHON_TUPLE))
			fn(s, python_item(h, pair, PYTHON_TUPLE, 0));
	}
}

static int by_callbacks(struct python_heap *h, uint64_t future, size_t max,
			struct python_waiters *out)
{
	struct search s = { .heap = h, .out = out, .first = out->n, .max = max };

	add_future(&s, future, PYTHON_VIA_AWAIT);
	for (size_t i = 0; i < s.n_futures && !s.err; i++) {
		s.via = s.futures[i].via;
		each_callback(h, s.futures[i].addr, decode, &s);
	}
	return s.err;
}

static bool add_awaiting(void *ctx, uint64_t element)
{
	struct search *s = ctx;

	add_task(s, element, PYTHON_VIA_AWAIT);
	return !s->err;
}

/* What the interpreter wrote down, with how the callbacks know it. */
static int by_awaited_by(struct python_heap *h, uint64_t future, size_t max,
			 struct python_waiters *out)
{
	struct search s = { .heap = h, .out = out, .first = out->n, .max = max };
	uint64_t awaited_by = python_word(h, future + h->at.future.awaited_by);
	struct python_waiters known = { 0 };
	int err = by_callbacks(h, future, MAX_FUTURES, &known);

	if (awaited_by && python_byte(h, future + h->at.future.awaited_by_is_set))
		python_set_each(h, awaited_by, add_awaiting, &s);
	else if (awaited_by)
		add_awaiting(&s, awaited_by);
	for (size_t i = s.first; i < out->n; i++)
		for (size_t j = 0; j < known.n; j++)
			if (known.items[j].task == out->items[i].task)
				out->items[i].via = known.items[j].via;
	python_waiters_deinit(&known);
	return err == -ENOMEM ? err : s.err;
}

int python_waiters_add(struct python_heap *h, uint64_t future, size_t max,
		       struct python_waiters *out)
{
	bool is_pure = python_kind_is_pure(python_kind(h, future));

	if (h->at.future.awaited_by && !is_pure)
		return by_awaited_by(h, future, max, out);
	return by_callbacks(h, future, max, out);
}

void python_waiters_deinit(struct python_waiters *ws)
{
	free(ws->items);
	*ws = (struct python_waiters){ 0 };
}

static void decode_mark(struct search *s, uint64_t callback)
{
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (is_named(s->heap, callback, marks[i].qualname))
			s->via = marks[i].via;
}

enum python_via python_future_via(struct python_heap *h, uint64_t future)
{
	struct search s = { .heap = h };
	enum python_kind kind = python_kind(h, future);

	if (kind == PYTHON_GATHERING_FUTURE || kind == PYTHON_PURE_GATHERING_FUTURE)
		return PYTHON_VIA_GATHER;
	each_callback(h, future, decode_mark, &s);
	return s.via;
}
