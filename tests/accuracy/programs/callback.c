// SPDX-License-Identifier: Apache-2.0
/* A callback from libc: the frames of qsort stand between ours, however many it has. */
#include "main_loop.h"

#define N 4096

static unsigned values[N];

FRAME int compare(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	SPIN(300);
	return x < y ? -1 : x > y;
}

FRAME void sorts(void)
{
	for (int i = 0; i < N; i++)
		values[i] = (unsigned)i * 2654435761u;
	qsort(values, N, sizeof(*values), compare);
	NOT_TAIL();
}

FRAME void run(double seconds)
{
	double end = truth_clock() + seconds;

	while (truth_clock() < end) {
		TIMED("main;run;sorts(;{plt})?(;{libc}(;{plt}|;compare)?)?", sorts());
	}
}
