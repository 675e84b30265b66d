/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The asyncio task that a thread executes while its coroutine is not on the stack, 3.7 to 3.15:
 * that of a greenlet which the task runs, as SQLAlchemy's, or the task has just begun a step or
 * ended one. It is what asyncio.current_task() would say there: from 3.14 on the thread state has
 * it, before that the loop that the thread runs, under which the dict of all threads has the task.
 * Plain C as unwinders/python.bpf.h is, with the same read_user().
 */
#ifndef UNWINDERS_PYTHON_RUNNING_BPF_H
#define UNWINDERS_PYTHON_RUNNING_BPF_H

#include "unwinders/python_span.bpf.h"
#include "unwinders/python_task.bpf.h"

/* Where threads have the loop that they run, to 3.12. */
#define PYTHON_LOOP_KEY "__asyncio_running_event_loop__"
#define PYTHON_LOOP_KEY_LEN (sizeof(PYTHON_LOOP_KEY) - 1)
#define PYTHON_LOOP_KEY_WORDS 4
/* Of a thread's own dict, which has one for each threading.local that it used. */
#define PYTHON_THREAD_ENTRIES 32

static const char python_loop_key[8 * PYTHON_LOOP_KEY_WORDS] __attribute__((aligned(8))) =
	PYTHON_LOOP_KEY;

static __always_inline int python_is_loop_key(const struct python_process *p, __u64 str)
{
	const __u64 *wanted = (const __u64 *)python_loop_key;
	__u64 words[PYTHON_LOOP_KEY_WORDS], others = 0;

	if (!str || python_read_pointer(str + p->awaits.str_length) != PYTHON_LOOP_KEY_LEN ||
	    read_user(str + p->awaits.str_text, words, sizeof(words)))
		return 0;
	words[PYTHON_LOOP_KEY_WORDS - 1] &=
		~0ULL >> 8 * (sizeof(python_loop_key) - PYTHON_LOOP_KEY_LEN);
	for (int i = 0; i < PYTHON_LOOP_KEY_WORDS; i++)
		others |= words[i] ^ wanted[i];
	return !others;
}

/* What a thread's dict has for its loop; 0: it has none. */
static __always_inline __u64 python_loop_entry(const struct python_process *p, __u64 dict,
					       __u8 bytes[PYTHON_SPAN_BYTES])
{
	__u64 keys = dict ? python_read_pointer(dict + p->dict_keys) : 0, entries, n, width;

	if (!keys || read_user(keys, bytes, PYTHON_KEYS_HEADER))
		return 0;
	entries = python_keys_shape(&p->spans, bytes, &width);
	n = PYTHON_SPAN_AT(bytes, p->keys_count);
	for (__u64 i = 0; i < PYTHON_THREAD_ENTRIES; i++) {
		__u64 pair[2]; /* key, value */

		if (i >= n || !entries ||
		    read_user(keys + entries + (i + 1) * width - sizeof(pair), pair, sizeof(pair)))
			return 0;
		if (python_is_loop_key(p, pair[0]))
			return pair[1];
	}
	return 0;
}

/* The task of this loop, if any. */
static __always_inline int python_tasks_take(struct python_tasks *t, __u64 loop)
{
	for (__u64 i = 0; i < MAX_CURRENT_TASKS; i++) {
		if (!loop || i >= t->n)
			return 0;
		if (t->loops[i] != loop)
			continue;
		t->task = t->tasks[i];
		t->coro = t->coros[i];
		t->root = WIRE_TASK_ELSEWHERE;
		return 1;
	}
	return 0;
}

/* bytes: to read into. */
static __always_inline void python_tasks_running(struct python_tasks *t,
						 const struct python_process *p, __u64 tstate,
						 __u8 bytes[PYTHON_SPAN_BYTES])
{
	__u64 held;

	if (p->tstate_task) {
		python_tasks_take(t, tstate); /* as which python_tasks_begin() has it */
	} else if (p->tstate_loop) {
		python_tasks_take(t, python_read_pointer(tstate + p->tstate_loop));
	} else if (p->tstate_dict) {
		held = python_loop_entry(p, python_read_pointer(tstate + p->tstate_dict), bytes);
		/* In 3.12 the loop itself; before, an object's first field. */
		if (held && !python_tasks_take(t, held))
			python_tasks_take(t, python_read_pointer(held + p->dict_keys -
								 PYTHON_DICT_KEYS_FIELD + 16));
	}
}

#endif
