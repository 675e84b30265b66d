// SPDX-License-Identifier: Apache-2.0
/*
 * Stacks of a chosen depth through functions that are all different, as real stacks are.
 *	depth FRAMES SECONDS [THREADS]
 * FRAMES (3 to 66) counts main or the thread's function and everything below it. Prints the CPU
 * time of the process at its end: `cpu SECONDS`.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define N_LINKS 64

static int n_links;
static double seconds;

typedef int link_fn(int left);

static double clock_s(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

__attribute__((noinline, noclone)) static int leaf(int x)
{
	long left = 4000000;

	__asm__ volatile("1:\n\tdec %0\n\tjnz 1b" : "+r"(left) : : "cc");
	return x;
}

/* Frames of different sizes, 64 of them, with two digits each. */
#define ROW(X, a) X(a##0) X(a##1) X(a##2) X(a##3) X(a##4) X(a##5) X(a##6) X(a##7)
#define LINKS(X) ROW(X, 1) ROW(X, 2) ROW(X, 3) ROW(X, 4) ROW(X, 5) ROW(X, 6) ROW(X, 7) ROW(X, 8)

#define LINK(n)                                                          \
	__attribute__((noinline, noclone)) static int link_##n(int left) \
	{                                                                \
		volatile char room[16 + 8 * (n % 13)];                   \
		int r;                                                   \
                                                                         \
		room[0] = (char)left;                                    \
		r = left > 1 ? next_link(n)(left - 1) : leaf(left);      \
		return r + room[0] + n;                                  \
	}
#define LINK_ADDRESS(n) link_##n,

static link_fn *next_link(int n);

LINKS(LINK)

static link_fn *const links[N_LINKS] = { LINKS(LINK_ADDRESS) };

/* Names run from 10 to 87 in steps that leave 8 and 9 out. */
static inline link_fn *next_link(int n)
{
	return links[((n / 10 - 1) * 8 + n % 10 + 1) % N_LINKS];
}

static void *run(void *unused)
{
	double end = clock_s(CLOCK_THREAD_CPUTIME_ID) + seconds;

	while (clock_s(CLOCK_THREAD_CPUTIME_ID) < end)
		links[0](n_links);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	int n = argc > 3 ? atoi(argv[3]) : 0;

	if (argc < 3 || n > 64)
		return 2;
	n_links = atoi(argv[1]) - (n ? 2 : 3); /* besides main, run and leaf */
	seconds = atof(argv[2]);
	if (!n)
		run(NULL);
	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, run, NULL))
			return 1;
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	printf("cpu %.6f\n", clock_s(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
