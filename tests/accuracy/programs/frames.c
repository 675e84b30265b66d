// SPDX-License-Identifier: Apache-2.0
/* Frames of unusual size: alloca, a variable array, 100 kB, a realigned stack, both at once. */
#include <alloca.h>

#include "main_loop.h"

static volatile int sink = 1;

#define USE(p) __asm__ volatile("" : : "r"(p) : "memory")

FRAME void bottom(long n)
{
	SPIN(n);
}

FRAME int with_alloca(int n)
{
	char *p = (char *)alloca((size_t)n * 64);

	USE(p);
	bottom(2000000);
	USE(p);
	return p[0] + sink;
}

FRAME int with_array(int n)
{
	int array[n];

	USE(array);
	bottom(2100000);
	USE(array);
	return array[n - 1] + sink;
}

FRAME int with_100kb(void)
{
	char big[100 * 1024];

	USE(big);
	bottom(2200000);
	USE(big);
	return big[7] + sink;
}

FRAME int realigned(void)
{
	char vector[64] __attribute__((aligned(64)));

	USE(vector);
	bottom(2300000);
	USE(vector);
	return vector[3] + sink;
}

/* The stack pointer moves after the realignment: the frame is found through a pointer kept in it.
 */
FRAME int realigned_array(int n)
{
	char vector[128] __attribute__((aligned(128)));
	char *p = (char *)alloca((size_t)n * 32);

	USE(vector);
	USE(p);
	bottom(2400000);
	USE(vector);
	return vector[3] + p[1] + sink;
}

FRAME void run(double seconds)
{
	double end = truth_clock() + seconds;

	while (truth_clock() < end) {
		TIMED("main;run;with_alloca;bottom", sink |= with_alloca(33) & 1);
		TIMED("main;run;with_array;bottom", sink |= with_array(900 + sink) & 1);
		TIMED("main;run;with_100kb;bottom", sink |= with_100kb() & 1);
		TIMED("main;run;realigned;bottom", sink |= realigned() & 1);
		TIMED("main;run;realigned_array;bottom", sink |= realigned_array(17) & 1);
	}
}
