/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads of a CPython process with their Python stacks, read while they run: a stack that kept
 * changing is marked as torn, which means that its frames may never have been there together.
 */
#ifndef RUNTIMES_PYTHON_THREADS_H
#define RUNTIMES_PYTHON_THREADS_H

#include <sys/types.h>

#include "runtimes/python_functions.h"
#include "runtimes/python_heap.h"

#define PYTHON_MAX_THREADS 16384
#define PYTHON_MAX_INTERPS 256
#define PYTHON_MAX_STACK 4096
#define PYTHON_MAX_FRAMES (1u << 20) /* of all threads */

struct python_interp {
	uint64_t addr, modules;
	uint64_t tasks_module; /* variables of asyncio.tasks; 0: not imported */
	int64_t id;
	bool has_c_tasks; /* asyncio's C half is there */
};

struct python_thread_frame {
	uint64_t frame;
	struct python_place place;
};

struct python_thread {
	uint64_t addr, thread_id;
	uint32_t interp; /* index */
	pid_t tid;	 /* as it is seen from here; 0: unknown */
	char *name;	 /* Python's; NULL: none */
	bool has_gil;
	bool is_torn;
	bool is_cut;			    /* the stack: too deep, or its rest could not be read */
	struct python_thread_frame *frames; /* innermost first */
	size_t n_frames;
	uint64_t loop, task; /* asyncio's, that it runs */
};

struct python_threads {
	struct python_interp *interps;
	struct python_thread *threads;
	size_t n_interps, n_threads, cap_interps, cap_threads, n_frames;
	pid_t inner_pid; /* of the process, as it knows it itself; 0: unknown */
};

/* All interpreters and threads; runtime: address of _PyRuntime. h reads through a mem_cache, which
   is made to forget. fs NULL: without stacks. 0 or -ENOMEM; -EBADMSG: there is nothing that could
   be an interpreter. */
int python_threads_read(struct python_heap *h, pid_t pid, uint64_t runtime,
			struct python_functions *fs, struct python_threads *out);
/* The stack of one that was read without. 0 or -ENOMEM. */
int python_threads_read_stack(struct python_heap *h, struct python_functions *fs,
			      struct python_threads *ts, struct python_thread *t);
void python_threads_deinit(struct python_threads *ts);

#endif
