// SPDX-License-Identifier: Apache-2.0
/* Plain calls: frameless leaves, a leaf that saves registers, an indirect call, many short calls.
 */
#include "main_loop.h"

static volatile int sink;

FRAME int scan(void)
{
	SPIN(5000000);
	return 1;
}

FRAME int parse(void)
{
	int r = scan();

	NOT_TAIL();
	return r + sink;
}

/* Uses every register a callee must save. */
FRAME int hash(int seed)
{
	__asm__ volatile("" : : : "rbx", "r12", "r13", "r14", "r15");
	SPIN(3000000);
	__asm__ volatile("" : : : "rbx", "r12", "r13", "r14", "r15");
	return seed;
}

FRAME int store(int (*fn)(int))
{
	int r = fn(3);

	NOT_TAIL();
	return r + sink;
}

/* Short functions: ticks fall on prologues and epilogues as well. */
FRAME int churn_leaf(int x)
{
	__asm__ volatile("" : "+r"(x) : : "rbx", "r12");
	return x + 1;
}

FRAME int churn_step(int x, int y)
{
	int r = churn_leaf(x) + churn_leaf(y);

	NOT_TAIL();
	return r + sink;
}

FRAME int churn(int n)
{
	int r = 0;

	for (int i = 0; i < n; i++)
		r += churn_step(i, r);
	return r;
}

FRAME void run(double seconds)
{
	double end = truth_clock() + seconds;

	while (truth_clock() < end) {
		TIMED("main;run;parse;scan", sink = parse());
		TIMED("main;run;store;hash", sink = store(hash));
		TIMED("main;run;churn(;churn_step(;churn_leaf)?)?", sink = churn(300000));
	}
}
