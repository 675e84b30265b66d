// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The CPU samplers: a perf event ticks on every CPU; ticks that hit a target become samples.
 *
 * A hardware counter ticks in an NMI, which can interrupt everything, process_fork too. Nothing is
 * shared that could be half done: what is written (scratch slot, their counters) only ticks
 * touch, and a CPU's ticks do not interrupt each other; maps that others write are only looked up
 * in, without a lock; the ring refuses where its lock is held, which is counted as lost. Reading
 * user memory is allowed in an NMI; kernels from 5.18 to 6.3 without the fix of
 * copy_from_user_nofault() may hang in it, in other interrupts too.
 */
#include "bpf/maps.bpf.h"
#include "bpf/sample.bpf.h"
#include "bpf/target.bpf.h"
#include "bpf/tick.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Of a counter whose period the kernel changes, what the tick itself says: then it is right for
   each by itself. (The events since the tick before would make the same sum, but count what other
   programs did.) */
static __always_inline __u64 sample_weight(struct bpf_perf_event_data *ctx, __u64 worth_ns)
{
	return is_worth_period ? ctx->sample_period : worth_ns;
}

/* Which counter this tick ends in. */
static __always_inline int tick(struct bpf_perf_event_data *ctx, struct scratch *s)
{
	bool is_user_mode = PT_REGS_IS_USER(&ctx->regs);
	__u32 cpu = bpf_get_smp_processor_id();
	const struct tick_length *length = bpf_map_lookup_elem(&tick_lengths, &cpu);
	__u64 pid_tgid, worth_ns;

	if (!length)
		return TICK_LOST_ERROR;
	worth_ns = tick_worth_ns(&s->cpu, length);
	pid_tgid = bpf_get_current_pid_tgid();
	if (!pid_tgid)
		return TICK_IDLE;
	if (!is_last_target(&s->last, pid_tgid >> 32) &&
	    !is_target(pid_tgid >> 32, (__u32)pid_tgid))
		return TICK_FILTERED;
	if (is_kernel_only && is_user_mode)
		return TICK_FILTERED;
	s->kernel.ip = is_user_mode ? 0 : PT_REGS_PC(&ctx->regs);
	s->kernel.sp = PT_REGS_SP(&ctx->regs);
	s->kernel.bp = PT_REGS_FP(&ctx->regs);
	s->is_entering = is_worth_period && !is_user_mode && PT_REGS_IS_ENTERING(&ctx->regs);
	return sample_take(ctx, is_user_mode ? &ctx->regs : NULL, sample_weight(ctx, worth_ns),
			   is_worth_period ? WIRE_CYCLES : WIRE_CPU, s);
}

SEC("perf_event")
int cpu_tick(struct bpf_perf_event_data *ctx)
{
	struct scratch *s = scratch_get();
	__u32 end;

	if (!s)
		return 0;
	end = tick(ctx, s);
	if (end < N_COUNTERS)
		s->cpu.counters[end]++;
	return 0;
}

static __always_inline void copy_python(__u32 parent_pid, __u32 pid)
{
	struct python_process copy;

	if (python_process_copy(&copy, parent_pid))
		bpf_map_update_elem(&python_processes, &pid, &copy, BPF_ANY);
}

/* A child of a target is one; a pid is new, whatever had it before. */
static __always_inline void follow_target(__u32 parent_pid, __u32 pid)
{
	__u32 *target = bpf_map_lookup_elem(&target_pids, &parent_pid);
	struct scratch *s;

	if (!target) {
		bpf_map_delete_elem(&target_pids, &pid);
		return;
	}
	if (!bpf_map_update_elem(&target_pids, &pid, target, BPF_ANY))
		return;
	s = scratch_get();
	if (s)
		s->cpu.counters[TARGETS_REFUSED]++;
}

/* A fork copies what is known of its parent, so that the child's first tick already counts. */
SEC("raw_tp/sched_process_fork")
int process_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *parent = (void *)ctx->args[0], *child = (void *)ctx->args[1];
	__u32 parent_pid = BPF_CORE_READ(parent, tgid), pid = BPF_CORE_READ(child, tgid);
	struct unwind_process copy, *proc;

	if (pid == parent_pid)
		return 0;
	if (target_flags & TARGET_CHILDREN)
		follow_target(parent_pid, pid);
	if (target_flags == TARGET_PIDS)
		return 0;
	proc = bpf_map_lookup_elem(&unwind_processes, &parent_pid);
	if (!proc)
		return 0;
	copy = *proc;
	copy.start_time_ns = BPF_CORE_READ(child, start_boottime);
	copy.mm = (__u64)BPF_CORE_READ(child, mm);
	bpf_map_update_elem(&unwind_processes, &pid, &copy, BPF_ANY);
	if (copy.flags & UNWIND_PROCESS_PYTHON)
		copy_python(parent_pid, pid);
	return 0;
}
