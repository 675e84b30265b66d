/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of an asyncio task, of the C half or the Python half. */
#ifndef RUNTIMES_PYTHON_TASK_HEAD_H
#define RUNTIMES_PYTHON_TASK_HEAD_H

#include "runtimes/python_heap.h"

struct python_task_head {
	uint64_t coro, waiter, loop, name, context;
	bool is_done;
	bool is_woken; /* what it waits for is done, it only was not executed yet */
};

/* Only its loop: what the rest of it refers to is not read. */
uint64_t python_task_loop(struct python_heap *h, uint64_t task);
struct python_task_head python_task_head(struct python_heap *h, uint64_t task);
/* Its name, to be freed; NULL: it has none, or it cannot be read. */
char *python_task_name(struct python_heap *h, uint64_t name);

#endif
