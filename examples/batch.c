// SPDX-License-Identifier: Apache-2.0
/*
 * Short-lived programs to try weft on: starts itself again and again with a job that computes for
 * about 30 ms and ends. Runs for the given number of seconds (default 10).
 */
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static unsigned int count_primes(unsigned int limit)
{
	unsigned int n = 0;

	for (unsigned int i = 2; i < limit; i++) {
		unsigned int d = 2;

		while (d * d <= i && i % d)
			d++;
		n += d * d > i;
	}
	return n;
}

static int job(void)
{
	volatile unsigned int sink = 0;

	while (now(CLOCK_PROCESS_CPUTIME_ID) < 0.03)
		sink += count_primes(2000);
	return 0;
}

int main(int argc, char **argv)
{
	char *args[] = { argv[0], "--job", NULL };
	double end;

	if (argc > 1 && !strcmp(argv[1], "--job"))
		return job();
	end = now(CLOCK_MONOTONIC) + (argc > 1 ? strtod(argv[1], NULL) : 10);
	while (now(CLOCK_MONOTONIC) < end) {
		pid_t pid;

		if (posix_spawnp(&pid, argv[0], NULL, NULL, args, environ))
			return 1;
		waitpid(pid, NULL, 0);
		usleep(70000);
	}
	return 0;
}
