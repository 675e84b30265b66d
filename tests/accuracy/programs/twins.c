// SPDX-License-Identifier: Apache-2.0
/* Two functions with the same body, which a linker may fold: either name is right then. */
#include "main_loop.h"

static volatile int sink;

FRAME int twin_one(int x)
{
	SPIN(3000000);
	return x + 1;
}

FRAME int twin_two(int x)
{
	SPIN(3000000);
	return x + 1;
}

FRAME int alone(int x)
{
	SPIN(2000000);
	return x + 1;
}

FRAME int calls_both(int x)
{
	return twin_one(x) + twin_two(x) + sink;
}

FRAME int calls_alone(int x)
{
	return alone(x) + sink;
}

FRAME void run(double seconds)
{
	double end = truth_clock() + seconds;

	while (truth_clock() < end) {
		TIMED("main;run;calls_both;(twin_one|twin_two)", sink = calls_both(1));
		TIMED("main;run;calls_alone;alone", sink = calls_alone(1));
	}
}
