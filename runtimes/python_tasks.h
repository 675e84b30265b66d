/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The asyncio tasks of a CPython process and what they wait for, read while it runs. A suspended
 * task does not change, so one that is the same before and after it was read was read right; one
 * that kept changing is left out and counted.
 */
#ifndef RUNTIMES_PYTHON_TASKS_H
#define RUNTIMES_PYTHON_TASKS_H

#include "runtimes/python_functions.h"
#include "runtimes/python_heap.h"
#include "runtimes/python_spans.h"
#include "runtimes/python_timer.h"
#include "runtimes/python_waiters.h"

enum python_task_state {
	PYTHON_TASK_RUNNING,  /* its coroutine is being executed */
	PYTHON_TASK_RUNNABLE, /* the loop will go on with it */
	PYTHON_TASK_WAITING,
	PYTHON_TASK_DONE,
};

struct python_task {
	uint64_t addr, coro, loop;
	uint64_t awaits; /* the future or task that it waits for; 0: none */
	char *name;	 /* NULL: 3.7 has none */
	uint8_t state;	 /* enum python_task_state */
	uint8_t via;	 /* enum python_via of what it awaits */
	uint32_t thread; /* number of the thread that runs its loop, from 1; 0: none does */
	bool awaits_task;
	bool has_span; /* it is suspended in one */
	struct python_span_ids span;
	char *span_name;		  /* NULL: it has none */
	bool is_started;		  /* its coroutine has begun */
	bool is_cut;			  /* the chain: too deep, or in a circle */
	uint32_t call;			  /* function of asyncio's that it waits in; 0: none */
	uint32_t batch;			  /* tasks of the same one were there at the same moment */
	bool has_moved;			  /* since: it is not known to go with those of others */
	uint64_t mark;			  /* of everything that changes when it goes on */
	struct python_timer timer;	  /* since when it waits, where that can be known */
	uint32_t coroutine;		  /* function that it runs; 0: no Python coroutine */
	uint32_t first_place, n_places;	  /* await chain in places, outermost first */
	uint32_t first_waiter, n_waiters; /* in waiters */
};

struct python_tasks {
	struct python_task *tasks;
	struct python_place *places;
	struct python_waiters waiters;
	size_t n, n_places;
	size_t cap, cap_places, cap_changed;
	uint64_t *changed; /* addresses of those that kept changing, or were not reached */
	size_t n_changed;
	bool is_cut;	 /* some have more waiters than are here */
	bool has_timers; /* asked for by who reads them: the tasks' timers are read too */
	/* For python_tasks_read(): where OpenTelemetry is; var 0: nobody asks for spans. */
	struct python_spans spans;
};

/* Reads the tasks at these addresses, a set of 8-byte strings. h reads through a mem_cache, which
   is made to forget; those that its reads do not suffice for are among `changed`. 0 or -ENOMEM. */
int python_tasks_read(struct python_heap *h, const struct intern *addresses,
		      struct python_functions *fs, struct python_tasks *out);
/* Drops the tasks that are not in a set of addresses. */
void python_tasks_keep(struct python_tasks *ts, const struct intern *addresses);
void python_tasks_deinit(struct python_tasks *ts);

#define PYTHON_REASON_MAX 128
/* Why a task waits: "sleep", "Queue.get", "gather", "task", ...; "" when it does not. */
const char *python_task_reason(const struct python_task *t, const struct python_functions *fs,
			       char out[PYTHON_REASON_MAX]);
const char *python_task_state_name(enum python_task_state state);

#endif
