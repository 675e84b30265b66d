/* SPDX-License-Identifier: Apache-2.0 */
/* Which asyncio tasks a CPython process has. */
#ifndef RUNTIMES_PYTHON_TASK_LIST_H
#define RUNTIMES_PYTHON_TASK_LIST_H

#include "runtimes/python_heap.h"

#define PYTHON_MAX_TASKS (1u << 17)

/* Adds the addresses of an interpreter's tasks to a set of 8-byte strings. module: the variables of
   asyncio.tasks, 0: it is not imported. False: there are more than anyone should have. */
bool python_tasks_of_interp(struct python_heap *h, uint64_t interp, uint64_t module,
			    struct intern *tasks);
/* The same for those that a thread keeps itself, from 3.14 on. */
bool python_tasks_of_thread(struct python_heap *h, uint64_t thread, struct intern *tasks);

/* Adds the loop of each task, both as sets of 8-byte strings. */
void python_tasks_loops(struct python_heap *h, const struct intern *tasks, struct intern *loops);

/* Where to look for the loop that a thread runs. */
struct python_loops {
	const struct intern *known; /* loops of tasks, as a set of 8-byte strings */
	uint32_t pid;		    /* the process's, as it knows it itself; 0: unknown */
	bool has_c_half;	    /* of asyncio, which knows better than the loops do */
};

/* The loop that a thread runs, 0: none. What a process that was forked has of its parent's does not
   run there. */
uint64_t python_running_loop(struct python_heap *h, uint64_t thread,
			     const struct python_loops *loops);
/* The task that the loop of a thread is executing, 0: none. */
uint64_t python_running_task(struct python_heap *h, uint64_t thread, uint64_t loop,
			     uint64_t module);

#endif
