// SPDX-License-Identifier: Apache-2.0
/*
 * Stacks that are known: stacks SCENE SECONDS [N]
 *
 *	calls	main;work;calls;{outer;{one,two}, bare;one, deep (101 times);two},
 *main;work;sorts;...;compare;one reads	main;work;reads;... into the kernel
 *	fork	N children at a time, each of which does as calls: main;forks;work;...
 *	exec	N times this program again, one after the other: as calls
 *
 * Nothing is inlined. SECONDS are of a process's own CPU time.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FRAME __attribute__((noinline, noclone, noipa))
/* What stands behind a call keeps it from becoming a jump. */
#define STAY __asm__ volatile("")

int bare(int (*leaf)(int), int n); /* without unwind data */

static volatile int sink;

FRAME int one(int n)
{
	int sum = n;

	for (volatile int i = 0; i < 20000; i++)
		sum += i & 7;
	return sum;
}

FRAME int two(int n)
{
	unsigned int bits = (unsigned int)n;

	for (volatile int i = 0; i < 20000; i++)
		bits = bits << 1 ^ (unsigned int)i;
	return (int)bits;
}

FRAME int outer(int n)
{
	char room[200 + n % 2];
	int sum;

	memset(room, n, sizeof(room));
	sum = one(n) + two(room[n % 100]);
	STAY;
	return sum;
}

FRAME int deep(int n)
{
	int sum = n ? deep(n - 1) : two(n);

	STAY;
	return sum + n;
}

FRAME int calls(int n)
{
	int sum = outer(n) + bare(one, n) + deep(100);

	STAY;
	return sum;
}

FRAME int compare(const void *a, const void *b)
{
	return one(*(const int *)a) % 1000 - *(const int *)b;
}

FRAME int sorts(int n)
{
	int numbers[16];

	for (int i = 0; i < 16; i++)
		numbers[i] = i * n % 17;
	qsort(numbers, 16, sizeof(*numbers), compare);
	return numbers[0];
}

FRAME int reads(int fd)
{
	static char buf[1 << 16];
	ssize_t n = read(fd, buf, sizeof(buf));

	STAY;
	return (int)n;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

FRAME void work(int zero, double seconds)
{
	double end = now() + seconds;

	while (now() < end) {
		if (zero >= 0)
			sink += reads(zero);
		else
			sink += calls(3) + sorts(5);
	}
}

FRAME void forks(int n, double seconds)
{
	for (int i = 0; i < n; i++) {
		if (fork())
			continue;
		work(-1, seconds);
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
}

static void execs(int n, const char *seconds)
{
	for (int i = 0; i < n; i++) {
		if (!fork()) {
			execl("/proc/self/exe", "short", "calls", seconds, NULL);
			_exit(1);
		}
		wait(NULL);
	}
}

int main(int argc, char **argv)
{
	const char *scene = argv[1];
	int n = argc > 3 ? atoi(argv[3]) : 0;

	if (argc < 3)
		return 2;
	if (!strcmp(scene, "fork"))
		forks(n, atof(argv[2]));
	else if (!strcmp(scene, "exec"))
		execs(n, argv[2]);
	else
		work(strcmp(scene, "reads") ? -1 : open("/dev/zero", O_RDONLY), atof(argv[2]));
	return 0;
}
