/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which asyncio tasks wait for the one that a thread executes, and where they are suspended, 3.7 to
 * 3.15. While a task runs nothing else of its loop does, so what the interrupted thread finds is
 * whole: who is woken up when the task is done (by its future's callbacks, which runtimes/
 * python_waiters.c follows in the same way; from 3.14 on asyncio writes it down as well, and both
 * must agree), and behind that the coroutines that await each other. Whatever is not plain, two
 * that wait for one, a class derived from Task, a callback of anyio's, is left to user space:
 * nothing is ever taken for a parent that is none.
 *
 * Plain C as unwinders/python.bpf.h is, with the same read_user(). Whoever includes it has
 *
 *	UNWIND_GLOBAL				as unwinders/native.bpf.h says
 *	struct python_scratch			with `process`, `walk`, `reads`, `awaits`, `frames`
 *and `span_bytes` as bpf/maps.bpf.h has them python_scratch_get(), python_show()
 */
#ifndef UNWINDERS_PYTHON_AWAIT_BPF_H
#define UNWINDERS_PYTHON_AWAIT_BPF_H

#include "unwinders/python.bpf.h"
#include "unwinders/python_await.h"
#include "unwinders/python_span.bpf.h"
#include "unwinders/python_thing.bpf.h"

/* Of a future, where builds with a GIL have it. */
#define PYTHON_AWAIT_LOOP 16

/* A callback leads to this task or future. */
static __always_inline void python_await_offer(struct python_await_state *a, __u64 object,
					       __u32 via)
{
	if (a->next && a->next != object) {
		a->is_unsure = 1;
		return;
	}
	if (!a->next && a->via == WIRE_AWAIT_AWAIT)
		a->via = via;
	a->next = object;
}

/* The same of what can be nothing else than a task. */
static __always_inline void python_await_offer_task(struct python_await_state *a, __u64 object,
						    __u32 via)
{
	if (python_thing_of(object) == PYTHON_THING_TASK)
		python_await_offer(a, object, via);
	else
		a->is_unsure = 1;
}

/* Of one kind there is one. */
static __always_inline void python_await_only(struct python_await_state *a, __u64 *only,
					      __u64 object)
{
	if (*only && *only != object)
		a->is_unsure = 1;
	*only = object;
}

/* The future that a nested function refers to. One of a class that derives from asyncio's is for
   user space. From 3.14 on wait() has the task that it writes down there, beside the future that
   this task awaits. */
UNWIND_GLOBAL int python_await_closure(__u64 function, __u32 via)
{
	struct python_scratch *s = python_scratch_get();
	__u64 closure, n, task = 0, future = 0;

	if (!s)
		return 0;
	closure = python_read_pointer(function + s->process.awaits.function_closure);
	n = python_thing_of(closure) == PYTHON_THING_TUPLE
		    ? python_read_pointer(closure + s->process.awaits.tuple_size)
		    : 0;
	if (n > PYTHON_AWAIT_CELLS)
		s->awaits.is_unsure = 1;
	for (__u64 i = 0; i < PYTHON_AWAIT_CELLS && i < n; i++) {
		__u64 cell = python_read_pointer(closure + s->process.awaits.tuple_items + 8 * i);
		__u64 object = 0;
		__u32 thing;

		if (python_thing_of(cell) == PYTHON_THING_CELL)
			object = python_await_word(&s->process, cell, PYTHON_AWAIT_FIELD);
		thing = python_thing_of(object);
		if (thing == PYTHON_THING_TASK)
			python_await_only(&s->awaits, &task, object);
		else if (thing == PYTHON_THING_FUTURE)
			python_await_only(&s->awaits, &future, object);
	}
	if (!task && !future)
		s->awaits.is_unsure = 1;
	if (task)
		python_await_offer(&s->awaits, task, via);
	if (future && !(task && s->process.awaits.awaited_by))
		python_await_offer(&s->awaits, future, via);
	return 0;
}

