/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One task of asyncio as it is now, while its program runs: all that can change of it, and a mark
 * by which it is known whether that has changed when it is read again.
 */
#ifndef RUNTIMES_PYTHON_TASK_READ_H
#define RUNTIMES_PYTHON_TASK_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtimes/python_chain.h"
#include "runtimes/python_task_head.h"
#include "runtimes/python_tasks.h"

struct python_task_reading {
	struct python_heap *heap;
	struct python_functions *functions;
	struct python_tasks *out; /* to which tasks are added */
	/* Of the task that was read last. */
	bool is_gone; /* it was freed */
	struct python_task_head head;
	struct python_span_ids span;
	uint64_t span_name;
	bool has_span;
	struct python_await_chain chain;
	struct python_waiters waiters; /* python_waiters_deinit() */
	enum python_via via;
	size_t n_name_bytes; /* of all that were added */
};

/* 0 or -ENOMEM. */
int python_task_read(struct python_task_reading *r, uint64_t addr);
/* Of the task that was read: another one when it has gone on. */
uint64_t python_task_mark(const struct python_task_reading *r);
/* What a task waits for is also what the innermost of its coroutines awaits; and only the outermost
   one can have no frame, or not have begun. Else it went on while it was read. */
bool python_task_is_torn(const struct python_task_reading *r);
/* Adds the task that was read. 0 or -ENOMEM. */
int python_task_add(struct python_task_reading *r, uint64_t addr, uint32_t batch);

#endif
