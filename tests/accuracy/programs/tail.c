// SPDX-License-Identifier: Apache-2.0
/* Calls in tail position become jumps: who jumped has no frame any more. */
#include "main_loop.h"

static volatile int sink;

FRAME int landed(int x)
{
	SPIN(4000000);
	return x + sink;
}

FRAME int jumps_twice(int x)
{
	return landed(x + sink);
}

FRAME int jumps(int x)
{
	return jumps_twice(x * 2);
}

FRAME int caller(int x)
{
	int r = jumps(x);

	NOT_TAIL();
	return r + sink;
}

FRAME int other_landed(int x)
{
	SPIN(2000000);
	return x - sink;
}

/* Frees a frame of its own before it jumps. */
FRAME int frees_and_jumps(int x)
{
	__asm__ volatile("" : : : "rbx", "r12", "r13", "r14", "r15");
	return other_landed(x);
}

FRAME int other_caller(int x)
{
	int r = frees_and_jumps(x);

	NOT_TAIL();
	return r + sink;
}

FRAME void run(double seconds)
{
	double end = truth_clock() + seconds;

	while (truth_clock() < end) {
		TIMED("main;run;caller;landed", sink = caller(1));
		TIMED("main;run;other_caller;other_landed", sink = other_caller(2));
	}
}
