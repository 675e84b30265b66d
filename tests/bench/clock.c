// SPDX-License-Identifier: Apache-2.0
/* A function for clock.py, as a library: looks at the clock all the time, and adds up while it
 * runs. */
#include <stdint.h>
#include <time.h>

#define STOP_NS 1000 /* what took longer between two looks was no look: it was stopped */

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void watch(volatile uint64_t *ran_ns)
{
	for (uint64_t last = now();;) {
		uint64_t t = now();

		if (t - last < STOP_NS)
			*ran_ns += t - last;
		last = t;
	}
}
