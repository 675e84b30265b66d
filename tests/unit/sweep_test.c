// SPDX-License-Identifier: Apache-2.0
/*
 * A single-step sweep: a child runs a small workload one instruction at a time, calls and returns
 * are followed as they happen, and at every instruction the walk must find exactly that stack.
 */
#include <alloca.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "tests/unit/walk_target.h"

#define NOINLINE __attribute__((noinline, noclone))
#define MAX_DEPTH 256
#define MAX_REPORTS 10

/* ---- the workload ---- */

static volatile int sink;
static char text[256];
static uint8_t alternate[65536];

static int NOINLINE compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void NOINLINE with_alloca(int n)
{
	char *p = alloca((size_t)n);

	memset(p, n, (size_t)n);
	sink += p[n / 2];
}

__attribute__((force_align_arg_pointer)) static void NOINLINE realigned(int n)
{
	_Alignas(64) volatile char buf[128];

	buf[n & 127] = (char)n;
	sink += snprintf(text, sizeof(text), "%d %s", buf[n & 127], "x");
	with_alloca(n + 40);
}

static void handler(int sig)
{
	sink += snprintf(text, sizeof(text), "signal %d", sig);
}

static void NOINLINE libc_calls(void)
{
	int numbers[] = { 5, 3, 9, 1, 7, 2 };
	struct timeval tv;

	qsort(numbers, 6, sizeof(*numbers), compare);
	sink += snprintf(text, sizeof(text), "%g %s %d", 3.25, "text", numbers[2]);
	sink += (int)strtod("12.5", NULL) + (int)strlen(text);
	free(malloc(100));
	gettimeofday(&tv, NULL);
	sink += (int)sin((double)sink) + (int)pow(1.5, (double)(sink & 7));
}

typedef int set_key(const uint8_t *key, int bits, void *schedule);
typedef void encrypt(const uint8_t *in, uint8_t *out, const void *schedule);
typedef int digest_init(void *ctx);
typedef int digest_update(void *ctx, const void *data, size_t len);

/* Assembly with unwind data of its own, where libcrypto is installed. */
static void NOINLINE crypto_calls(void *crypto)
{
	static _Alignas(16) uint8_t ctx[1024], block[64];

	if (!crypto)
		return;
	((set_key *)dlsym(crypto, "AES_set_encrypt_key"))(block, 128, ctx);
	((encrypt *)dlsym(crypto, "AES_encrypt"))(block, block, ctx);
	((digest_init *)dlsym(crypto, "SHA256_Init"))(ctx);
	((digest_update *)dlsym(crypto, "SHA256_Update"))(ctx, block, sizeof(block));
	((digest_init *)dlsym(crypto, "SHA512_Init"))(ctx);
	((digest_update *)dlsym(crypto, "SHA512_Update"))(ctx, block, sizeof(block));
}

static void NOINLINE workload(void *crypto)
{
	libc_calls();
	realigned(17);
	raise(SIGUSR1);
	raise(SIGUSR2);
	crypto_calls(crypto);
}

static void NOINLINE run_child(void)
{
	struct sigaction sa = { .sa_handler = handler };
	stack_t ss = { .ss_sp = alternate, .ss_size = sizeof(alternate) };
	void *crypto = dlopen("libcrypto.so.3", RTLD_LAZY);

	sigaltstack(&ss, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	sa.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &sa, NULL);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	__asm__ volatile("int3");
	workload(crypto);
	__asm__ volatile("int3");
	_exit(0);
}

/* ---- what really happened ---- */

struct shadow {
	struct {
		uint64_t slot, pc; /* gone when the stack pointer is above slot */
		bool is_exact;
	} frames[MAX_DEPTH];
	size_t n;
};

static void shadow_push(struct shadow *sh, uint64_t slot, uint64_t pc, bool is_exact)
{
	assert_true(sh->n < MAX_DEPTH);
	sh->frames[sh->n].slot = slot;
	sh->frames[sh->n].pc = pc;
	sh->frames[sh->n++].is_exact = is_exact;
}

static uint64_t peek(struct target *t, uint64_t addr)
{
	uint64_t word = 0;

	target_read(t, addr, &word, sizeof(word));
	return word;
}

static void shadow_follow(struct shadow *sh, struct target *t,
			  const struct user_regs_struct *before,
			  const struct user_regs_struct *after, int sig)
{
	uint64_t top = peek(t, after->rsp);

	if (sig) { /* the handler's frame was built: it returns to the trampoline */
		shadow_push(sh, before->rsp - 1, before->rip, true);
		shadow_push(sh, after->rsp, top, false);
		return;
	}
	while (sh->n && sh->frames[sh->n - 1].slot < after->rsp)
		sh->n--;
	if (after->rsp == before->rsp - 8 && top - before->rip >= 2 && top - before->rip <= 9 &&
	    after->rip != top)
		shadow_push(sh, after->rsp, top, false);
}

