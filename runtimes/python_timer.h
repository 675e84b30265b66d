/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Since when a task waits, and until when at most. asyncio writes down neither, but its functions
 * that wait for a time have the time among their local variables, and the handle of their timer,
 * which is due when that is over; and what is inside `async with asyncio.timeout()` (3.11 on) has
 * the Timeout, which says when it ends, on its stack.
 */
#ifndef RUNTIMES_PYTHON_TIMER_H
#define RUNTIMES_PYTHON_TIMER_H

#include "runtimes/python_chain.h"
#include "runtimes/python_heap.h"

/* By the loop's clock, which is CLOCK_MONOTONIC. Zeros: not known. */
struct python_timer {
	uint64_t since_ns, due_ns;
};

/* name: of the function of asyncio's that the frame, which is suspended, runs. */
struct python_timer python_timer_read(struct python_heap *h, const char *name, uint64_t frame);
/* Of a task that waits: of the innermost functions that are asyncio's the one that waits for a
   time, and the first of all limits to end that it is inside of. Since when it waits is known only
   where all that is inside is asyncio's: other functions may have gone on meanwhile. places: of the
   chain's frames, functions in fs. */
struct python_timer python_timer_of(struct python_heap *h, uint64_t task,
				    const struct python_await_chain *chain,
				    const struct python_functions *fs,
				    const struct python_place *places);

#endif
