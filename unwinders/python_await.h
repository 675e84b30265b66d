/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What must be known of a CPython process to find which tasks wait for one of asyncio's, and what
 * the search works with (unwinders/python_await.bpf.h). Filled by runtimes/python_asyncio.c.
 * Offsets in bytes; 0: there is no such field.
 */
#ifndef UNWINDERS_PYTHON_AWAIT_H
#define UNWINDERS_PYTHON_AWAIT_H

#include <linux/types.h>

struct python_awaits {
	__u64 parent_key; /* the str "_parent_task", of 3.11 to 3.13's groups; 0: not known yet */
	__u16 head;	  /* bytes by which heads of objects are longer than in builds with a GIL */
	__u16 object_type;
	__u16 type_name; /* 0: nothing of this is known */
	__u16 str_length, str_text;
	__u16 tuple_size, tuple_items;
	__u16 function_closure, function_qualname;
	__u16 callbacks; /* of a future: the first one, two words behind it the list of others */
	__u16 state;
	__u16 awaited_by, awaited_by_is_set; /* from 3.14 on */
	__u16 gen_frame;		     /* to 3.10: a pointer to its frame */
	/* What a suspended frame has on top of its stack: so far before where this points to, */
	__u16 stack_end, stack_back;
	/* or as many words as this int says behind the frame's own, or what it points to (3.10). */
	__u16 stack_depth, stack_values, stack_pointer;
};

/* What threads of pools run, and where their frames have it. Zeros: not known. */
struct python_workers {
	__u64 item_code;		 /* of concurrent.futures' thread._WorkItem.run */
	__u64 future_key, callbacks_key; /* the strs "future" and "_done_callbacks" */
	__u64 future_code;		 /* of anyio's WorkerThread.run */
	__u32 item_place, future_place;	 /* in their frames */
};

/* Bounds of one search; what is beyond is left to user space. */
#define PYTHON_AWAIT_TASKS 16	 /* that wait for one another */
#define PYTHON_AWAIT_FRAMES 32	 /* of one of them */
#define PYTHON_AWAIT_HOPS 4	 /* futures between two of them */
#define PYTHON_AWAIT_CALLBACKS 4 /* of one future, beside the first */
#define PYTHON_AWAIT_CELLS 12	 /* of one callback's closure */
#define PYTHON_AWAIT_WRAPPERS 3	 /* around one generator: anext() with a default has two */

/* Objects of one search that are looked at, whatever the bounds above: some 100 us. A service's
   request takes some 60 for each task that waits. */
#define PYTHON_AWAIT_THINGS 512

/* What an object is, by the name of its type. */
enum python_thing {
	PYTHON_THING_OTHER,
	PYTHON_THING_TASK,
	PYTHON_THING_FUTURE,
	PYTHON_THING_FUTURE_ITER,
	PYTHON_THING_COROUTINE, /* or an async generator */
	PYTHON_THING_GENERATOR,
	PYTHON_THING_WRAPPER, /* leads to the generator it awaits */
	PYTHON_THING_FUNCTION,
	PYTHON_THING_METHOD,
	PYTHON_THING_BUILTIN,
	PYTHON_THING_PARTIAL,
	PYTHON_THING_WAKEUP, /* what wakes a task up, where that is a type of its own */
	PYTHON_THING_TUPLE,
	PYTHON_THING_LIST,
	PYTHON_THING_CELL,
	PYTHON_THING_DERIVED, /* of a class that derives from another one than object */
	N_PYTHON_THINGS,
};

#define PYTHON_KNOWN_THINGS 16 /* a power of two */

struct python_await_state {
	__u64 task;	 /* whose waiter is looked for; 0: there is none */
	__u64 next;	 /* the task or future that its callbacks lead to */
	__u32 via;	 /* enum wire_await, of what is nearest to the task */
	__u32 is_unsure; /* only user space can tell */
	__u32 n_things;	 /* that were looked at */
	__u32 pad;
	/* Types that were asked about in this sample. */
	struct {
		__u64 type;
		__u64 thing;
	} known[PYTHON_KNOWN_THINGS];
};

#endif
