// SPDX-License-Identifier: Apache-2.0
/*
 * Machine code made at run time, named by /tmp/perf-PID.map, between C frames. With FRAMELESS
 * defined it keeps no frame pointer. It stays in /tmp until whoever runs the program removes it.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "main_loop.h"

typedef void jit_fn(void (*callback)(void), long n);

static unsigned char *code, *outer, *inner, *spins;

FRAME void c_callback(void)
{
	SPIN(3000000);
}

#ifdef FRAMELESS
static const unsigned char enter_bytes[] = { 0x48, 0x83, 0xec, 0x28 }; /* sub $40, %rsp */
static const unsigned char leave_bytes[] = { 0x48, 0x83, 0xc4, 0x28,
					     0xc3 }; /* add $40, %rsp; ret */
#else
static const unsigned char enter_bytes[] = { 0x55, 0x48, 0x89,
					     0xe5 };	   /* push %rbp; mov %rsp, %rbp */
static const unsigned char leave_bytes[] = { 0x5d, 0xc3 }; /* pop %rbp; ret */
#endif
static const unsigned char call_rdi[] = { 0xff, 0xd7 };			  /* call *%rdi */
static const unsigned char spin_rsi[] = { 0x48, 0xff, 0xce, 0x75, 0xfb }; /* 1: dec %rsi; jnz 1b */

static unsigned char *put(unsigned char *at, const unsigned char *bytes, size_t len)
{
	memcpy(at, bytes, len);
	return at + len;
}

static unsigned char *put_call(unsigned char *at, const unsigned char *target)
{
	int offset = (int)(target - (at + 5));

	*at = 0xe8;
	memcpy(at + 1, &offset, sizeof(offset));
	return at + 5;
}

static void name(FILE *map, const unsigned char *from, const unsigned char *to, const char *text)
{
	fprintf(map, "%lx %lx %s\n", (long)from, (long)(to - from), text);
}

#define PUT(bytes) (at = put(at, bytes, sizeof(bytes)))

static void compile(void)
{
	char path[64];
	unsigned char *at, *end_inner, *end_outer;
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	code = (unsigned char *)mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!map || code == MAP_FAILED)
		abort();
	at = inner = code + 64;
	PUT(enter_bytes);
	PUT(call_rdi);
	end_inner = PUT(leave_bytes);
	at = outer = code + 256;
	PUT(enter_bytes);
	at = put_call(at, inner);
	end_outer = PUT(leave_bytes);
	at = spins = code + 512;
	PUT(enter_bytes);
	PUT(spin_rsi);
	PUT(leave_bytes);
	name(map, inner, end_inner, "jit_inner");
	name(map, outer, end_outer, "jit_outer");
	name(map, spins, at, "jit_spins");
	fclose(map);
	mprotect(code, 4096, PROT_READ | PROT_EXEC);
}

FRAME void enter(unsigned char *fn, long n)
{
	((jit_fn *)fn)(c_callback, n);
	NOT_TAIL();
}

FRAME void run(double seconds)
{
	double end = truth_clock() + seconds;

	while (truth_clock() < end) {
		if (!code)
			compile();
		TIMED("main;run;enter;jit_outer;jit_inner;c_callback", enter(outer, 0));
		TIMED("main;run;enter;jit_spins", enter(spins, 3000000));
	}
}
