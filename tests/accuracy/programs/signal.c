// SPDX-License-Identifier: Apache-2.0
/* Signal handlers on an alternate stack: from a timer, from a trap, from a call, and nested. */
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "truth.h"

static volatile sig_atomic_t arrived;
static volatile double in_handler;

FRAME void handler_leaf(void)
{
	SPIN(3000000);
}

static void on_timer(int sig)
{
	double from = truth_clock();

	(void)sig;
	handler_leaf();
	in_handler = truth_clock() - from;
	arrived = 1;
}

FRAME void trap_leaf(void)
{
	SPIN(3500000);
}

static void on_trap(int sig)
{
	(void)sig;
	trap_leaf();
	NOT_TAIL();
}

FRAME void nested_leaf(void)
{
	SPIN(2500000);
}

static void on_nested(int sig)
{
	(void)sig;
	nested_leaf();
	NOT_TAIL();
}

FRAME void first_level(void)
{
	raise(SIGUSR2);
	NOT_TAIL();
}

static void on_first(int sig)
{
	(void)sig;
	first_level();
	NOT_TAIL();
}

FRAME void victim(void)
{
	while (!arrived)
		SPIN(5000);
}

FRAME void trapper(void)
{
	__asm__ volatile("int3");
	NOT_TAIL();
}

FRAME void raiser(void)
{
	raise(SIGUSR1);
	NOT_TAIL();
}

static void handle(int sig, void (*fn)(int))
{
	struct sigaction act = { .sa_handler = fn, .sa_flags = SA_ONSTACK };

	if (sigaction(sig, &act, NULL))
		abort();
}

FRAME void run(double seconds)
{
	double end = truth_clock() + seconds;

	/* The kernel delivers signals on its own time; setitimer is a call of libc. */
	truth_add("main;run;{libc}", 0);
	truth_add("main;run;victim;{libc}(;on_timer)?", 0);
	truth_add("main;run;trapper(;{libc}(;on_trap)?)?", 0);
	truth_add("main;run;raiser(;{libc}(;on_first(;first_level(;{libc}(;on_nested)?)?)?)?)?", 0);
	while (truth_clock() < end) {
		double before = truth_clock();
		struct itimerval soon = { .it_value = { .tv_usec = 1000 } };

		arrived = 0;
		setitimer(ITIMER_REAL, &soon, NULL);
		victim();
		truth_add("main;run;victim", truth_clock() - before - in_handler);
		truth_add("main;run;victim;{libc};on_timer;handler_leaf", in_handler);
		TIMED("main;run;trapper;{libc};on_trap;trap_leaf", trapper());
		TIMED("main;run;raiser;{libc};on_first;first_level;{libc};on_nested;nested_leaf",
		      raiser());
	}
}

int main(int argc, char **argv)
{
	static char stack[256 * 1024];
	stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };

	if (sigaltstack(&alternate, NULL))
		return 1;
	handle(SIGALRM, on_timer);
	handle(SIGTRAP, on_trap);
	handle(SIGUSR1, on_first);
	handle(SIGUSR2, on_nested);
	run(truth_seconds(argc, argv));
	truth_print();
	return 0;
}