struct sweep {
	struct target target;
	struct shadow shadow;
	size_t n_steps, n_wrong;
};

static bool is_same(const struct shadow *sh, uint64_t pc, const struct wire_frame *frames, size_t n)
{
	if (n != sh->n + 1 || frames[0].addr != pc)
		return false;
	for (size_t i = 1; i < n; i++)
		if (frames[i].addr != sh->frames[sh->n - i].pc ||
		    !!(frames[i].flags & WIRE_FRAME_EXACT) != sh->frames[sh->n - i].is_exact)
			return false;
	return true;
}

static void report(struct sweep *sw, uint64_t pc, const struct wire_frame *frames, size_t n,
		   int end)
{
	char buf[64];

	print_error("at %s: end %d, %zu frames, not %zu\n", target_where(&sw->target, pc, buf, 64),
		    end, n, sw->shadow.n + 1);
	for (size_t i = 1; i < n || i <= sw->shadow.n; i++) {
		uint64_t want = i <= sw->shadow.n ? sw->shadow.frames[sw->shadow.n - i].pc : 0;
		uint64_t got = i < n ? frames[i].addr : 0;

		print_error("  %s", target_where(&sw->target, got, buf, 64));
		print_error("  %s%s\n", target_where(&sw->target, want, buf, 64),
			    got == want ? "" : "  <--");
	}
}

static void check(struct sweep *sw, const struct user_regs_struct *regs)
{
	struct wire_frame frames[MAX_DEPTH + 1];
	struct snapshot s = target_snapshot(&sw->target, regs);
	size_t n = 0;
	int end = snapshot_walk(&s, frames, &n, MAX_DEPTH + 1);

	sw->n_steps++;
	if (end == END_ROOT && is_same(&sw->shadow, regs->rip, frames, n))
		return;
	if (sw->n_wrong++ < MAX_REPORTS)
		report(sw, regs->rip, frames, n, end);
}

static void begin(struct sweep *sw, pid_t pid, void *const *callers, int n_callers)
{
	struct wire_frame frames[MAX_DEPTH];
	struct user_regs_struct regs;
	struct snapshot s;
	size_t n = 0;

	target_open(&sw->target, pid);
	ptrace(PTRACE_GETREGS, pid, NULL, &regs);
	s = target_snapshot(&sw->target, &regs);
	assert_int_equal(snapshot_walk(&s, frames, &n, MAX_DEPTH), END_ROOT);
	/* The child is a copy: its callers are those that backtrace() saw before the fork. */
	assert_int_equal(n, n_callers + 1);
	for (int i = 1; i < n_callers; i++)
		assert_int_equal(frames[i + 1].addr, (uintptr_t)callers[i]);
	while (n > 1)
		shadow_push(&sw->shadow, UINT64_MAX, frames[--n].addr, false);
}

static void run_sweep(struct sweep *sw, pid_t pid)
{
	struct user_regs_struct before, after;
	int status, sig = 0;

	ptrace(PTRACE_GETREGS, pid, NULL, &before);
	for (;;) {
		ptrace(PTRACE_SINGLESTEP, pid, NULL, (void *)(intptr_t)sig);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSTOPPED(status));
		ptrace(PTRACE_GETREGS, pid, NULL, &after);
		if (WSTOPSIG(status) != SIGTRAP) {
			sig = WSTOPSIG(status);
			continue; /* nothing was run */
		}
		shadow_follow(&sw->shadow, &sw->target, &before, &after, sig);
		sig = 0;
		if ((uint8_t)peek(&sw->target, after.rip - 1) == 0xcc &&
		    (uint8_t)peek(&sw->target, before.rip) == 0xcc)
			return;
		check(sw, &after);
		before = after;
	}
}

static void NOINLINE every_instruction_has_its_stack(void **state)
{
	struct sweep *sw = calloc(1, sizeof(*sw));
	void *callers[64];
	int n_callers = backtrace(callers, 64), status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		run_child();
	waitpid(pid, &status, 0);
	assert_true(WIFSTOPPED(status));
	begin(sw, pid, callers, n_callers);
	run_sweep(sw, pid);
	print_message("%zu instructions, %zu with a wrong stack\n", sw->n_steps, sw->n_wrong);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	target_close(&sw->target);
	assert_true(sw->n_steps > 10000);
	assert_int_equal(sw->n_wrong, 0);
	free(sw);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_instruction_has_its_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
