/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What CPython processes may take of weft: bytes of names and tables, and work in user space
 * (names, lines, searches). Work is counted in steps of about a nanosecond, not timed, so that it
 * does not depend on the machine. A process has 20 million a second, 2 % of a CPU, and 100 million
 * at once, which is for its start; all together have 50 and 400. What it does not get done stays
 * without its name or line until there are steps again.
 */
#ifndef RUNTIMES_PYTHON_SHARE_H
#define RUNTIMES_PYTHON_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/allowance.h"

struct mem;
struct python_heap;
struct python_layout;

#define PYTHON_STEPS_READ 40	 /* of a word out of a cache of target memory */
#define PYTHON_STEPS_FETCH 10000 /* of a page from the target: core/mem_live.c */
#define PYTHON_STEPS_CODE 100000 /* of a code object from the target */
#define PYTHON_STEPS_COPY 5000	 /* of one from the kernel half's copy */

/* Of all processes. Zeros at first. */
struct python_share {
	struct allowance steps;
	uint64_t now_ns;	/* of what happens: processes_find() */
	size_t max, max_each;	/* bytes, of all and of one process; max 0: no limit */
	size_t held;		/* bytes */
	uint64_t n_refused;	/* times there were no steps left */
	uint64_t n_over_budget; /* code objects that there was no room for */
	bool is_said;
};

/* Says it, once, when something was refused. pid: a process that is near the end of its part. */
void python_share_say(struct python_share *s, pid_t pid);

/* Of one. */
struct python_part {
	struct allowance steps;
	size_t held;
	struct python_share *share;
};

/* Steps that may be used now; 0 is counted as refused. */
uint64_t python_steps_left(struct python_part *p);
void python_steps_use(struct python_part *p, uint64_t n);
/* Uses n steps if there are any left. */
bool python_steps_take(struct python_part *p, uint64_t n);

/* A search in the heap of a process: reads through a cache, as many as there are steps for. */
struct python_search {
	struct mem *cache;
	uint64_t n_pages;
};

/* Makes the cache over m, of cache_bytes, and the heap. 0, -ENOMEM, and what python_heap_init()
   says. */
int python_search_begin(struct python_search *s, struct python_part *p, struct mem *m,
			const struct python_layout *l, size_t cache_bytes, struct python_heap *h);
/* Steps taken so far. */
uint64_t python_search_steps(const struct python_search *s, const struct python_heap *h);
/* Uses the steps that were taken, however it ended. */
void python_search_end(struct python_search *s, struct python_part *p, struct python_heap *h);

/* Is there room for something more? */
bool python_room_is_left(const struct python_part *p);
/* Says how many bytes the process holds now. */
void python_room_hold(struct python_part *p, size_t len);

#endif
