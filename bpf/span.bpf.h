/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The span that a sample is of, as the thread itself says it, and its record. */
#ifndef BPF_SPAN_BPF_H
#define BPF_SPAN_BPF_H

#include "bpf/maps.bpf.h"
#include "unwinders/unwind.bpf.h"
#include "unwinders/thread_context.bpf.h"

static __always_inline __u64 thread_pointer(void)
{
	struct task_struct *task;

	if (has_task_btf) {
		task = bpf_get_current_task_btf();
		return TASK_THREAD_POINTER(task);
	}
	task = (void *)bpf_get_current_task();
	return BPF_CORE_READ(task, thread.fsbase);
}

/* len: with its name, which is there. 0; 1: the ring was full. */
static __always_inline int span_send(struct python_scratch *p, __u64 len, __u64 sample_id,
				     const struct python_span_ids *ids)
{
	struct wire_span *span = &p->span; /* a stack has no room for it */

	span->h.type = WIRE_SPAN;
	span->h.flags = 0;
	span->h.len = len;
	span->sample_id = sample_id;
	__builtin_memcpy(span->trace_id, ids->trace_id, sizeof(span->trace_id));
	__builtin_memcpy(span->span_id, ids->span_id, sizeof(span->span_id));
	return bpf_ringbuf_output(&ring, span, len, BPF_RB_NO_WAKEUP) != 0;
}

/* For a process whose threads may say which span they are in. A thread that says nothing may still
   have one that its runtime knows of. */
static __always_inline void span_of_thread(struct scratch *s, __u64 vdso)
{
	__u32 pid = s->sample.pid;
	const struct unwind_process *proc = bpf_map_lookup_elem(&unwind_processes, &pid);
	struct python_scratch *p = python_scratch_get();
	struct python_span_ids ids;
	int said;

	if (!p || !proc || proc->vdso != vdso)
		return;
	said = thread_context_read(&proc->context, thread_pointer(), &ids);
	s->is_span_known = said != THREAD_CONTEXT_NONE;
	p->span.name_len = 0;
	if (said == THREAD_CONTEXT_SPAN)
		s->cpu.counters[SPANS_LOST_RING] +=
			span_send(p, sizeof(p->span), s->sample.id, &ids);
}

#endif
