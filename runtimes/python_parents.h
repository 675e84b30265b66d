/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What waits for the asyncio task that a CPU sample is of, where the kernel half could not tell
 * (unwinders/python_await.bpf.h): the await chains of its parents, read from the process soon after
 * the sample, while it runs on. The kernel half copied what the task's future will do when it is
 * done; only while that, the task, its coroutine and its name are still the same is what is found
 * taken for what was so. What is known of a task is kept for a few samples.
 */
#ifndef RUNTIMES_PYTHON_PARENTS_H
#define RUNTIMES_PYTHON_PARENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/weft.h"
#include "runtimes/python_heap_layout.h"
#include "runtimes/python_layout.h"
#include "runtimes/python_share.h"

struct mem;
struct profile;

/* Of one program in one process. */
struct python_parents;

struct python_parents *python_parents_new(void);
void python_parents_free(struct python_parents *pp);
size_t python_parents_memory(const struct python_parents *pp);

/* Where they are read. */
struct python_parents_source {
	struct mem *mem; /* the process's memory */
	struct python_part *part;
	const struct python_layout *layout;
	const struct python_heap_layout *at;
};

struct python_parents_found {
	const uint32_t *locations; /* of the profile, leaf first; valid until the next call */
	size_t n;
	bool is_lost; /* some of them are not known; the last location is a mark that says so */
	uint64_t parent_key; /* where groups have their task; 0: not met */
};

/* now_ns: CLOCK_MONOTONIC. */
struct python_parents_found python_parents_get(struct python_parents *pp,
					       const struct python_parents_source *source,
					       const struct wire_python_task *task, uint64_t now_ns,
					       struct profile *p);

#endif
