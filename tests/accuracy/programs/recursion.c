// SPDX-License-Identifier: Apache-2.0
/* Recursion DEPTH deep, with the work at the bottom. */
#include "main_loop.h"

#ifndef DEPTH
#define DEPTH 200
#endif
#define TEXT2(a) #a
#define TEXT(a) TEXT2(a)

FRAME void bottom(void)
{
	SPIN(8000000);
}

FRAME void down(int levels)
{
	if (levels > 1)
		down(levels - 1);
	else
		bottom();
	NOT_TAIL();
}

FRAME void run(double seconds)
{
	double end = truth_clock() + seconds;

	truth_add("main;run;down*1-" TEXT(DEPTH), 0); /* on the way down pages are touched first */
	while (truth_clock() < end) {
		TIMED("main;run;down*" TEXT(DEPTH) ";bottom", down(DEPTH));
	}
}
