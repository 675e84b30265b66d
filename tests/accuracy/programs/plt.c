// SPDX-License-Identifier: Apache-2.0
/* Calls through the procedure linkage table and an IFUNC, so often that ticks hit the stubs. */
#include "main_loop.h"

int tiny_one(int x);
int tiny_two(int x);

static volatile int sink;

static int picked_plain(int x)
{
	SPIN(400);
	return x + 3;
}

static int (*resolve_picked(void))(int)
{
	return picked_plain;
}

int picked(int x) __attribute__((ifunc("resolve_picked")));

FRAME int calls_stubs(int n)
{
	int r = 0;

	for (int i = 0; i < n; i++)
		r += tiny_one(i) - tiny_two(r);
	return r;
}

FRAME int calls_ifunc(int n)
{
	int r = 0;

	for (int i = 0; i < n; i++)
		r += picked(i);
	return r;
}

FRAME int calls_memset(int n)
{
	static char buf[1 << 16];

	for (int i = 0; i < n; i++) {
		memset(buf, i, sizeof(buf));
		NOT_TAIL();
	}
	return buf[n % 77];
}

FRAME void run(double seconds)
{
	double end = truth_clock() + seconds;

	while (truth_clock() < end) {
		TIMED("main;run;calls_stubs(;{plt})?(;tiny_one|;tiny_two)?",
		      sink = calls_stubs(800000));
		TIMED("main;run;calls_ifunc(;{plt})?(;picked_plain)?", sink = calls_ifunc(20000));
		TIMED("main;run;calls_memset(;{plt}|;{libc})?", sink = calls_memset(2000));
	}
}
