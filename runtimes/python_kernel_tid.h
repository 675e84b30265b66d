/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's id of a Python thread. */
#ifndef RUNTIMES_PYTHON_KERNEL_TID_H
#define RUNTIMES_PYTHON_KERNEL_TID_H

#include <sys/types.h>

#include "runtimes/python_heap.h"

/* As it is seen from here, also when the thread has another id in its own pid namespace. thread:
   its PyThreadState; thread_id: its pthread_self(). 0: unknown, or it ended. */
pid_t python_kernel_tid(struct python_heap *h, pid_t pid, uint64_t thread, uint64_t thread_id);

#endif
