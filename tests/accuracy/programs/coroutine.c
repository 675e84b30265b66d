// SPDX-License-Identifier: Apache-2.0
/* Coroutines on stacks of their own: the root of such a stack is where makecontext put it. */
#include <ucontext.h>

#include "main_loop.h"

static ucontext_t home, routines[2];
static char stacks[2][64 * 1024];

FRAME void first_leaf(void)
{
	SPIN(3000000);
}

FRAME void first_step(void)
{
	first_leaf();
	NOT_TAIL();
}

static void first_entry(void)
{
	for (;;) {
		TIMED("^(__start_context;|{libc};)?first_entry;first_step;first_leaf",
		      first_step());
		swapcontext(&routines[0], &routines[1]);
	}
}

FRAME void second_leaf(void)
{
	SPIN(2600000);
}

static void second_entry(void)
{
	for (;;) {
		TIMED("^(__start_context;|{libc};)?second_entry;second_leaf", second_leaf());
		swapcontext(&routines[1], &home);
	}
}

static void make(int i, void (*entry)(void))
{
	getcontext(&routines[i]);
	routines[i].uc_stack.ss_sp = stacks[i];
	routines[i].uc_stack.ss_size = sizeof(stacks[i]);
	routines[i].uc_link = &home;
	makecontext(&routines[i], entry, 0);
}

FRAME void home_leaf(void)
{
	SPIN(1000000);
}

FRAME void run(double seconds)
{
	double end = truth_clock() + seconds;

	/* What stands around the measured calls: switching, and the clock. */
	truth_add("main;run;{libc}", 0);
	truth_add("^({libc};)?(first_entry|second_entry)(;truth_clock|;truth_add)?"
		  "(;{plt})?(;{libc})?(;{vdso})?",
		  0);
	while (truth_clock() < end) {
		if (!routines[0].uc_link) {
			make(0, first_entry);
			make(1, second_entry);
		}
		TIMED("main;run;home_leaf", home_leaf());
		swapcontext(&home, &routines[0]);
	}
}
