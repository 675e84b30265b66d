// SPDX-License-Identifier: Apache-2.0
/* longjmp out of deep calls; what runs before and after has its own stack. */
#include <setjmp.h>

#include "main_loop.h"

static jmp_buf back;

FRAME void deep_leaf(void)
{
	SPIN(3000000);
}

FRAME void dive(int levels)
{
	if (levels > 0)
		dive(levels - 1);
	else {
		TIMED("main;run;leap;dive*6;deep_leaf", deep_leaf());
		longjmp(back, 1);
	}
	NOT_TAIL();
}

FRAME void landed_leaf(void)
{
	SPIN(2500000);
}

FRAME void leap(void)
{
	if (setjmp(back))
		TIMED("main;run;leap;landed_leaf", landed_leaf());
	else
		dive(5);
	NOT_TAIL();
}

FRAME void run(double seconds)
{
	double end = truth_clock() + seconds;

	while (truth_clock() < end) {
		leap();
	}
}
