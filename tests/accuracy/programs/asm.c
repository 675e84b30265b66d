// SPDX-License-Identifier: Apache-2.0
/* Hand-written assembly without unwind data (nocfi.S) between and below C functions. */
#include "main_loop.h"

void nocfi_spin(long n);
void nocfi_pushes(long n);
void nocfi_calls(void (*fn)(void));
void nocfi_calls_deep(void (*fn)(void));
void nocfi_framed(void (*fn)(void));

FRAME void c_leaf(void)
{
	SPIN(3000000);
}

FRAME void under_framed(void)
{
	SPIN(3100000);
}

FRAME void under_deep(void)
{
	SPIN(3200000);
}

FRAME void c_middle(void)
{
	nocfi_calls(c_leaf);
	NOT_TAIL();
}

FRAME void run(double seconds)
{
	double end = truth_clock() + seconds;

	while (truth_clock() < end) {
		TIMED("main;run;nocfi_spin", nocfi_spin(3000000));
		TIMED("main;run;nocfi_pushes", nocfi_pushes(3000000));
		TIMED("main;run;c_middle;nocfi_calls;c_leaf", c_middle());
		TIMED("main;run;nocfi_calls_deep;nocfi_inner;under_deep",
		      nocfi_calls_deep(under_deep));
		TIMED("main;run;nocfi_framed;under_framed", nocfi_framed(under_framed));
	}
}
