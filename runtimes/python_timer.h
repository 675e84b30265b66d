/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Since when a task waits, and until when at most. asyncio writes down neither, but its functions
 * that wait for a time have the time among their local variables, and the handle of their timer,
 * which is due when that is over. Not with uvloop, whose handles do not say when they are due.
 */
#ifndef RUNTIMES_PYTHON_TIMER_H
#define RUNTIMES_PYTHON_TIMER_H

#include "runtimes/python_heap.h"

/* By the loop's clock, which is CLOCK_MONOTONIC. Zeros: not known. */
struct python_timer {
	uint64_t since_ns, due_ns;
};

/* name: of the function of asyncio's that the frame, which is suspended, runs. */
struct python_timer python_timer_read(struct python_heap *h, const char *name, uint64_t frame);

#endif
