// SPDX-License-Identifier: Apache-2.0
/* A program that uses 30 ms of CPU and ends. Its one legal stack is main;burst_run;burst_leaf. */
#include <time.h>

__attribute__((noinline, noclone)) void burst_leaf(void)
{
	struct timespec ts;

	do {
		long left = 50000;

		__asm__ volatile("1:\n\tdec %0\n\tjnz 1b" : "+r"(left) : : "cc");
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	} while (ts.tv_nsec < 30000000);
}

__attribute__((noinline, noclone)) void burst_run(void)
{
	burst_leaf();
	__asm__ volatile("" : : : "memory");
}

int main(void)
{
	burst_run();
	return 0;
}
