/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where CPython 3.7 to 3.15 keep what hangs together in its heap beside frames and code:
 * containers, generators, functions, and the futures and tasks of asyncio's C half. Offsets in
 * bytes, made from the debug information of real interpreters; nothing says them in the process,
 * but for what asyncio says of itself from 3.14 on (section .AsyncioDebug). 0: there is no such
 * field. In free-threaded builds every object begins with a longer head, and is the same behind it.
 */
#ifndef RUNTIMES_PYTHON_HEAP_LAYOUT_H
#define RUNTIMES_PYTHON_HEAP_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "runtimes/python_layout.h"

/* The same in all versions, behind the head of objects as it is in builds with a GIL: to be read by
   python_field() (runtimes/python_heap.h). */
enum {
	PYTHON_LIST_SIZE = 16,
	PYTHON_LIST_ITEMS = 24, /* a pointer */
	PYTHON_DICT_KEYS = 32,
	PYTHON_DICT_VALUES = 40,
	PYTHON_SET_MASK = 32,
	PYTHON_SET_TABLE = 40,
	PYTHON_TYPE_AS_ASYNC = 80,
	PYTHON_TYPE_BASE = 256,
	PYTHON_TYPE_DICT = 264, /* of classes; of static types not from 3.12 on */
	PYTHON_MODULE_DICT = 16,
	PYTHON_METHOD_FUNCTION = 16,
	PYTHON_METHOD_SELF = 24,
	PYTHON_BUILTIN_SELF = 24,
	PYTHON_PARTIAL_FUNCTION = 16,
	PYTHON_PARTIAL_ARGS = 24,
	/* cell.ob_ref, weakref.wr_object, FutureIter.future, TaskWakeupMethWrapper.task,
	   async_generator_asend.ags_gen, coroutine_wrapper.cw_coroutine, the loop's holder */
	PYTHON_FIRST_FIELD = 16,
};

struct python_heap_layout {
	uint16_t
		head; /* bytes by which the heads of objects are longer than in builds with a GIL */
	struct {
		uint16_t managed_dict; /* from 3.11: so far before an object is its dict */
	} object;
	struct {
		uint16_t cached_keys; /* of heap types: the names of their instances' attributes */
	} type;
	struct { /* the table of keys that dicts share */
		uint16_t size, n_entries, indices;
		uint16_t values; /* in a split dict's values: behind their header */
	} keys;
	struct {
		uint16_t closure, qualname;
	} function;
	struct {		 /* generator, coroutine, async_generator */
		uint16_t frame;	 /* to 3.10: a pointer to it */
		uint16_t iframe; /* from 3.11: the frame itself */
		uint16_t qualname;
		uint16_t state; /* from 3.11: int8_t */
	} gen;
	struct {
		uint16_t stack_top;    /* to 3.9: pointer behind the last value, NULL: it runs */
		uint16_t stack;	       /* 3.10: pointer to the first value */
		uint16_t stack_depth;  /* 3.10: int, values; 3.11 to 3.13: values from localsplus on
					*/
		uint16_t stack_behind; /* from 3.14: pointer behind the last value */
		uint16_t state;	       /* 3.10: int8_t */
		uint16_t gen;	       /* to 3.10: the generator that it is of */
	} frame;
	struct {
		uint16_t callback, callbacks; /* the first one, a list of tuples with the others */
		uint16_t awaited_by, awaited_by_is_set; /* from 3.14 */
		uint16_t state;				/* int; 0 pending, 1 cancelled, 2 done */
	} future;
	struct {
		uint16_t waiter, coro;
		uint16_t name; /* from 3.8 */
		uint16_t node; /* from 3.14: in the list of all tasks */
		uint16_t context;
	} task;
	struct {
		uint16_t dict; /* to 3.12: PyThreadState_GetDict(), which has the running loop */
		uint16_t running_loop;	      /* from 3.13 */
		uint16_t running_task, tasks; /* from 3.14 */
	} thread;
	struct {
		uint16_t tasks; /* from 3.14: of threads that ended */
	} interp;
};

#define PYTHON_FUTURE_LOOP 16

/* -ENOTSUP: 3.6, which keeps its tasks where nobody finds them, or something newer than this
   program. */
int python_heap_layout_of(const struct python_layout *l, struct python_heap_layout *out);

/* Takes what the section .AsyncioDebug says, from 3.14 on. -EBADMSG: that cannot be. */
int python_heap_layout_learn(struct python_heap_layout *l, const void *section, size_t len);

#endif
