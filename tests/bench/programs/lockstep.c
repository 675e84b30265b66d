// SPDX-License-Identifier: Apache-2.0
/*
 * Two phases that repeat with an exact period of the wall clock: 30 % first, 70 % second.
 *	lockstep PERIOD_NS OFFSET_NS SECONDS
 * Prints the CPU time of both as `share NAME SECONDS`, measured by itself.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

static double ticks_per_ns;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void calibrate(void)
{
	uint64_t ns = now_ns(CLOCK_MONOTONIC), tsc = __rdtsc();

	while (now_ns(CLOCK_MONOTONIC) - ns < 50000000)
		;
	ticks_per_ns = (double)(__rdtsc() - tsc) / (double)(now_ns(CLOCK_MONOTONIC) - ns);
}

__attribute__((noinline, noclone)) void first(uint64_t until)
{
	while (__builtin_ia32_rdtsc() < until)
		__asm__ volatile("# first");
}

__attribute__((noinline, noclone)) void second(uint64_t until)
{
	while (__builtin_ia32_rdtsc() < until)
		__asm__ volatile("# second");
}

int main(int argc, char **argv)
{
	uint64_t period, offset, end, at, used[2] = { 0, 0 };

	if (argc < 4)
		return 2;
	period = strtoull(argv[1], NULL, 10);
	offset = strtoull(argv[2], NULL, 10);
	calibrate();
	end = now_ns(CLOCK_MONOTONIC) + (uint64_t)(atof(argv[3]) * 1e9);
	while ((at = now_ns(CLOCK_MONOTONIC)) < end) {
		uint64_t phase = (at + offset) % period;
		int is_second = phase * 10 >= period * 3;
		uint64_t left = (is_second ? period : period * 3 / 10) - phase;
		uint64_t cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
		uint64_t until = __rdtsc() + (uint64_t)((double)left * ticks_per_ns);

		if (is_second)
			second(until);
		else
			first(until);
		used[is_second] += now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	}
	printf("share first %.6f\nshare second %.6f\n", (double)used[0] / 1e9,
	       (double)used[1] / 1e9);
	return 0;
}
