// SPDX-License-Identifier: Apache-2.0
/* Exceptions in flight: thrown through frames that clean up, caught far above; ticks hit the
 * unwinder. */
#include "main_loop.h"

static volatile int sink;

struct guard {
	FRAME ~guard()
	{
		SPIN(800000);
		sink = sink + 1;
	}
};

FRAME void throws(int x)
{
	SPIN(500000);
	if (x >= 0)
		throw x;
	NOT_TAIL();
}

FRAME void middle(int x)
{
	guard g;

	throws(x);
	NOT_TAIL();
}

FRAME void outer(int x)
{
	middle(x);
	NOT_TAIL();
}

FRAME void handles()
{
	SPIN(700000);
	sink = sink + 2;
}

FRAME void catches(int x)
{
	try {
		outer(x);
	} catch (int caught) {
		handles();
		sink = caught;
	}
}

/* Nothing but throwing: most ticks are in libstdc++, libgcc and what they call in libc. */
FRAME void only_throws(int x)
{
	throw x;
}

FRAME void storm(int n)
{
	for (int i = 0; i < n; i++) {
		try {
			only_throws(i);
		} catch (int) {
			sink = i;
		}
	}
}

FRAME void run(double seconds)
{
	double end = truth_clock() + seconds;

	while (truth_clock() < end) {
		TIMED("main;run;catches;(outer;middle;(throws(;{plt}|;{runtime})?|guard::~guard|{"
		      "runtime})"
		      "|handles|{runtime})",
		      catches(1));
		TIMED("main;run;storm(;only_throws)?(;{plt}|;{runtime})?", storm(1000));
	}
}
