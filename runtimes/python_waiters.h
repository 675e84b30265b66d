/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who waits for a future or task: 3.14 and later write it down (awaited_by); before, it is what its
 * callbacks will do: wake a task up, or finish another future that some task waits for.
 */
#ifndef RUNTIMES_PYTHON_WAITERS_H
#define RUNTIMES_PYTHON_WAITERS_H

#include "runtimes/python_heap.h"

/* How one task waits for another, and what a future that is no task stands for. */
enum python_via {
	PYTHON_VIA_AWAIT,
	PYTHON_VIA_GATHER,
	PYTHON_VIA_WAIT,
	PYTHON_VIA_WAIT_FOR,
	PYTHON_VIA_SHIELD,
	PYTHON_VIA_TASK_GROUP,
	PYTHON_VIA_EXECUTOR, /* only of futures */
};

/* "await", "gather", ... */
const char *python_via_name(enum python_via via);

struct python_waiter {
	uint64_t task;
	enum python_via via;
};

struct python_waiters {
	struct python_waiter *items;
	size_t n, cap;
};

/* Adds the tasks that wait for it, at most max. 0, -E2BIG: there are more, or -ENOMEM. */
int python_waiters_add(struct python_heap *h, uint64_t future, size_t max,
		       struct python_waiters *out);
void python_waiters_deinit(struct python_waiters *ws);

/* What a future that is no task stands for: gather, shield, executor, else await. */
enum python_via python_future_via(struct python_heap *h, uint64_t future);

#endif
