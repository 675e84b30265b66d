/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the search for a thread's asyncio task works with (unwinders/python_task.bpf.h). */
#ifndef UNWINDERS_PYTHON_TASK_H
#define UNWINDERS_PYTHON_TASK_H

#include <linux/types.h>

/* Threads that execute a task at the same moment. */
#define MAX_CURRENT_TASKS 12
/* A dict keeps the places of what was taken out until it is full: with one loop it has up to 5
   entries, with two up to 10 (from 3.11 on), with six to ten up to 21. */
#define MAX_CURRENT_ENTRIES 21

struct python_dict_entry {
	__u64 hash, key, value;
};

struct python_tasks {
	__u64 n; /* tasks that loops execute, whichever thread's */
	__u64 tasks[MAX_CURRENT_TASKS], coros[MAX_CURRENT_TASKS];
	__u64 names[MAX_CURRENT_TASKS]; /* what follows the coroutine in a task; there mostly */
	__u64 task, coro, name; /* whose coroutine is on this thread's stack; task 0: none yet */
	__u64 root;		/* number of its frame there */
	struct python_dict_entry entries[MAX_CURRENT_ENTRIES];
};

#endif
