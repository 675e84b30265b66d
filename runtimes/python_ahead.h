/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what will be asked of many asyncio tasks before it is: going to the process that reads the
 * target's memory costs far more than a page, so that pages are fetched for all of them together,
 * from one object to those that it refers to. What is found is what the pages say; nothing else
 * depends on it.
 */
#ifndef RUNTIMES_PYTHON_AHEAD_H
#define RUNTIMES_PYTHON_AHEAD_H

#include <stddef.h>
#include <stdint.h>

#include "runtimes/python_heap.h"

/* h reads through a mem_cache. The first few levels of what the tasks refer to. */
void python_ahead_tasks(struct python_heap *h, const uint64_t *tasks, size_t n);
/* What weak references in a set refer to. */
void python_ahead_references(struct python_heap *h, uint64_t set);

#endif
