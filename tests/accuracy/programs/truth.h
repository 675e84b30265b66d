/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program with known stacks says about itself. Every leaf has one legal stack; the program
 * measures with its own thread clock what each of them cost and prints at its end, a line each:
 *
 *	legal SECONDS main;run;parse;scan
 *
 * tests/accuracy/truth.py describes what may stand between the semicolons. Programs take as their
 * first argument the CPU seconds to use.
 */
#ifndef TRUTH_H
#define TRUTH_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "spin.h"

#define TRUTH_STACKS 128

/* Measures one call of a leaf and books it on its legal stack. */
#define TIMED(legal, call)                                      \
	do {                                                    \
		double truth_from = truth_clock();              \
		call;                                           \
		truth_add((legal), truth_clock() - truth_from); \
	} while (0)

static struct truth {
	const char *stacks[TRUTH_STACKS];
	double seconds[TRUTH_STACKS];
	int n;
} truth;
static pthread_mutex_t truth_lock = PTHREAD_MUTEX_INITIALIZER;

FRAME static double truth_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

FRAME static void truth_add(const char *legal, double seconds)
{
	int i = 0;

	pthread_mutex_lock(&truth_lock);
	while (i < truth.n && strcmp(truth.stacks[i], legal))
		i++;
	if (i == TRUTH_STACKS)
		abort();
	if (i == truth.n)
		truth.stacks[truth.n++] = legal;
	truth.seconds[i] += seconds;
	pthread_mutex_unlock(&truth_lock);
}

FRAME static void truth_print(void)
{
	for (int i = 0; i < truth.n; i++)
		printf("legal %.6f %s\n", truth.seconds[i], truth.stacks[i]);
	/* Without local symbols the frame of truth_clock() is unknown, as a stub is. */
	printf("legal 0 main(;run(;{plt}(;{libc})?(;{vdso})?)?)?\n");
	fflush(stdout);
}

static inline double truth_seconds(int argc, char **argv)
{
	return argc > 1 ? atof(argv[1]) : 1;
}

#endif
