// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The GIL sampler: the time that threads are blocked on CPython's GIL, with the stack they have
 * then. A wait begins when a thread is switched out in futex() on a word of the GIL, and ends when
 * it is switched in: that it has to wait for a CPU after it was woken is in it. Whoever wants the
 * GIL sleeps for a switch interval (5 ms) at a time, so one attempt may be many waits, each counted
 * for itself.
 *
 * A switch is one of the hottest places of a kernel, and its run queue is locked: what does not go
 * to sleep in futex() is gone after a few instructions, what is none of a target's Python after one
 * look into a map, and stacks are walked of some waits only (points.bpf.h).
 */
#include "bpf/maps.bpf.h"
#include "bpf/points.bpf.h"
#include "bpf/sample.bpf.h"
#include "bpf/target.bpf.h"
#include "unwinders/python_gil.bpf.h"

#define FUTEX_COMMAND 127 /* of its second argument; the rest are flags */
#define FUTEX_COMMAND_WAIT 0
#define FUTEX_COMMAND_WAIT_BITSET 9
#define SWITCH_INTERVAL_NS 5000000 /* sys.getswitchinterval(), unless it was set */

/* A thread that waited for a GIL, and may do so now. */
struct gil_wait {
	__u64 since_ns; /* 0: it does not wait */
	__u64 expected_ns;
	__u64 taken_ns;
	__u64 sample_id;
	__u32 tick; /* the counter that it will end in */
	__u32 pad;
};

/* By thread. Switches write; the oldest give way, as nobody hears of threads that end. User space
   sets the size. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct gil_wait);
} gil_waits SEC(".maps");

/* The word that a system call waits on; 0: it does not wait. */
static __always_inline __u64 futex_of(const struct pt_regs *regs)
{
	__u32 command = PT_REGS_SECOND_ARG(regs) & FUTEX_COMMAND;

	if (PT_REGS_SYSCALL(regs) != SYSCALL_FUTEX)
		return 0;
	if (command != FUTEX_COMMAND_WAIT && command != FUTEX_COMMAND_WAIT_BITSET)
		return 0;
	return PT_REGS_FIRST_ARG(regs);
}

/* Of the current task. */
static __always_inline __u64 futex_of_task(struct task_struct *task)
{
	struct scratch *s;

	if (has_task_pt_regs)
		return futex_of((const struct pt_regs *)bpf_task_pt_regs(task));
	s = scratch_get();
	return s && !sample_saved_regs(&s->user_regs) ? futex_of(&s->user_regs) : 0;
}

/* Or may it go on, and only has no CPU? */
static __always_inline bool is_asleep(struct task_struct *task)
{
	if (bpf_core_field_exists(task->__state))
		return task->__state;
	return ((struct task_struct___before_5_14 *)task)->state;
}

static __always_inline bool waits_for_gil(struct task_struct *task)
{
	__u64 futex = futex_of_task(task);
	const struct python_process *python;
	__u32 pid;

	if (!futex)
		return false;
	pid = task->tgid;
	python = bpf_map_lookup_elem(&python_processes, &pid);
	return python && python->vdso == (__u64)task->mm->context.vdso &&
	       python_gil_has(python, futex) && is_target(pid, task->pid);
}

static __always_inline struct gil_wait *gil_wait_of(__u32 tid)
{
	const struct gil_wait fresh = { .expected_ns = SWITCH_INTERVAL_NS };
	struct gil_wait *wait = bpf_map_lookup_elem(&gil_waits, &tid);

	if (wait)
		return wait;
	bpf_map_update_elem(&gil_waits, &tid, &fresh, BPF_ANY);
	return bpf_map_lookup_elem(&gil_waits, &tid);
}

static __always_inline void gil_begin(void *ctx, struct task_struct *task, struct scratch *s)
{
	struct gil_wait *wait = gil_wait_of(task->pid);

	s->cpu.counters[GIL_WAITS]++;
	if (!wait)
		return;
	wait->tick = TICK_SKIPPED;
	wait->taken_ns = points_take(&s->cpu.points, wait->expected_ns, bpf_ktime_get_ns());
	if (wait->taken_ns) {
		wait->tick = sample_take(ctx, NULL, 0, WIRE_GIL, s);
		wait->sample_id = s->sample.id;
	}
	wait->since_ns = bpf_ktime_get_ns();
}

static __always_inline void gil_end(struct gil_wait *wait, __u32 tid, struct scratch *s)
{
	__u64 len_ns = bpf_ktime_get_ns() - wait->since_ns;
	struct wire_weight record = {
		.h = { .type = WIRE_WEIGHT, .len = sizeof(record) },
		.sample_id = wait->sample_id,
		.weight = points_worth(len_ns, wait->expected_ns, wait->taken_ns),
		.tid = tid,
	};
	__u32 tick = wait->tick;

	if (tick == TICK_SAMPLED &&
	    bpf_ringbuf_output(&ring, &record, sizeof(record), BPF_RB_NO_WAKEUP))
		tick = TICK_LOST_RING;
	if (tick < N_COUNTERS)
		s->cpu.counters[tick]++;
	if (tick == TICK_SAMPLED || tick == TICK_SKIPPED)
		s->cpu.counters[GIL_NS] += len_ns;
	wait->since_ns = 0;
	wait->expected_ns = points_expect(len_ns, wait->expected_ns);
}

/* Arguments: is it preempted, the task that goes, the one that comes. */
SEC("?tp_btf/sched_switch")
int gil_switch(__u64 *ctx)
{
	struct task_struct *goes = (void *)ctx[1], *comes = (void *)ctx[2];
	struct gil_wait *wait = NULL;
	struct scratch *s;
	__u32 tid;

	if (comes->mm) {
		tid = comes->pid;
		wait = bpf_map_lookup_elem(&gil_waits, &tid);
		if (wait && (s = scratch_get()) && wait->since_ns)
			gil_end(wait, tid, s);
	}
	if (!ctx[0] && goes->mm && is_asleep(goes) && waits_for_gil(goes) && (s = scratch_get()))
		gil_begin(ctx, goes, s);
	return 0;
}