/* The task that a group of asyncio's belongs to: from 3.14 on that is written down, with the task
   itself. A function of its own, as those that lead here have 512 bytes of stack together. */
UNWIND_GLOBAL __u64 python_await_group(__u64 group)
{
	struct python_scratch *s = python_scratch_get();

	if (!s)
		return 0;
	if (s->process.awaits.awaited_by)
		return python_read_pointer(s->awaits.task + s->process.awaits.awaited_by);
	if (!s->process.awaits.parent_key)
		return 0;
	return python_attribute_find(&s->process.spans, s->span_bytes, group,
				     s->process.awaits.parent_key);
}

static __always_inline void python_await_method(struct python_scratch *s, __u64 method)
{
	__u32 via;

	via = python_callback_of(python_await_word(&s->process, method, PYTHON_AWAIT_FIELD));
	if (via == WIRE_AWAIT_UNKNOWN)
		s->awaits.is_unsure = 1;
	if (via != WIRE_AWAIT_TASK_GROUP)
		return;
	python_await_offer_task(
		&s->awaits,
		python_await_group(python_await_word(&s->process, method, PYTHON_AWAIT_SECOND)),
		via);
}

/* wait_for() of 3.11 and before. */
static __always_inline void python_await_partial(struct python_scratch *s, __u64 partial)
{
	__u32 via = python_callback_of(python_await_word(&s->process, partial, PYTHON_AWAIT_FIELD));
	__u64 args, waiter;

	if (via == WIRE_AWAIT_UNKNOWN)
		s->awaits.is_unsure = 1;
	if (via != WIRE_AWAIT_WAIT_FOR)
		return;
	args = python_await_word(&s->process, partial, PYTHON_AWAIT_SECOND);
	waiter = python_thing_of(args) == PYTHON_THING_TUPLE
			 ? python_read_pointer(args + s->process.awaits.tuple_items)
			 : 0;
	if (python_thing_of(waiter) == PYTHON_THING_FUTURE)
		python_await_offer(&s->awaits, waiter, WIRE_AWAIT_WAIT_FOR);
	else
		s->awaits.is_unsure = 1;
}

static __always_inline void python_await_builtin(struct python_scratch *s, __u64 builtin)
{
	int wakes = python_await_wakes(builtin);

	if (wakes < 0)
		s->awaits.is_unsure = 1;
	if (wakes > 0)
		python_await_offer_task(
			&s->awaits, python_await_word(&s->process, builtin, PYTHON_AWAIT_SECOND),
			WIRE_AWAIT_AWAIT);
}

/* What a future will call when it is done. */
UNWIND_GLOBAL int python_await_callback(__u64 callback)
{
	struct python_scratch *s = python_scratch_get();
	__u32 via;

	if (!s)
		return 0;
	if (!callback)
		s->awaits.is_unsure = 1; /* it could not be read */
	switch (python_thing_of(callback)) {
	case PYTHON_THING_WAKEUP:
		python_await_offer_task(
			&s->awaits, python_await_word(&s->process, callback, PYTHON_AWAIT_FIELD),
			WIRE_AWAIT_AWAIT);
		break;
	case PYTHON_THING_BUILTIN:
		python_await_builtin(s, callback);
		break;
	case PYTHON_THING_FUNCTION:
		via = python_callback_of(callback);
		if (via == WIRE_AWAIT_UNKNOWN)
			s->awaits.is_unsure = 1;
		else if (via == WIRE_AWAIT_GATHER || via == WIRE_AWAIT_WAIT ||
			 via == WIRE_AWAIT_SHIELD)
			python_await_closure(callback, via);
		break;
	case PYTHON_THING_METHOD:
		python_await_method(s, callback);
		break;
	case PYTHON_THING_PARTIAL:
		python_await_partial(s, callback);
		break;
	case PYTHON_THING_DERIVED:
		s->awaits.is_unsure = 1;
		break;
	}
	return 0;
}

