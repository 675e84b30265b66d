/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which asyncio task waits for the function that a thread of a pool runs: what
 * run_in_executor(), asyncio.to_thread() and anyio's to_thread hand out has a future, which is
 * asyncio's or leads to it, and whose callbacks wake the task up. The object that has it is held by
 * the thread's own frame. What is behind it is another thread's, which may go on while this one has
 * released the GIL: so whoever sends a name looks again after it was copied. Whoever includes this
 * has what unwinders/python_await.bpf.h says, and in struct python_scratch
 *
 *	__u64 work;		what the frame has; 0: it came by none
 *	__u32 work_is_item;	an object of concurrent.futures, not asyncio's future itself
 */
#ifndef UNWINDERS_PYTHON_WORKER_BPF_H
#define UNWINDERS_PYTHON_WORKER_BPF_H

#include "unwinders/python_await.bpf.h"

/* The walk is at a frame of this code. The innermost counts. */
static __always_inline void python_worker_see(struct python_scratch *s, __u64 code)
{
	const struct python_workers *w = &s->process.workers;
	__u64 place = 0;

	if (s->work || !code)
		return;
	if (code == w->item_code)
		place = w->item_place;
	else if (code == w->future_code)
		place = w->future_place;
	if (!place)
		return;
	/* From 3.14 on the lowest bits say how it is counted. */
	s->work = python_read_pointer(s->walk.at + place) & ~3ULL;
	s->work_is_item = code == w->item_code;
}

/* Asyncio's future, to which what a thread runs leads. */
UNWIND_GLOBAL __u64 python_worker_future(__u64 item)
{
	struct python_scratch *s = python_scratch_get();
	__u64 future, list = 0, items[2] = { 0 }; /* how many, where */

	if (!s)
		return 0;
	s->awaits.next = 0;
	future = python_attribute_find(&s->process.spans, s->span_bytes, item,
				       s->process.workers.future_key);
	if (future)
		list = python_attribute_find(&s->process.spans, s->span_bytes, future,
					     s->process.workers.callbacks_key);
	if (python_thing_of(list) != PYTHON_THING_LIST ||
	    read_user(list + PYTHON_AWAIT_FIELD + s->process.awaits.head, items, sizeof(items)))
		return 0;
	for (__u64 i = 0; i < PYTHON_AWAIT_CALLBACKS && i < items[0]; i++) {
		__u64 callback = python_read_pointer(items[1] + 8 * i);

		if (python_callback_of(callback) == PYTHON_CALLBACK_CHAIN)
			python_await_closure(callback, WIRE_AWAIT_AWAIT);
	}
	return s->awaits.is_unsure ? 0 : s->awaits.next;
}

/* The task that waits for what the thread runs; 0: none does, or that is unsure. */
UNWIND_GLOBAL __u64 python_worker_task(void)
{
	struct python_scratch *s = python_scratch_get();
	__u64 future;

	if (!s || !s->work || !s->process.awaits.type_name)
		return 0;
	__builtin_memset(&s->awaits, 0, sizeof(s->awaits));
	future = s->work_is_item ? python_worker_future(s->work) : s->work;
	return python_thing_of(future) == PYTHON_THING_FUTURE ? python_await_parent(future) : 0;
}

#endif
