// SPDX-License-Identifier: Apache-2.0
/*
 * A program whose threads say which span they are in by OTEP 4947, and are in functions that are
 *named after it. The variable is where thread_context_lib.c has it, in one of the ways in which
 *compilers refer to such variables: compiled with -DIN_PROGRAM it is the program's own; else the
 *library is linked or, with an argument, loaded.
 *
 *	thread_context SECONDS [LIBRARY]
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* As the specification has it. */
struct record {
	uint8_t trace_id[16], span_id[8], is_valid, flags;
	uint16_t attributes_len;
	uint8_t attributes[8];
} __attribute__((packed, aligned(2)));

#ifdef IN_PROGRAM
__thread struct record *otel_thread_ctx_v1 __attribute__((visibility("default")));
static void publish(struct record *r)
{
	__atomic_store_n(&otel_thread_ctx_v1, r, __ATOMIC_RELEASE);
}
#else
void thread_context_publish(void *record);
static void (*publish)(void *) = NULL;
#endif

static double seconds;

static double cpu(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void spin(void)
{
	double end = cpu(CLOCK_THREAD_CPUTIME_ID) + 0.003;

	while (cpu(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

#define IN(name)                                            \
	__attribute__((noinline, noclone)) void name(void); \
	void name(void)                                     \
	{                                                   \
		spin();                                     \
		__asm__ volatile("");                       \
	}

IN(in_none)
IN(in_00112233445566778899aabbccddeeff_0123456789abcdef)
IN(in_00112233445566778899aabbccddeeff_fedcba9876543210)
IN(in_0f0f0f0f0f0f0f0f0000000000000001_8000000000000000)

static void set(struct record *r, const char *ids)
{
	uint8_t bytes[24];

	for (size_t i = 0; i < sizeof(bytes); i++, ids += 2) {
		ids += *ids == '_';
		sscanf(ids, "%2hhx", &bytes[i]);
	}
	r->is_valid = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	memcpy(r->trace_id, bytes, sizeof(r->trace_id));
	memcpy(r->span_id, bytes + sizeof(r->trace_id), sizeof(r->span_id));
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	r->is_valid = 1;
}

static void run(struct record *r, const char *name, void (*in)(void))
{
	set(r, name + strlen("in_"));
	publish(r);
	in();
}

#define RUN(r, name) run(r, #name, name)

static void *work(void *odd)
{
	struct record r = { .attributes_len = 8, .attributes = { 0, 6, 'x' } };

	while (cpu(CLOCK_PROCESS_CPUTIME_ID) < seconds) {
		RUN(&r, in_00112233445566778899aabbccddeeff_0123456789abcdef);
		if (odd)
			RUN(&r, in_0f0f0f0f0f0f0f0f0000000000000001_8000000000000000);
		RUN(&r, in_00112233445566778899aabbccddeeff_fedcba9876543210);
		/* No span, in each of the ways to say so. */
		memset(r.span_id, 0, sizeof(r.span_id));
		memset(r.trace_id, 0, sizeof(r.trace_id));
		in_none();
		set(&r, "00112233445566778899aabbccddeeff_0123456789abcdef");
		r.is_valid = 0;
		in_none();
		publish(NULL);
		in_none();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	seconds = argc > 1 ? atof(argv[1]) : 1;
#ifndef IN_PROGRAM
	if (argc > 2) {
		void *library = dlopen(argv[2], RTLD_NOW);

		publish =
			library ? (void (*)(void *))dlsym(library, "thread_context_publish") : NULL;
	}
#ifdef IS_LINKED
	publish = thread_context_publish;
#endif
	if (!publish)
		return 1;
#endif
	puts("ready");
	fflush(stdout);
	seconds += cpu(CLOCK_PROCESS_CPUTIME_ID);
	pthread_create(&thread, NULL, work, NULL);
	work("odd");
	pthread_join(thread, NULL);
	return 0;
}
