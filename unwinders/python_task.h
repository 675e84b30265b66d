/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the search for a thread's asyncio task works with (unwinders/python_task.bpf.h). */
#ifndef UNWINDERS_PYTHON_TASK_H
#define UNWINDERS_PYTHON_TASK_H

#include <linux/types.h>

/* Threads that execute a task at the same moment: as a pool of them does in which each has a loop.
 */
#define MAX_CURRENT_TASKS 64
/* A dict keeps the places of what was taken out until it is full: with one loop it has up to 5
   entries, with two up to 10 (from 3.11 on), with six to ten up to 21, with forty up to 85. */
#define MAX_CURRENT_ENTRIES 128

struct python_dict_entry {
	__u64 hash, key, value;
};

struct python_tasks {
	__u64 n;			/* tasks that loops execute, whichever thread's */
	__u64 loops[MAX_CURRENT_TASKS]; /* from 3.14 on the thread state instead */
	__u64 tasks[MAX_CURRENT_TASKS], coros[MAX_CURRENT_TASKS];
	__u64 task, coro; /* that which this thread executes; task 0: none yet */
	__u64 root;	  /* number of its coroutine's frame, or WIRE_TASK_ELSEWHERE */
};

#endif
