// SPDX-License-Identifier: Apache-2.0
/*
 * Forks children that do not exec and live for 10 ms. Prints also its own pid and the CPU time of
 * all children with their start and end: `parent PID`, `children SECONDS`.
 */
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "truth.h"

FRAME void forked_leaf(double seconds)
{
	double end = truth_clock() + seconds;

	while (truth_clock() < end)
		SPIN(60000);
}

FRAME void forked_run(void)
{
	forked_leaf(0.010);
	NOT_TAIL();
}

FRAME double start_child(void)
{
	double used = 0;
	int ends[2];

	if (pipe(ends))
		abort();
	if (fork() == 0) {
		forked_run();
		used = truth_clock();
		_exit(write(ends[1], &used, sizeof(used)) != sizeof(used));
	}
	if (read(ends[0], &used, sizeof(used)) != sizeof(used))
		abort();
	close(ends[0]);
	close(ends[1]);
	wait(NULL);
	return used;
}

static double seconds_of(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	double left = truth_seconds(argc, argv);
	struct rusage usage;

	truth_add("main;start_child(;{plt}|;{libc})?", 0);
	while (left > 0) {
		double used = start_child();

		truth_add("main;start_child;forked_run;forked_leaf", used);
		left -= used;
	}
	truth_print();
	getrusage(RUSAGE_CHILDREN, &usage);
	printf("parent %d\nchildren %.6f\n", (int)getpid(),
	       seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime));
	return 0;
}
