/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When to look into a running interpreter for a module that may have been imported meanwhile: only
 * when modules came or went, and a small share of the time and of the process's steps.
 */
#ifndef RUNTIMES_PYTHON_LOOK_H
#define RUNTIMES_PYTHON_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtimes/python_heap.h"
#include "runtimes/python_share.h"

#define PYTHON_LOOK_INTERPS 8 /* that are asked: the main one, then the newest */

/* All zeros at first. */
struct python_look {
	/* modules of the interpreters as they were at the last search, and when to ask again */
	uint64_t modules, next_ns, pause_ns;
	uint64_t new_ns; /* when they were last seen to have changed, or first at all */
	bool is_half;	 /* a module was there, but not yet all that was wanted of it */
};

/* Is it time to ask? */
bool python_look_is_due(const struct python_look *look, uint64_t now_ns);

/* Searches in one interpreter, whose sys.modules these are. False: that was it. May set *is_half.
   When h->n_left is 0 there were not steps enough to be certain of anything. */
typedef bool python_search_fn(void *ctx, struct python_heap *h, uint64_t modules, bool *is_half);

/* Asks, and searches if there may be something new. runtime: address of _PyRuntime. False: what was
   found before still holds. */
bool python_look(struct python_look *look, struct python_part *part, struct mem *m,
		 const struct python_layout *l, uint64_t runtime, uint64_t now_ns,
		 python_search_fn *fn, void *ctx);

#endif
