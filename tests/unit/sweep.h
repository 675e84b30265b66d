/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests: runs a child one instruction at a time, follows its calls and returns as they happen,
 * and compares the walk of every instruction's snapshot with them.
 */
#ifndef TESTS_UNIT_SWEEP_H
#define TESTS_UNIT_SWEEP_H

#include <execinfo.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "tests/unit/walk_target.h"

#define MAX_DEPTH 256
#define MAX_REPORTS 10

struct shadow {
	struct {
		uint64_t slot, pc; /* gone when the stack pointer is above slot */
		bool is_exact;
	} frames[MAX_DEPTH];
	size_t n;
};

static inline void shadow_push(struct shadow *sh, uint64_t slot, uint64_t pc, bool is_exact)
{
	assert_true(sh->n < MAX_DEPTH);
	sh->frames[sh->n].slot = slot;
	sh->frames[sh->n].pc = pc;
	sh->frames[sh->n++].is_exact = is_exact;
}

static inline uint64_t peek(struct target *t, uint64_t addr)
{
	uint64_t word = 0;

	target_read(t, addr, &word, sizeof(word));
	return word;
}

static inline void shadow_follow(struct shadow *sh, struct target *t,
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
	bool is_quiet;
};

static inline bool is_same(const struct shadow *sh, uint64_t pc, const struct wire_frame *frames,
			   size_t n)
{
	if (n != sh->n + 1 || frames[0].addr != pc)
		return false;
	for (size_t i = 1; i < n; i++)
		if (frames[i].addr != sh->frames[sh->n - i].pc ||
		    !!(frames[i].flags & WIRE_FRAME_EXACT) != sh->frames[sh->n - i].is_exact)
			return false;
	return true;
}

static inline void report(struct sweep *sw, uint64_t pc, const struct wire_frame *frames, size_t n,
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

static inline void check(struct sweep *sw, const struct user_regs_struct *regs)
{
	struct wire_frame frames[MAX_DEPTH + 1];
	struct snapshot s = target_snapshot(&sw->target, regs);
	size_t n = 0;
	int end = snapshot_walk(&s, frames, &n, MAX_DEPTH + 1);

	sw->n_steps++;
	if (end == END_ROOT && is_same(&sw->shadow, regs->rip, frames, n))
		return;
	if (sw->n_wrong++ < MAX_REPORTS && !sw->is_quiet)
		report(sw, regs->rip, frames, n, end);
}

static inline void begin(struct sweep *sw, pid_t pid, void *const *callers, int n_callers)
{
	struct wire_frame frames[MAX_DEPTH];
	struct user_regs_struct regs;
	struct snapshot s;
	size_t n = 0;

	target_open(&sw->target, pid);
	ptrace(PTRACE_GETREGS, pid, NULL, &regs);
	s = target_snapshot(&sw->target, &regs);
	assert_int_equal(snapshot_walk(&s, frames, &n, MAX_DEPTH), END_ROOT);
	/* The child is a copy: above the test its callers are those that backtrace() saw before the
	   fork (behind a frame of a sanitizer's own, if there is one). */
	assert_in_range(n, 4, n_callers + 1);
	for (size_t i = 2; i < n; i++)
		assert_int_equal(frames[i].addr, (uintptr_t)callers[(size_t)n_callers - n + i]);
	while (n > 1)
		shadow_push(&sw->shadow, UINT64_MAX, frames[--n].addr, false);
}

static inline void run_sweep(struct sweep *sw, pid_t pid)
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

/*
 * The child runs fn between two int3; its first is where the sweep begins, its second ends it. Call
 * from a test function that is not inlined. set_up may change what the walk is told.
 */
static inline __attribute__((always_inline)) struct sweep *
sweep_child(void (*fn)(void), void (*set_up)(struct target *), bool is_quiet)
{
	struct sweep *sw = calloc(1, sizeof(*sw));
	void *callers[64];
	int n_callers = backtrace(callers, 64), status;
	pid_t pid = fork();

	if (pid == 0)
		fn();
	waitpid(pid, &status, 0);
	assert_true(WIFSTOPPED(status));
	sw->is_quiet = is_quiet;
	begin(sw, pid, callers, n_callers);
	if (set_up)
		set_up(&sw->target);
	run_sweep(sw, pid);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	target_close(&sw->target);
	return sw;
}

#endif
