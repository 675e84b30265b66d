/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The asyncio task that a thread executes, 3.7 to 3.15. CPython says which tasks are current: from
 * 3.14 on in the thread state, before that in one dict for the loops of all threads. A task counts
 * only when its coroutine is one of the frames of this very stack, so neither another thread's nor
 * one that has just ended is taken for it. Plain C as unwinders/python.bpf.h is, with the same
 * read_user().
 */
#ifndef UNWINDERS_PYTHON_TASK_BPF_H
#define UNWINDERS_PYTHON_TASK_BPF_H

#include "unwinders/python.bpf.h"
#include "unwinders/python_task.h"

#define PYTHON_KEYS_SIZE_AT 8 /* a word; from 3.11 on bytes: log2 of the size, of bytes, kind */
#define PYTHON_KEYS_HEAD 40
#define PYTHON_KEYS_MAX_LOG2 24

static __always_inline void python_tasks_add(struct python_tasks *t, const struct python_process *p,
					     __u64 loop, __u64 task)
{
	__u64 n = t->n;

	OPAQUE(n);
	if (!task || n >= MAX_CURRENT_TASKS)
		return;
	t->loops[n] = loop;
	t->tasks[n] = task;
	t->coros[n] = python_read_pointer(task + p->task_coro);
	t->n = n + 1;
}

/* Bytes of the indices that stand before the entries; 0: no dict of objects that are no str. */
static __always_inline __u64 python_indices_len(const struct python_process *p, const __u8 *head)
{
	__u64 size = PYTHON_AT(head, __u64, PYTHON_KEYS_SIZE_AT);
	__u64 log2 = size >> 8 & 0xff;

	if (p->has_log2_keys)
		return log2 <= PYTHON_KEYS_MAX_LOG2 && !(size >> 16 & 0xff) ? 1ULL << log2 : 0;
	if (size > 1 << PYTHON_KEYS_MAX_LOG2)
		return 0;
	return size <= 0xff ? size : size <= 0xffff ? size * 2 : size * 4;
}

/* Reads the last entries of the dict; how many. */
static __always_inline __u64 python_last_entries(struct python_dict_entry *entries,
						 const struct python_process *p,
						 __u8 bytes[PYTHON_FRAME_MAX])
{
	__u64 keys = python_read_pointer(p->current_tasks + p->dict_keys);
	__u64 indices, count, n, len;

	if (!keys || read_user(keys, bytes, PYTHON_KEYS_HEAD))
		return 0;
	indices = python_indices_len(p, bytes);
	count = PYTHON_AT(bytes, __u64, p->keys_count);
	if (!indices || count > 1ULL << PYTHON_KEYS_MAX_LOG2)
		return 0;
	n = count < MAX_CURRENT_ENTRIES ? count : MAX_CURRENT_ENTRIES;
	len = n * sizeof(*entries);
	OPAQUE(len);
	if (!len || len > MAX_CURRENT_ENTRIES * sizeof(*entries) ||
	    read_user(keys + p->keys_entries + indices + (count - n) * sizeof(*entries), entries,
		      len))
		return 0;
	return n;
}

/* Who may be it. entries: room for MAX_CURRENT_ENTRIES. */
static __always_inline void python_tasks_begin(struct python_tasks *t,
					       const struct python_process *p, __u64 tstate,
					       __u8 bytes[PYTHON_FRAME_MAX],
					       struct python_dict_entry *entries)
{
	__u64 n;

	t->n = 0;
	t->task = t->coro = t->root = 0;
	if (p->tstate_task) {
		python_tasks_add(t, p, tstate, python_read_pointer(tstate + p->tstate_task));
		return;
	}
	n = python_last_entries(entries, p, bytes);
	for (__u64 i = 0; i < MAX_CURRENT_ENTRIES; i++)
		if (i < n)
			python_tasks_add(t, p, entries[i].key, entries[i].value);
}

/* A generator of the stack, innermost first, and the number of its frame: only the first task's
   that is met counts. */
static __always_inline void python_tasks_see(struct python_tasks *t, __u64 gen, __u64 frame)
{
	for (__u64 i = 0; i < MAX_CURRENT_TASKS; i++) {
		if (t->task || i >= t->n)
			return;
		if (t->coros[i] == gen) {
			t->task = t->tasks[i];
			t->coro = gen;
			t->root = frame;
		}
	}
}

/*
 * Of a loop of uvloop's the time in ms at which libuv came back from its selector, or 0. A task
 * begins with its loop; the first field of uvloop's, behind its methods, is libuv's, which begins
 * with what it belongs to: that proves that it is one.
 */
static __always_inline __u64 python_uv_time(const struct python_process *p, __u64 loop)
{
	__u64 uv = loop ? python_read_pointer(loop + p->object_head + sizeof(loop)) : 0;

	return uv && python_read_pointer(uv) == loop ? python_read_pointer(uv + UV_LOOP_TIME) : 0;
}

/*
 * Does the thread run this loop of uvloop's? As long as one runs, one of its first fields is
 * pthread_self() of whoever runs it. bytes: to read into.
 */
static __always_inline int python_uv_runs(const struct python_process *p, __u64 loop, __u64 thread,
					  __u8 bytes[PYTHON_FRAME_MAX])
{
	if (read_user(loop + p->object_head, bytes, PYTHON_FRAME_MAX))
		return 0;
	for (__u64 at = 0; at < PYTHON_FRAME_MAX; at += sizeof(thread))
		if (PYTHON_AT(bytes, __u64, at) == thread)
			return 1;
	return 0;
}

/* The address of its name. */
static __always_inline __u64 python_tasks_name(const struct python_tasks *t,
					       const struct python_process *p)
{
	return python_read_pointer(p->task_name ? t->task + p->task_name
						: t->coro + p->gen_qualname);
}

#endif
