// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Walks each kernel stack that it meets twice, by our own walk and by the kernel's, and counts. */
#include "bpf/maps.bpf.h"
#include "bpf/kernel_stack.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Bytes of do_syscall_64(), at least: nearly all stacks begin with a call from there. */
#define SYSCALLS_LEN 0x400

__u64 n_same, n_other, n_left, n_ours_ns, n_kernels_ns;
__u64 other_ip;	     /* where the kernel was when they differed last */
__u64 outer_ips[16]; /* where do_syscall_64() was seen to call something */

static __always_inline void compare(struct bpf_perf_event_data *ctx, struct scratch *s)
{
	__u64 ip = s->kernel.ip, began = bpf_ktime_get_ns(), between;
	struct orc_tables *t = orc_tables();
	__u32 n = kernel_walk();
	__u64 last;
	long len;

	between = bpf_ktime_get_ns();
	len = bpf_get_stack(ctx, s->kernel_stack, sizeof(s->kernel_stack), 0);
	__sync_fetch_and_add(&n_ours_ns, between - began);
	__sync_fetch_and_add(&n_kernels_ns, bpf_ktime_get_ns() - between);
	last = len > 0 ? (__u64)len / sizeof(__u64) - 2 : MAX_KERNEL_FRAMES;
	OPAQUE(last);
	if (last < MAX_KERNEL_FRAMES && t && s->kernel_stack[last] - t->called < SYSCALLS_LEN)
		outer_ips[s->kernel_stack[last] >> 2 & 15] = s->kernel_stack[last];
	if (!n) {
		__sync_fetch_and_add(&n_left, 1);
	} else if ((__u64)len == n * sizeof(__u64) && kernel_is_same(n)) {
		__sync_fetch_and_add(&n_same, 1);
	} else {
		__sync_fetch_and_add(&n_other, 1);
		other_ip = ip;
	}
}

/* Where the kernel was interrupted, if it was. */
static __always_inline struct scratch *begin(struct bpf_perf_event_data *ctx)
{
	struct scratch *s = scratch_get();

	if (!s || PT_REGS_IS_USER(&ctx->regs) || !bpf_get_current_pid_tgid())
		return NULL;
	s->kernel.ip = PT_REGS_PC(&ctx->regs);
	s->kernel.sp = PT_REGS_SP(&ctx->regs);
	s->kernel.bp = PT_REGS_FP(&ctx->regs);
	return s;
}

SEC("perf_event")
int compare_walks(struct bpf_perf_event_data *ctx)
{
	struct scratch *s = begin(ctx);

	if (s)
		compare(ctx, s);
	return 0;
}

/* The same of what samples get, where tables may lie: nothing is left out once they are not used.
 */
SEC("perf_event")
int compare_stacks(struct bpf_perf_event_data *ctx)
{
	struct scratch *s = begin(ctx);
	struct orc_tables *t = orc_tables();
	__u32 n;
	long len;

	if (!s || !t)
		return 0;
	n = kernel_stack(ctx, s);
	len = bpf_get_stack(ctx, s->kernel_stack, sizeof(s->kernel_stack), 0);
	if ((__u64)len == n * sizeof(__u64) && kernel_is_same(n))
		__sync_fetch_and_add(&n_same, 1);
	else
		__sync_fetch_and_add(&n_other, 1);
	if (!t->n)
		__sync_fetch_and_add(&n_left, 1);
	return 0;
}
