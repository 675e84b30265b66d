/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The logical stacks of the asyncio tasks in a dump: a task's await chain, behind it the chain of
 * the task that waits for it, and so on. Equal stacks have the same number, whichever tasks they
 * are of. A task that several others wait for continues into them only when their stacks are the
 * same; and what is not known is left out and marked, never guessed.
 */
#ifndef RUNTIMES_PYTHON_LOGICAL_H
#define RUNTIMES_PYTHON_LOGICAL_H

#include "runtimes/python_dump.h"

struct profile;

/* How a stack ends at its root. */
enum python_logical_end {
	PYTHON_LOGICAL_WHOLE,
	PYTHON_LOGICAL_SEVERAL, /* tasks with different stacks wait for it */
	PYTHON_LOGICAL_CHANGED, /* who waits for it could not be read, or went on meanwhile */
	PYTHON_LOGICAL_CIRCLE,	/* it waits for itself */
	PYTHON_LOGICAL_CUT,	/* an await chain too deep, or in a circle */
};

struct python_logical;

/* For all tasks of a dump, which is borrowed. NULL: no memory. */
struct python_logical *python_logical_new(const struct python_dump *d);
void python_logical_free(struct python_logical *l);

/* The number of a task's stack, from 1; tasks count from 0 as they do in the dump. */
uint32_t python_logical_id(const struct python_logical *l, size_t task);
enum python_logical_end python_logical_end(const struct python_logical *l, uint32_t id);

#define PYTHON_LOGICAL_MAX 1024 /* frames and marks */

/* Its frames as locations of a profile, leaf first, with a mark between task and task that says how
   one waits for the other, and one at the root when it does not end there; out has room for
   PYTHON_LOGICAL_MAX. Returns how many. */
size_t python_logical_locations(const struct python_logical *l, uint32_t id, struct profile *p,
				uint32_t *out);
/* The same without the task's own chain: what is behind it. */
size_t python_logical_parents(const struct python_logical *l, uint32_t id, struct profile *p,
			      uint32_t *out);
/* The mark of a stack that does not end at its root. 0: there is none. */
uint32_t python_logical_mark(struct profile *p, enum python_logical_end end);
/* One Python frame, as a location. */
uint32_t python_place_location(struct profile *p, const struct python_functions *fs,
			       struct python_place place);

#endif
