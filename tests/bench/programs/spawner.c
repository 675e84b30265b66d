// SPDX-License-Identifier: Apache-2.0
/* Runs a program N times, one after the other, and prints the CPU time of all: `children N
 * SECONDS`. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

extern char **environ;

int main(int argc, char **argv)
{
	struct rusage usage;
	int n = argc > 2 ? atoi(argv[1]) : 0;

	for (int i = 0; i < n; i++) {
		char *args[] = { argv[2], NULL };
		pid_t pid;

		if (posix_spawn(&pid, argv[2], NULL, NULL, args, environ) ||
		    waitpid(pid, NULL, 0) != pid)
			return 1;
	}
	getrusage(RUSAGE_CHILDREN, &usage);
	printf("children %d %.6f\n", n,
	       (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
	return 0;
}
