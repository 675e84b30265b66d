/* SPDX-License-Identifier: Apache-2.0 */
/* A CPython process at one moment: its threads, their stacks, and its asyncio tasks. It is never
   stopped. */
#ifndef RUNTIMES_PYTHON_DUMP_H
#define RUNTIMES_PYTHON_DUMP_H

#include <sys/types.h>

#include "runtimes/python_functions.h"
#include "runtimes/python_memory.h"
#include "runtimes/python_tasks.h"
#include "runtimes/python_threads.h"

struct mem;
struct processes;

enum python_dump_what {
	PYTHON_DUMP_ALL,
	/* Of threads only who they are, and the stacks of those that execute a task. To 3.10
	   functions that are no coroutines have plain names then. */
	PYTHON_DUMP_TASKS,
};

struct python_dump {
	uint32_t version; /* sys.hexversion */
	bool is_cut;	  /* there was more than weft reads */
	bool has_more;	  /* tasks than PYTHON_MAX_TASKS */
	uint64_t time_ns; /* CLOCK_MONOTONIC, when the tasks were read */
	struct python_functions *functions;
	bool borrows_functions; /* of the memory that it was read with */
	struct python_threads threads;
	struct python_tasks tasks;
};

/*
 * 0, or what went wrong: -ESRCH the process is gone, -EPERM its memory may not be read, -ENOENT it
 * has no interpreter, -ENOTSUP one of a version (out->version) or build that is not known, -EBADMSG
 * one that does not look like one inside, -ETIMEDOUT it keeps whoever reads it waiting, -ENOMEM.
 * out is to be freed in any case. memory is what earlier readings of the same program learned, for
 * the next one; NULL: this is the only one.
 */
int python_dump_read(struct processes *ps, pid_t pid, enum python_dump_what what,
		     struct python_memory *memory, struct python_dump *out);
/* The same for an interpreter that is known, out of any memory: runtime is the address of its
   _PyRuntime, asyncio what its section .AsyncioDebug says (NULL: there is none). */
int python_dump_memory(struct mem *m, pid_t pid, const struct python_layout *l, uint64_t runtime,
		       const void *asyncio, size_t asyncio_len, enum python_dump_what what,
		       struct python_memory *memory, struct python_dump *out);
/* The thread that runs a task's loop; NULL: none does. */
const struct python_thread *python_dump_thread(const struct python_dump *d,
					       const struct python_task *t);
void python_dump_deinit(struct python_dump *d);

#endif
