/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's ids of a process's Python threads. */
#ifndef RUNTIMES_PYTHON_TIDS_H
#define RUNTIMES_PYTHON_TIDS_H

#include <sys/types.h>

#include "runtimes/python_heap.h"

/* The threads that the process has now, by their ids in its own pid namespace. */
struct python_tids {
	struct python_tid {
		pid_t inner, tid;
	} * items; /* sorted by inner */
	size_t n, cap;
};

/* 0 or -ENOMEM; none when the process is gone. */
int python_tids_read(pid_t pid, struct python_tids *out);
/* What a thread is called in there; 0: it is not among them. */
pid_t python_tids_inner(const struct python_tids *ts, pid_t tid);
void python_tids_deinit(struct python_tids *ts);

/* A thread as it is seen from here. thread: its PyThreadState; thread_id: its pthread_self().
   0: unknown, or it ended. */
pid_t python_tid(const struct python_tids *ts, struct python_heap *h, uint64_t thread,
		 uint64_t thread_id);

#endif