/* All that a future will call. */
UNWIND_GLOBAL int python_await_callbacks(__u64 future)
{
	struct python_scratch *s = python_scratch_get();
	__u64 words[3],
		list[2] = { 0 }; /* the first one, its context, the others; how many, where */

	if (!s)
		return 0;
	if (read_user(future + s->process.awaits.callbacks, words, sizeof(words))) {
		s->awaits.is_unsure = 1;
		return 0;
	}
	if (words[0])
		python_await_callback(words[0]);
	if (python_thing_of(words[2]) != PYTHON_THING_LIST)
		return 0;
	if (read_user(words[2] + PYTHON_AWAIT_FIELD + s->process.awaits.head, list, sizeof(list)) ||
	    list[0] > PYTHON_AWAIT_CALLBACKS)
		s->awaits.is_unsure = 1;
	for (__u64 i = 0; i < PYTHON_AWAIT_CALLBACKS && i < list[0]; i++) {
		__u64 pair = python_read_pointer(list[1] + 8 * i);

		python_await_callback(
			python_thing_of(pair) == PYTHON_THING_TUPLE
				? python_read_pointer(pair + s->process.awaits.tuple_items)
				: 0);
	}
	return 0;
}

/* From 3.14 on: is that what asyncio wrote down? */
static __always_inline int python_await_agrees(const struct python_awaits *aw, __u64 task,
					       __u64 parent)
{
	__u8 is_set = 0;

	if (!aw->awaited_by)
		return 1;
	if (read_user(task + aw->awaited_by_is_set, &is_set, sizeof(is_set)) || is_set)
		return 0;
	return python_read_pointer(task + aw->awaited_by) == parent;
}

/* Both run in the same loop, and the one that waits is not done. */
static __always_inline int python_await_is_parent(const struct python_process *p, __u64 task,
						  __u64 parent)
{
	__u32 state = 1;

	return !read_user(parent + p->awaits.state, &state, sizeof(state)) && !state &&
	       python_await_word(p, task, PYTHON_AWAIT_LOOP) ==
		       python_await_word(p, parent, PYTHON_AWAIT_LOOP);
}

/* The task that waits for this one; 0: none does, or that is unsure. */
UNWIND_GLOBAL __u64 python_await_parent(__u64 task)
{
	struct python_scratch *s = python_scratch_get();
	__u64 at = task, parent = 0;

	if (!s)
		return 0;
	s->awaits.task = task;
	s->awaits.via = WIRE_AWAIT_AWAIT;
	for (int i = 0; i < PYTHON_AWAIT_HOPS && at && !parent; i++) {
		s->awaits.next = 0;
		python_await_callbacks(at);
		at = s->awaits.is_unsure ? 0 : s->awaits.next;
		if (at && python_thing_of(at) == PYTHON_THING_TASK)
			parent = at;
	}
	if ((at && !parent) ||
	    (!s->awaits.is_unsure && !python_await_agrees(&s->process.awaits, task, parent)))
		s->awaits.is_unsure = 1;
	if (parent && !python_await_is_parent(&s->process, task, parent))
		s->awaits.is_unsure = 1;
	return s->awaits.is_unsure ? 0 : parent;
}

/* What a suspended frame awaits: the value on top of its stack. */
static __always_inline __u64 python_await_top(const struct python_awaits *aw, __u64 frame)
{
	__u64 at;
	__u32 depth = 0;

	if (aw->stack_end) {
		at = python_read_pointer(frame + aw->stack_end);
		return at ? python_read_pointer(at - aw->stack_back) & ~3ULL : 0;
	}
	if (read_user(frame + aw->stack_depth, &depth, sizeof(depth)) || !depth || depth >> 20)
		return 0;
	at = aw->stack_pointer ? python_read_pointer(frame + aw->stack_pointer)
			       : frame + aw->stack_values;
	return at ? python_read_pointer(at + 8 * ((__u64)depth - 1)) : 0;
}

