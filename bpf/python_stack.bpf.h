/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The Python part of a sample: the frames of the thread's CPython stack, sent before the sample.
 * User space puts them between the native frames they belong to.
 */
#ifndef BPF_PYTHON_STACK_BPF_H
#define BPF_PYTHON_STACK_BPF_H

#include "bpf/maps.bpf.h"
#include "unwinders/unwind.bpf.h"
#include "unwinders/python.bpf.h"
#include "bpf/python_code.bpf.h"
#include "bpf/python_known.bpf.h"
#include "bpf/span.bpf.h"
#include "unwinders/python_await.bpf.h"
#include "unwinders/python_worker.bpf.h"
#include "unwinders/python_running.bpf.h"
#include "unwinders/python_span.bpf.h"
#include "unwinders/python_task.bpf.h"

_Static_assert(MAX_CURRENT_ENTRIES * sizeof(struct python_dict_entry) <=
		       MAX_PYTHON_FRAMES * sizeof(struct wire_python_frame),
	       "what is read of a dict fits in there");

#define PYTHON_FRAMES_PER_CALL 8 /* as FRAMES_PER_CALL */

/* Some frames, beginning with number `first`. How the walk goes on (0 or a counter) in the low
   half, how many there are then in the high one. */
UNWIND_GLOBAL __u64 python_frames(__u64 first)
{
	struct python_scratch *p = python_scratch_get();

	if (!p)
		return PYTHON_BROKEN | first << 32;
	for (__u64 i = 0; i < PYTHON_FRAMES_PER_CALL; i++) {
		__u64 at = first + i;
		int end;

		if (!python_is_more(&p->walk))
			return PYTHON_STACKS | at << 32;
		OPAQUE(at);
		if (at >= MAX_PYTHON_FRAMES)
			return PYTHON_TRUNCATED | at << 32;
		end = python_step(&p->walk, &p->process, &p->reads, &p->frames[at]);
		if (end)
			return (__u32)end | at << 32;
		if (p->walk.gen)
			python_tasks_see(&p->tasks, p->walk.gen, at);
		if (p->process.loop_code == p->frames[at].addr && !p->record.loop_time)
			p->record.loop_time =
				python_read_float(&p->process, p->walk.at + p->process.loop_time);
		python_worker_see(p, p->frames[at].addr);
		python_show(p, &p->frames[at]);
	}
	return (first + PYTHON_FRAMES_PER_CALL) << 32;
}

/* Goes on with the frames that the thread has in another interpreter, n are there already. False:
   it has none, or there is no room for them. */
UNWIND_GLOBAL __u64 python_go_outwards(__u64 n)
{
	struct python_scratch *p = python_scratch_get();

	if (!p || n >= MAX_PYTHON_FRAMES || !python_outer(&p->walk, &p->process, &p->reads))
		return false;
	p->reads.epoch = 0; /* that was the other one's */
	return true;
}

/* Which tasks may be that of the thread with this state; how many. A function of its own, as the
   ways through a dict, times those of a wait for the GIL, are more than a verifier follows. */
UNWIND_GLOBAL __u64 python_tasks_find(__u64 tstate)
{
	struct python_scratch *p = python_scratch_get();

	if (!p)
		return 0;
	python_tasks_begin(&p->tasks, &p->process, tstate, p->reads.frame,
			   (struct python_dict_entry *)p->frames); /* empty yet */
	return p->tasks.n;
}

/* The task that the thread executes though its coroutine is not on the stack. */
UNWIND_GLOBAL int python_tasks_elsewhere(void)
{
	struct python_scratch *p = python_scratch_get();

	if (p)
		python_tasks_running(&p->tasks, &p->process, p->walk.tstate, p->span_bytes);
	return 0;
}

/* The thread with this number executes the task that was found on its stack. */
UNWIND_GLOBAL int python_tasks_note(__u32 tid)
{
	struct python_scratch *p = python_scratch_get();
	__u64 loop, *known;

	if (!p || !p->process.object_head)
		return 0;
	loop = python_read_pointer(p->tasks.task + p->process.awaits.head + PYTHON_AWAIT_LOOP);
	known = bpf_map_lookup_elem(&python_threads, &tid);
	if (!known || *known != loop)
		bpf_map_update_elem(&python_threads, &tid, &loop, BPF_ANY);
	return 0;
}

