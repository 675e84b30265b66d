/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The asyncio task a sample of a CPython process is of: what the kernel half must know to find it,
 * 3.7 to 3.15, and its name. Only tasks of asyncio's C half, which every interpreter has that was
 * not built without it.
 */
#ifndef RUNTIMES_PYTHON_ASYNCIO_H
#define RUNTIMES_PYTHON_ASYNCIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/weft.h"
#include "runtimes/python.h"
#include "runtimes/python_heap_layout.h"
#include "runtimes/python_layout.h"
#include "runtimes/python_look.h"
#include "runtimes/python_share.h"
#include "runtimes/python_workers.h"
#include "unwinders/python_walk.h"

struct mem;

/* What was found in a process. Zeros before it was looked for. */
struct python_asyncio {
	struct python_heap_layout at;
	bool is_known;		/* at holds */
	bool is_in_thread;	/* from 3.14 on: the thread state says its task */
	uint64_t current_tasks; /* to 3.13: a dict; 0: not imported */
	/* The str "_parent_task", 3.11 to 3.13: where groups have their task; 0: not seen. */
	uint64_t parent_key;
	bool is_parent_key_new; /* the kernel half has not heard of it */
	struct python_look look;
	struct python_pools pools;
};

/* From 3.14 on, with the section .AsyncioDebug of a file that is mapped. */
void python_asyncio_learn(struct python_asyncio *a, const struct python_layout *l,
			  const void *section, size_t len);
/* To 3.13: whether asyncio was imported meanwhile; then of pools of threads; looks only when
   modules came or went, and a small share of the time and of the process's steps. runtime: address
   of _PyRuntime. True: something else is known now. */
bool python_asyncio_look(struct python_asyncio *a, struct python_part *part, struct mem *m,
			 const struct python_layout *l, uint64_t runtime, uint64_t now_ns);
/* Is it time to? Later versions say by themselves whether there is asyncio. */
bool python_asyncio_is_due(const struct python_asyncio *a, const struct python_layout *l,
			   uint64_t now_ns);
void python_asyncio_set(const struct python_asyncio *a, struct python_process *out);
/* What the kernel half needs to find what waits for a task. */
void python_asyncio_set_awaits(const struct python_asyncio *a, const struct python_layout *l,
			       struct python_awaits *out);
/* Where groups have their task was seen. */
void python_asyncio_note(struct python_asyncio *a, const struct python_layout *l,
			 uint64_t parent_key);

#endif
