/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPython in a process: what the kernel half must know to walk its frames, and what those frames
 * are. The runtime's table entry is runtime_python (runtimes/runtime.h).
 */
#ifndef RUNTIMES_PYTHON_H
#define RUNTIMES_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/weft.h"
#include "unwinders/python_walk.h"

struct process;
struct processes;
struct python_name_format;
struct runtime_env;
struct walked;

/* Looks for an interpreter in what the process has mapped. True: *out says how to walk it. */
bool python_attach(struct processes *ps, struct process *proc, struct python_process *out);

/* The version of the interpreter in what the process has mapped, as sys.hexversion; 0: none.
 *is_known: it can be walked. */
uint32_t python_version_of(struct processes *ps, struct process *proc, bool *is_known);

/* For a process that was sampled. True: what was not there yet when python_attach() was called is
   now, so it should be called again. */
bool python_settles(struct processes *ps, struct process *proc);

/* All processes together may hold an eighth of so many bytes, each a twelfth. */
void python_limit(struct processes *ps, uint64_t budget);
/* Adds what was counted of all processes. */
void python_count(struct processes *ps, uint64_t *counters);

/* What names look like that were sent with a sample of the process. False: it is not known. */
bool python_name_format(const struct process *proc, struct python_name_format *out);

/* What `threading` calls a thread that was sampled, of a process in which python_explain() found
   Python; the main one has its default where nothing else is known. NULL: it has no name. */
const char *python_thread_name(struct processes *ps, struct process *proc, pid_t tid);

/* Puts the Python frames of a sample between the native ones, as frames that runtime_python knows.
   Returns how many were written to out, at most max; 0: there is no interpreter. Behind them are
   *n_parents frames and marks of what waits for the sample's task, nearest first, where the kernel
   half found that. */
size_t python_explain(const struct runtime_env *env, struct process *proc,
		      const struct walked *stack, struct wire_frame *out, size_t max,
		      size_t *n_parents);

/* The same where it could not: locations of what waits for the task of a sample, nearest first; *n:
   how many. NULL: none. Valid until the next call. */
const uint32_t *python_parents_of(const struct runtime_env *env, struct process *proc,
				  const struct wire_python_task *task, size_t *n);

#endif