/* Adds the frame of a suspended coroutine as number n. What it awaits; 0: that is unsure. */
UNWIND_GLOBAL __u64 python_await_frame(__u64 coroutine, __u64 n)
{
	struct python_scratch *s = python_scratch_get();
	const struct python_process *p;
	struct wire_python_frame *out;
	__u64 len, frame, code;

	OPAQUE(n);
	if (!s || n >= MAX_PYTHON_FRAMES)
		return 0;
	p = &s->process;
	frame = p->awaits.gen_frame ? python_read_pointer(coroutine + p->awaits.gen_frame)
				    : coroutine + p->gen_frame;
	len = p->frame_len;
	OPAQUE(len);
	if (!frame || len > PYTHON_FRAME_MAX || read_user(frame, s->reads.frame, len))
		return 0;
	code = PYTHON_AT(s->reads.frame, __u64, p->frame_code) & ~7ULL;
	out = &s->frames[n];
	out->addr = code;
	out->position = p->is_lasti
				? PYTHON_AT(s->reads.frame, __u32, p->frame_instr)
				: (__u32)(PYTHON_AT(s->reads.frame, __u64, p->frame_instr) - code);
	out->id = python_id(p, frame, code, &s->reads);
	if (!out->id)
		return 0;
	s->walk.at = frame;
	python_show(s, out);
	return python_await_top(&p->awaits, frame);
}

/* From wrappers around a generator to it; anything else stays. */
UNWIND_GLOBAL __u64 python_await_unwrap(__u64 object)
{
	struct python_scratch *s = python_scratch_get();

	for (int i = 0; s && i < PYTHON_AWAIT_WRAPPERS; i++) {
		if (python_thing_of(object) != PYTHON_THING_WRAPPER)
			break;
		object = python_await_word(&s->process, object, PYTHON_AWAIT_FIELD);
	}
	return object;
}

/*
 * Adds the task that waits for this one, as an entry that says how, and the coroutines that it is
 * suspended in, the outermost first, from number n on. How many there are then; state->task is the
 * task that waits, 0: none does.
 */
UNWIND_GLOBAL __u64 python_await_task(__u64 n)
{
	struct python_scratch *s = python_scratch_get();
	__u64 parent, next;

	if (!s)
		return n;
	parent = python_await_parent(s->awaits.task);
	s->awaits.task = parent;
	OPAQUE(n);
	if (!parent)
		return n;
	next = python_read_pointer(parent + s->process.task_coro);
	if (n >= MAX_PYTHON_FRAMES || python_thing_of(next) != PYTHON_THING_COROUTINE) {
		s->awaits.is_unsure = 1;
		return n;
	}
	s->frames[n].addr = parent | WIRE_PYTHON_ANCHOR;
	s->frames[n].position = s->awaits.via;
	s->frames[n].id = 0;
	n++;
	for (int i = 0; i < PYTHON_AWAIT_FRAMES; i++) {
		next = python_await_frame(next, n);
		if (!next)
			break;
		n++;
		next = python_await_unwrap(next);
		if (python_thing_of(next) != PYTHON_THING_COROUTINE) {
			/* It may have yielded by itself; or there is one in another. */
			if (python_thing_of(next) == PYTHON_THING_GENERATOR ||
			    python_thing_of(next) == PYTHON_THING_WRAPPER)
				s->awaits.is_unsure = 1;
			return n;
		}
	}
	s->awaits.is_unsure = 1;
	return n;
}

/* All that wait for a task, from number n of the frames on. How many frames there are then; 0: that
   is unsure. */
UNWIND_GLOBAL __u64 python_await_all(__u64 task, __u64 n)
{
	struct python_scratch *s = python_scratch_get();

	if (!s || !s->process.awaits.type_name)
		return 0;
	__builtin_memset(&s->awaits, 0, sizeof(s->awaits));
	s->awaits.task = task;
	for (int i = 0; i < PYTHON_AWAIT_TASKS; i++) {
		n = python_await_task(n);
		if (s->awaits.is_unsure)
			return 0;
		if (!s->awaits.task)
			return n;
	}
	return 0;
}

#endif
