// SPDX-License-Identifier: Apache-2.0
/* Exceptions in flight: thrown through frames that clean up, caught far above; ticks hit the
 * unwinder. */
#include "main_loop.h"

static volatile int sink;
static volatile double spent_handling;

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
	double from = truth_clock();

	SPIN(700000);
	sink = sink + 2;
	spent_handling = truth_clock() - from;
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

/*
 * A throw in its last phase has overwritten the unwinder's own return address with that of the
 * handler: for some instructions the machine itself says that the handler called the unwinder.
 */
static const char *const throwing = "main;run;catches;outer;middle;"
				    "(throws(;{plt}|(;middle|;catches)?;{runtime})?"
				    "|guard::~guard|(catches;)?{runtime})";
static const char *const handling = "main;run;catches(;handles|;{runtime})?";
static const char *const storming = "main;run;storm(;only_throws)?(;{plt}|(;storm)?;{runtime})?";

FRAME void run(double seconds)
{
	double end = truth_clock() + seconds;

	truth_add("main;run;{runtime}", 0); /* the last call of catches() is a jump */
	while (truth_clock() < end) {
		TIMED(throwing, catches(1));
		truth_add(throwing, -spent_handling);
		truth_add(handling, spent_handling);
		TIMED(storming, storm(1000));
	}
}
