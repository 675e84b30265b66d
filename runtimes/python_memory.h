/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is kept of one CPython program from one reading of its memory to the next, so that this need
 * not read it again. Nothing is taken for granted: what may have changed says itself whether it
 * still holds.
 */
#ifndef RUNTIMES_PYTHON_MEMORY_H
#define RUNTIMES_PYTHON_MEMORY_H

#include "runtimes/python_functions.h"
#include "runtimes/python_heap.h"

#define PYTHON_MEMORY_PAGES 512

struct python_memory {
	struct python_heap_memory heap;
	struct python_functions *functions;  /* NULL: none yet */
	uint64_t pages[PYTHON_MEMORY_PAGES]; /* that were looked at; none when they were more */
	size_t n_pages;
};

struct python_memory *python_memory_new(void);
void python_memory_free(struct python_memory *m);
/* To be asked for before each reading: drops them when they have become many, which makes their ids
   invalid. NULL: no memory. */
struct python_functions *python_memory_functions(struct python_memory *m);
/* Bytes, about. */
size_t python_memory_size(const struct python_memory *m);

#endif
