/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Takes one sample of the current task: who it is, its kernel frames, its user frames or a snapshot
 * of the stack. For every sampler; one that can interrupt another finds the scratch slot busy.
 */
#ifndef BPF_SAMPLE_BPF_H
#define BPF_SAMPLE_BPF_H

#include "bpf/python_stack.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/build_ids.bpf.h"
#include "bpf/kernel_stack.bpf.h"
#include "bpf/snapshot.bpf.h"
#include "unwinders/unwind.bpf.h"

/* What is known of the task before its stack. */
struct task_image {
	__u64 vdso, mm;
	bool has_mm; /* false: never in user mode (again): a kernel thread, one of io_uring's, or
			one that gave its memory up already */
};

/* Plain loads where the kernel allows them: each read by helper costs as much as a frame. */
static __always_inline struct task_image sample_identify(struct wire_sample *sample)
{
	struct task_struct *task = bpf_get_current_task_btf(), *leader = task->group_leader;
	struct mm_struct *mm = task->mm;
	struct task_image image = { .has_mm = mm && !(task->flags & PF_KERNEL_ONLY) };

	sample->pid = task->tgid;
	sample->tid = task->pid;
	sample->start_time_ns = leader->start_boottime;
	__builtin_memcpy(sample->comm, task->comm, sizeof(sample->comm));
	if (image.has_mm) {
		image.mm = (__u64)mm;
		image.vdso = (__u64)mm->context.vdso;
		sample->n_code_pages = mm->exec_vm;
	}
	return image;
}

static __always_inline struct task_image sample_identify_by_helpers(struct wire_sample *sample)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	struct task_image image = { .has_mm =
					    mm && !(BPF_CORE_READ(task, flags) & PF_KERNEL_ONLY) };
	__u64 pid_tgid = bpf_get_current_pid_tgid();

	sample->pid = pid_tgid >> 32;
	sample->tid = (__u32)pid_tgid;
	sample->start_time_ns = BPF_CORE_READ(leader, start_boottime);
	bpf_get_current_comm(sample->comm, sizeof(sample->comm));
	if (image.has_mm) {
		image.mm = (__u64)mm;
		image.vdso = (__u64)BPF_CORE_READ(mm, context.vdso);
		sample->n_code_pages = BPF_CORE_READ(mm, exec_vm);
	}
	return image;
}

/* The registers user space will find again, for a task that is in the kernel: at the top of its
   kernel stack. */
static __always_inline int sample_saved_regs(struct pt_regs *regs)
{
	const void *saved;

	if (has_task_pt_regs)
		saved = (const void *)bpf_task_pt_regs((void *)bpf_get_current_task_btf());
	else
		saved = (void *)(kernel_task_stack() + KERNEL_STACK_SIZE - sizeof(*regs));
	return bpf_probe_read_kernel(regs, sizeof(*regs), saved);
}

/* False when there are none to walk from. */
static __always_inline bool sample_set_regs(struct scratch *s, const struct pt_regs *regs)
{
	PT_REGS_RESTORE(s->u.regs, regs);
	s->u.valid_regs = ALL_REGS;
	s->u.is_exact = 1;
	return PT_REGS_IS_USER(regs);
}

/* Inside execve the memory may be new while the registers are old: then there is no stack to show.
 */
static __always_inline bool sample_is_between_images(const struct scratch *s)
{
	__u64 word;

	return s->is_exec && read_user(s->u.regs[REG_SP], &word, sizeof(word));
}

/*
 * What user space needs to go on. A rule that wants a register the walk does not follow (rbx where
 * the dynamic linker resolves a symbol, say) is only helped by walking again from the first frame,
 * with all registers: sample->regs are its.
 */
static __always_inline void sample_keep_registers(struct scratch *s, int end, __u32 leaf_valid,
						  __u32 leaf_is_exact)
{
	struct wire_sample *sample = &s->sample;
	__u64 distance = s->u.regs[REG_SP] - sample->regs[REG_SP];

	if ((end == END_EXPRESSION || end == END_NO_RULE) && sample->n_user &&
	    distance < SNAPSHOT_MAX_REWIND) {
		sample->n_user = 0;
		sample->valid_regs = leaf_valid;
		sample->regs_flags = leaf_is_exact ? WIRE_FRAME_EXACT : 0;
		return;
	}
	__builtin_memcpy(sample->regs, s->u.regs, sizeof(sample->regs));
	sample->valid_regs = s->u.valid_regs;
	sample->regs_flags = s->u.is_exact ? WIRE_FRAME_EXACT : 0;
}

