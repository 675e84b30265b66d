// SPDX-License-Identifier: Apache-2.0
/* Asks for the time over and over: the leaf is in the vdso, its callers in libc and here. */
#include "main_loop.h"

static volatile long sink;

FRAME void tell(int n)
{
	struct timespec ts;

	for (int i = 0; i < n; i++) {
		clock_gettime(CLOCK_MONOTONIC, &ts);
		sink = ts.tv_nsec;
	}
}

FRAME void asks(int n)
{
	tell(n);
	NOT_TAIL();
}

FRAME void run(double seconds)
{
	double end = truth_clock() + seconds;

	while (truth_clock() < end) {
		TIMED("main;run;asks;tell(;{plt})?(;{libc})?(;{vdso})?", asks(100000));
	}
}
