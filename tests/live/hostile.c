// SPDX-License-Identifier: Apache-2.0
/*
 * hostile CASE [FILE OFFSET]: a program that makes itself as hard to profile as it can, and works
 * on. Not built by itself: hostile_test.sh compiles it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096

/* It is now what it is to be sampled as. */
static void begin(void)
{
	puts("begins");
	fflush(stdout);
}

static void spin(void)
{
	for (volatile int i = 0; i < 100000; i++)
		;
}

static uint8_t *code_page(const void *code, size_t len)
{
	uint8_t *page = mmap(0, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(page, code, len);
	return page;
}

/* As many mappings as the kernel allows, every second one executable. */
static void mappings(void)
{
	size_t n = 70000;
	uint8_t *all =
		mmap(0, n * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	for (size_t i = 0; i < n; i += 2)
		if (mprotect(all + i * PAGE, PAGE, PROT_READ | PROT_EXEC) < 0)
			break;
	begin();
	for (;;)
		spin();
}

/* Generated code whose frame pointers lead in a circle: pop rbp; jmp self. */
static void cyclic(void)
{
	/* mov rbp, rdi; 1: inc rax; jmp 1b */
	static const uint8_t code[] = { 0x48, 0x89, 0xfd, 0x48, 0xff, 0xc0, 0xeb, 0xfb };
	static uint64_t ring[64][2];
	uint8_t *page = code_page(code, sizeof(code));

	for (int i = 0; i < 64; i++) {
		ring[i][0] = (uintptr_t)ring[(i + 1) % 64];
		ring[i][1] = (uintptr_t)page + 6;
	}
	begin();
	((void (*)(void *))(void *)page)(ring);
}

/* Works for a while with the stack pointer at rdi, then takes the next place. */
static void stack_at(uint8_t *page, uint64_t sp)
{
	((void (*)(uint64_t))(void *)page)(sp);
}

static void wild_stack(void)
{
	/* mov rdx, rsp; mov rbx saved in r8; mov rsp, rdi; mov rbp likewise in r9; mov ecx, 30M;
	   1: dec ecx; jnz 1b; mov rsp, rdx; mov rbp, r9; ret */
	static const uint8_t code[] = { 0x48, 0x89, 0xe2, 0x49, 0x89, 0xe9, 0x48, 0x89, 0xfc, 0x48,
					0x89, 0xfd, 0xb9, 0x80, 0xc3, 0xc9, 0x01, 0xff, 0xc9, 0x75,
					0xfc, 0x48, 0x89, 0xd4, 0x4c, 0x89, 0xcd, 0xc3 };
	uint8_t *page = code_page(code, sizeof(code));
	int hole = open("/dev/zero", O_RDWR);
	uint64_t places[] = { 0,
			      1,
			      7,
			      UINT64_MAX,
			      UINT64_MAX - 7,
			      UINT64_C(0x8000000000000000),
			      UINT64_C(0xffffffff81000000),
			      UINT64_C(0x00007fffffffffff),
			      UINT64_C(0x00007ffffffffff8),
			      (uintptr_t)page,
			      (uintptr_t)page + PAGE - 3,
			      (uintptr_t)mmap(0, PAGE, PROT_READ, MAP_SHARED, hole, 0),
			      (uintptr_t)mmap(0, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
					      0) };

	begin();
	for (;;)
		for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
			stack_at(page, places[i]);
}

static uint64_t shared[2][8 * PAGE / 8] __attribute__((aligned(4096)));

/* Code addresses, stack addresses and noise, anew all the time, in somebody else's stack. */
static void *scribble(void *code)
{
	uint64_t x = 88172645463325252;

	for (;;) {
		for (size_t i = 0; i < sizeof(shared) / 16; i++) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			shared[0][i] = x % 3 == 0   ? (uintptr_t)code + x % PAGE
				       : x % 3 == 1 ? (uintptr_t)shared[0] + x % sizeof(shared) / 2
						    : x;
		}
	}
	return code;
}

static void changing(void)
{
	/* mov rsp, rdi; mov rbp, rdi; 1: inc rax; jmp 1b */
	static const uint8_t code[] = { 0x48, 0x89, 0xfc, 0x48, 0x89, 0xfd,
					0x48, 0xff, 0xc0, 0xeb, 0xfb };
	uint8_t *page = code_page(code, sizeof(code));
	pthread_t t;

	pthread_create(&t, 0, scribble, (void *)(uintptr_t)changing);
	begin();
	((void (*)(void *))(void *)page)(shared[0]);
}

/* Runs the code at an offset of a file, whatever the file says of itself. */
static void run_file(const char *path, long offset, int hides)
{
	int fd = open(path, O_RDONLY), watch = inotify_init1(IN_NONBLOCK);
	uint8_t *code = mmap(0, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, offset & -PAGE);
	char event[512];

	if (code == MAP_FAILED)
		exit(1);
	close(fd);
	if (hides) { /* something else is at its place now; is that opened? */
		unlink(path);
		if (hides == 1 ? mkfifo(path, 0666) : mknod(path, S_IFCHR | 0666, 0x103))
			exit(1);
		inotify_add_watch(watch, path, IN_OPEN);
	}
	begin();
	for (;;) {
		((void (*)(void))(void *)(code + (offset & (PAGE - 1))))();
		if (hides && read(watch, event, sizeof(event)) > 0) {
			puts("opened");
			fflush(stdout);
		}
	}
}

/* A perf map of garbage: long names, overlaps, no numbers, no end. */
static void perf_map(void)
{
	static const uint8_t code[] = { 0x48, 0xff, 0xc0, 0xeb, 0xfb };
	uint8_t *page = code_page(code, sizeof(code));
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	f = fopen(path, "w");
	for (int i = 0; i < 200000; i++)
		fprintf(f, "%lx ffffffff overlap%d\n", (long)page - i, i);
	fprintf(f, "%lx 1000 ", (long)page);
	for (int i = 0; i < 1000000; i++)
		fputc('A' + i % 26, f);
	fputs("\nffffffffffffffff ffffffffffffffff x\nzz zz\n%lx", f);
	fclose(f);
	begin();
	((void (*)(void))(void *)page)();
}

/* Works for a very short time under each of many programs' names and of many threads. */
static void *nothing(void *arg)
{
	return arg;
}

static void threads(void)
{
	begin();
	for (;;) {
		pthread_t t;

		if (!pthread_create(&t, 0, nothing, 0))
			pthread_join(t, 0);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {
		{ "mappings", mappings }, { "cyclic", cyclic },	    { "wild_stack", wild_stack },
		{ "changing", changing }, { "perf_map", perf_map }, { "threads", threads },
	};

	prctl(PR_SET_PDEATHSIG, 9);
	for (size_t i = 0; argc == 2 && i < sizeof(cases) / sizeof(*cases); i++)
		if (!strcmp(argv[1], cases[i].name))
			cases[i].run();
	if (argc == 4)
		run_file(argv[2], atol(argv[3]),
			 !strcmp(argv[1], "fifo")     ? 1
			 : !strcmp(argv[1], "device") ? 2
						      : 0);
	return 2;
}
