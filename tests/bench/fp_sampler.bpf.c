// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The smallest sampler there is, to compare with: the kernel's own frame-pointer walk of one
 * process, sent through a ring buffer at its true length.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#define MAX_BYTES (127 * 8)

const volatile __u32 target;
__u64 samples;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__uint(value_size, MAX_BYTES + 8);
} scratch SEC(".maps");

SEC("perf_event")
int fp_sample(void *ctx)
{
	__u32 zero = 0;
	__u64 *stack;
	long len;

	if (bpf_get_current_pid_tgid() >> 32 != target)
		return 0;
	stack = bpf_map_lookup_elem(&scratch, &zero);
	if (!stack)
		return 0;
	len = bpf_get_stack(ctx, stack, MAX_BYTES, BPF_F_USER_STACK);
	if (len <= 0 || len > MAX_BYTES)
		return 0;
	__sync_fetch_and_add(&samples, 1);
	bpf_ringbuf_output(&ring, stack, len, BPF_RB_NO_WAKEUP);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
