// SPDX-License-Identifier: Apache-2.0
/* Calls that were inlined three deep: the profile shows them where the debug information does. */
#include "main_loop.h"

#define INLINE static inline __attribute__((always_inline))

static volatile int sink;

INLINE int innermost(int x)
{
	SPIN(4000000);
	return x + sink;
}

INLINE int middle(int x)
{
	return innermost(x) * 3;
}

INLINE int outermost(int x)
{
	return middle(x) + 1;
}

FRAME int holder(int x)
{
	return outermost(x) + sink;
}

FRAME int called(int x)
{
	SPIN(2500000);
	return x + sink;
}

INLINE int calls_out(int x)
{
	return called(x) + 7;
}

/* A real call from inside an inlined one. */
FRAME int second_holder(int x)
{
	return calls_out(x) + sink;
}

FRAME void run(double seconds)
{
	double end = truth_clock() + seconds;

	while (truth_clock() < end) {
		TIMED("main;run;holder;outermost;middle;innermost", sink = holder(1));
		TIMED("main;run;second_holder;calls_out;called", sink = second_holder(2));
	}
}