/* The user part of the stack. Returns why it ended. */
static __always_inline int sample_user_frames(struct scratch *s, struct task_image image,
					      __u32 n_kernel)
{
	struct wire_sample *sample = &s->sample;
	__u32 leaf_valid = s->u.valid_regs, leaf_is_exact = s->u.is_exact;
	__u32 n_user = 0;
	int end = END_NO_PROCESS;

	if (sample_is_between_images(s))
		return END_KERNEL_ONLY;
	__builtin_memcpy(sample->regs, s->u.regs, sizeof(sample->regs));
	if (unwind_set_process(&s->u, image.vdso, image.mm))
		end = unwind_user(s, n_kernel, &n_user);
	sample->n_user = n_user;
	if (!snapshot_helps(end))
		return end;
	sample_keep_registers(s, end, leaf_valid, leaf_is_exact);
	sample->snapshot_reason = end;
	return snapshot_take(&s->cpu, sample);
}

static __always_inline int sample_send(struct scratch *s)
{
	__u64 len = sizeof(s->sample) +
		    (s->sample.n_kernel + s->sample.n_user) * sizeof(struct wire_frame);
	/* Where code went without a record, the maps must be read while they are as now; and so
	   must what waits for a task. */
	bool is_urgent = s->sample.end == END_SNAPSHOT || s->is_code_new || s->has_task ||
			 bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) >= ring_wakeup_len;

	OPAQUE(len);
	if (len > sizeof(s->sample) + sizeof(s->frames))
		return TICK_LOST_ERROR;
	s->sample.h.type = WIRE_SAMPLE;
	s->sample.h.flags = 0;
	s->sample.h.len = len;
	if (bpf_ringbuf_output(&ring, &s->sample, len,
			       is_urgent ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP))
		return TICK_LOST_RING;
	return TICK_SAMPLED;
}

/* The stack of a task that runs in user mode with these registers, or is in the kernel (NULL). */
static __always_inline int sample_stack(void *ctx, const struct pt_regs *interrupted,
					struct scratch *s)
{
	struct wire_sample *sample = &s->sample;
	struct task_image image =
		has_task_btf ? sample_identify(sample) : sample_identify_by_helpers(sample);
	bool has_user;
	int tick;

	sample->cgroup_id = bpf_get_current_cgroup_id();
	s->is_exec = 0;
	s->u.flags = 0;
	s->is_code_new = s->has_task = s->is_span_known = s->is_polling = 0;
	if (interrupted) {
		has_user = sample_set_regs(s, interrupted);
		if (has_user && !PT_REGS_IS_64BIT(interrupted))
			return TICK_UNSUPPORTED;
	} else {
		if (!is_user_only)
			sample->n_kernel = kernel_stack(ctx, s);
		has_user = image.has_mm && !s->is_entering && !sample_saved_regs(&s->user_regs) &&
			   sample_set_regs(s, &s->user_regs);
		if (has_user && !PT_REGS_IS_64BIT(&s->user_regs))
			return TICK_UNSUPPORTED;
		/* After a system call instruction the pc is like a return address: the next
		   instruction may belong to another row. */
		s->is_exec = PT_REGS_SYSCALL(&s->user_regs) == SYSCALL_EXECVE ||
			     PT_REGS_SYSCALL(&s->user_regs) == SYSCALL_EXECVEAT;
		s->is_polling = SYSCALL_IS_SELECTOR(PT_REGS_SYSCALL(&s->user_regs));
		/* But when exec has made its new image, it is where the program begins. */
		if (has_user && PT_REGS_SYSCALL(&s->user_regs) >= 0)
			s->u.is_exact = s->is_exec && PT_REGS_IS_CLEARED(&s->user_regs);
	}
	if (!is_kernel_only && has_user)
		sample->end = sample_user_frames(s, image, sample->n_kernel);
	else if (!is_kernel_only && image.has_mm)
		sample->end = END_NO_REGISTERS;
	if (s->u.flags & UNWIND_PROCESS_CONTEXT)
		span_of_thread(s, image.vdso);
	if (s->u.flags & UNWIND_PROCESS_PYTHON)
		python_stack(s, image.vdso);
	if (sample->n_kernel == 0 && sample->end == END_KERNEL_ONLY)
		return TICK_FILTERED;
	if (build_ids_help(s))
		build_ids_send(ctx, sample->id);
	tick = sample_send(s);
	if (tick != TICK_SAMPLED && s->u.flags & UNWIND_PROCESS_PYTHON)
		python_lose();
	return tick;
}

/* Returns the TICK_* it became. weight: what the sample is worth in the sampler's unit. */
static __always_inline int sample_take(void *ctx, const struct pt_regs *interrupted, __u64 weight,
				       __u16 sampler, struct scratch *s)
{
	struct wire_sample *sample = &s->sample;
	int tick;

	if (s->is_busy)
		return TICK_LOST_BUSY;
	s->is_busy = 1;
	__builtin_memset(sample, 0, sizeof(*sample));
	sample->time_ns = bpf_ktime_get_ns();
	sample->cpu = bpf_get_smp_processor_id();
	sample->id = (__u64)sample->cpu << 40 | ++s->cpu.n_samples;
	sample->weight = weight;
	sample->sampler = sampler;
	sample->end = END_KERNEL_ONLY;
	tick = sample_stack(ctx, interrupted, s);
	s->is_busy = 0;
	return tick;
}

#endif
