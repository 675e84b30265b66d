/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `threading` calls the threads of a CPython process, 3.7 to 3.15: threading._active, read
 * while the process runs. A thread is looked for when it is first asked for, and again every few
 * seconds, since names change and ids of threads come back.
 */
#ifndef RUNTIMES_PYTHON_NAMES_H
#define RUNTIMES_PYTHON_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "runtimes/python_layout.h"

struct mem;
struct process;
struct processes;
struct python_part;

#define PYTHON_THREAD_NAME_MAX 64 /* bytes with the NUL; a longer name ends in "…" */

#define PYTHON_INNER_TIDS 16 /* threads in another pid namespace, a slot each */

/* Zeros at first. */
struct python_names {
	struct python_named {
		pid_t tid; /* in the process's own pid namespace */
		char name[PYTHON_THREAD_NAME_MAX];
	} * items; /* sorted by tid */
	size_t n, cap;
	uint64_t next_look_ns, pause_ns, good_until_ns;
	struct {
		pid_t tid, inner; /* as it is seen from here, and in its own pid namespace */
	} inner[PYTHON_INNER_TIDS];
};

/* Where they are read. */
struct python_names_source {
	struct python_part *part;
	const struct python_layout *layout;
	uint64_t runtime; /* address of _PyRuntime */
	bool is_musl;
};

/* The name of a thread of a process, by its tid as it is seen from here; looks for it when it is
   time to. NULL: it has none. */
const char *python_names_of(struct python_names *ns, struct processes *ps, struct process *proc,
			    const struct python_names_source *source, pid_t tid);

/* NULL: none is known (any more). tid: in the process's own pid namespace. */
const char *python_names_get(const struct python_names *ns, pid_t tid, uint64_t now_ns);
/* Is it time to look for a thread that has none? A main thread mostly never will: it is looked for
   as often as names are read again. */
bool python_names_is_due(const struct python_names *ns, bool is_main, uint64_t now_ns);
/* Reads all names, as far as there are steps for it; a main thread that nobody renamed has none. */
void python_names_look(struct python_names *ns, struct mem *m,
		       const struct python_names_source *source, uint64_t now_ns);
void python_names_deinit(struct python_names *ns);

#endif