/* The time of the turn of uvloop's that the thread is in. */
UNWIND_GLOBAL int python_uv_turn(__u32 tid, __u32 is_polling)
{
	struct python_scratch *p = python_scratch_get();
	__u64 *loop;

	if (!p)
		return 0;
	if (p->tasks.task) {
		p->record.loop_ms = python_uv_time(
			&p->process, python_read_pointer(p->tasks.task + p->process.object_head));
		return 0;
	}
	loop = is_polling ? NULL : bpf_map_lookup_elem(&python_threads, &tid);
	if (!loop || !python_uv_runs(&p->process, *loop, p->walk.thread, p->reads.frame))
		return 0;
	p->record.loop_ms = python_uv_time(&p->process, *loop);
	p->record.h.flags = WIRE_PYTHON_LOOP_UNSURE;
	return 0;
}

/* n frames of the stack, then up to number n_all those of what waits for its task. */
static __always_inline void python_send(struct scratch *s, struct python_scratch *p, __u64 n,
					__u64 n_all)
{
	__u64 len;

	if (n > MAX_PYTHON_FRAMES)
		n = MAX_PYTHON_FRAMES;
	p->record.has_parents = n_all && n_all >= n;
	if (n_all < n)
		n_all = n;
	if (n_all > MAX_PYTHON_FRAMES)
		n_all = MAX_PYTHON_FRAMES;
	len = sizeof(p->record) + n_all * sizeof(struct wire_python_frame);
	OPAQUE(len);
	if (len > sizeof(p->record) + sizeof(p->frames))
		return;
	p->record.h.type = WIRE_PYTHON;
	if (s->sample.sampler == WIRE_GIL)
		p->record.h.flags |= WIRE_PYTHON_WAITS_FOR_GIL;
	else if (p->process.has_gil && p->walk.is_attached)
		p->record.h.flags |= WIRE_PYTHON_HOLDS_GIL;
	else if (p->process.has_gil && p->process.attached.kind != PYTHON_SLOT_NONE)
		p->record.h.flags |= WIRE_PYTHON_RELEASED_GIL;
	p->record.h.len = len;
	p->record.sample_id = s->sample.id;
	p->record.n = n;
	p->record.n_parents = n_all - n;
	if (bpf_ringbuf_output(&ring, &p->record, len, BPF_RB_NO_WAKEUP))
		s->cpu.counters[PYTHON_LOST_RING]++;
}

/* The name as it is now: the task may be gone when user space looks for it; and what its future
   will do where user space has to look for what waits for it. */
static __always_inline void python_send_task(struct scratch *s, struct python_scratch *p, bool asks)
{
	struct wire_python_task *t = &p->task;

	t->task = p->tasks.task;
	t->addr = python_tasks_name(&p->tasks, &p->process);
	t->len = t->addr ? python_copy(t->name, t->addr, sizeof(t->name)) : 0;
	if (!t->len)
		return;
	/* Its loop's thread may have gone on meanwhile. */
	if (p->is_worker && (python_worker_task() != t->task ||
			     python_tasks_name(&p->tasks, &p->process) != t->addr))
		return;
	t->h.type = WIRE_PYTHON_TASK;
	t->h.flags = 0;
	t->h.len = sizeof(*t);
	t->sample_id = s->sample.id;
	t->root = p->tasks.root;
	t->coro = p->tasks.coro;
	if (!asks ||
	    read_user(t->task + p->process.task_callbacks, t->callbacks, sizeof(t->callbacks)))
		__builtin_memset(t->callbacks, 0, sizeof(t->callbacks));
	s->has_task = asks;
	if (bpf_ringbuf_output(&ring, t, sizeof(*t), BPF_RB_NO_WAKEUP))
		s->cpu.counters[PYTHON_LOST_RING]++;
}

/* The name, which is mostly a short one. Unless the thread has the GIL somebody may change it
   meanwhile, and the str be gone: what the span has before and after it was copied was there all
   the time. Returns how much of span_name there is to send. */
static __always_inline __u64 python_copy_span_name(struct python_scratch *p,
						   const struct python_span_name *name)
{
	__u32 len = name->addr ? python_copy(p->span_name, name->addr, PYTHON_STR_BEGIN) : 0;
	__u64 most = PYTHON_STR_BEGIN;

	if (len && python_str_size(&p->process.spans, p->span_name) > PYTHON_STR_BEGIN) {
		most = sizeof(p->span_name);
		len = python_copy(p->span_name, name->addr, sizeof(p->span_name));
	}
	if (len && (!p->process.has_gil || !p->walk.is_attached) &&
	    python_read_pointer(name->place) != name->addr)
		len = 0;
	p->span.name_addr = name->addr;
	p->span.name_len = len;
	return len ? most : 0;
}

