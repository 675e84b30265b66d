// SPDX-License-Identifier: Apache-2.0
/* Starts itself again by vfork and exec: half of the time is spent in children that live 20 ms. */
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "truth.h"

FRAME void child_leaf(void)
{
	SPIN(30000000);
}

FRAME void child_run(void)
{
	child_leaf();
	NOT_TAIL();
}

FRAME void parent_leaf(void)
{
	SPIN(20000000);
}

FRAME void parent_run(void)
{
	parent_leaf();
	NOT_TAIL();
}

FRAME void start_child(char *self)
{
	char *args[] = { self, (char *)"-", NULL };
	pid_t pid = vfork();

	if (pid == 0) {
		execv(self, args);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	double end = truth_clock() + truth_seconds(argc, argv) / 2;

	if (argc > 1 && argv[1][0] == '-') {
		TIMED("main;child_run;child_leaf", child_run());
		truth_print();
		return 0;
	}
	truth_add("main;start_child(;{plt}|;{libc})?", 0);
	while (truth_clock() < end) {
		start_child(argv[0]);
		TIMED("main;parent_run;parent_leaf", parent_run());
	}
	truth_print();
	return 0;
}