/* Sends the span that the thread with this state is in, if any. 0; 1: the ring was full. */
UNWIND_GLOBAL int python_send_span(__u64 tstate)
{
	struct python_scratch *p = python_scratch_get();
	struct python_span_name name;
	struct python_span_ids ids;
	__u64 len;

	if (!p || !python_span_in(&p->process.spans, p->span_bytes,
				  python_read_pointer(tstate + p->process.spans.thread_context),
				  &ids, &name))
		return 0;
	len = sizeof(p->span) + python_copy_span_name(p, &name);
	return span_send(p, len, p->code.sample_id, &ids);
}

/* A thread that executes no task may do what one waits for. */
UNWIND_GLOBAL int python_tasks_served(void)
{
	struct python_scratch *p = python_scratch_get();

	if (!p)
		return 0;
	p->tasks.task = python_worker_task();
	p->is_worker = p->tasks.task != 0;
	if (!p->is_worker)
		return 0;
	p->tasks.coro = python_read_pointer(p->tasks.task + p->process.task_coro);
	p->tasks.root = WIRE_TASK_ELSEWHERE;
	return 0;
}

/* Each time user space says something new of a process its image has another generation. */
static __always_inline bool python_look_up(const struct scratch *s, struct python_scratch *p,
					   __u64 vdso)
{
	__u32 pid = s->sample.pid;

	if (p->pid == pid && p->generation == s->u.generation)
		return true;
	p->pid = 0;
	if (!python_process_copy(&p->process, pid) || p->process.vdso != vdso)
		return false;
	p->generation = s->u.generation;
	p->pid = pid;
	return true;
}

/* Sends nothing for a thread that runs no Python. */
static __always_inline void python_stack(struct scratch *s, __u64 vdso)
{
	struct python_scratch *p = python_scratch_get();
	__u32 pid = s->sample.pid;
	__u64 n = 0, n_all = 0, end = 0;

	if (!p)
		return;
	p->n_sent = 0;
	if (!python_look_up(s, p, vdso))
		return;
	p->code.sample_id = s->sample.id;
	python_reads_begin(&p->reads, (__u32)s->sample.id);
	p->record.loop_time = p->record.loop_ms = 0;
	p->record.h.flags = 0;
	p->code.pad = pid;
	if (!python_begin(&p->walk, &p->process, &p->reads, thread_pointer()))
		return;
	python_begin_epoch(&p->reads, &p->process, p->walk.inner, pid, s->u.generation);
	p->tasks.n = p->tasks.task = 0;
	p->work = p->is_worker = 0;
	if (p->process.has_tasks)
		python_tasks_find(p->walk.tstate);
	for (int i = 0; i < MAX_PYTHON_FRAMES / PYTHON_FRAMES_PER_CALL + 1 && !end; i++) {
		__u64 result = python_frames(n);

		end = (__u32)result;
		n = result >> 32;
		if (end == PYTHON_STACKS && python_go_outwards(n))
			end = 0;
	}
	end = end ? end : PYTHON_TRUNCATED;
	p->record.end = end;
	OPAQUE(end);
	if (end < N_COUNTERS)
		s->cpu.counters[end]++;
	if (p->tasks.task)
		python_tasks_note(s->sample.tid);
	else if (p->tasks.n)
		python_tasks_elsewhere();
	if (p->process.object_head && !p->record.loop_time)
		python_uv_turn(s->sample.tid, s->is_polling);
	if (!p->tasks.task && p->work && p->process.has_tasks)
		python_tasks_served();
	if (asks_who_waits && p->tasks.task && p->tasks.root != WIRE_TASK_ELSEWHERE)
		n_all = python_await_all(p->tasks.task, n);
	if (p->tasks.task)
		python_send_task(
			s, p, asks_who_waits && n_all < n && p->tasks.root != WIRE_TASK_ELSEWHERE);
	if (p->process.spans.var && !s->is_span_known)
		s->cpu.counters[SPANS_LOST_RING] += python_send_span(p->walk.tstate);
	python_send(s, p, n, n_all);
}

/* The sample that it was to be a part of was lost. */
static __always_inline void python_lose(void)
{
	struct python_scratch *p = python_scratch_get();

	if (p)
		python_unshow(p);
}

#endif
