/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's own part of a stack: by our walk where that is sure, else by the kernel's. */
#ifndef BPF_KERNEL_STACK_BPF_H
#define BPF_KERNEL_STACK_BPF_H

#include "bpf/maps.bpf.h"
#include "unwinders/unwind.bpf.h"

static __always_inline int read_kernel(__u64 addr, void *buf, __u32 len)
{
	return bpf_probe_read_kernel(buf, len, (const void *)addr);
}

/* What lies above where the kernel was interrupted, up to the stack's end: nearly all stacks are in
   it. The window is read anew for the user's. */
static __always_inline void kernel_read_window(struct scratch *s)
{
	__u64 last = s->kernel.stack_end - KERNEL_WINDOW;

	s->window_start = s->kernel.sp < last ? s->kernel.sp & ~7ULL : last;
	if (read_kernel(s->window_start, s->window, KERNEL_WINDOW))
		s->window_start = 0;
}

static __always_inline int read_kernel_stack(const struct orc_walk *w, __u64 addr, __u64 *word)
{
	const struct scratch *s = (const void *)w - offsetof(struct scratch, kernel);
	__u64 at = addr - s->window_start;

	OPAQUE(at);
	if (at > KERNEL_WINDOW - sizeof(*word))
		return read_kernel(addr, word, sizeof(*word));
	*word = ((const __u64 *)s->window)[at / sizeof(*word)]; /* both are aligned */
	return 0;
}

static __always_inline struct orc_tables *orc_tables(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&orc_places, &zero);
}

static __always_inline struct orc_rules *orc_rules_at(__u32 place)
{
	__u32 set = orc_set(place);

	return bpf_map_lookup_elem(&orc_rules, &set);
}

static __always_inline __u32 orc_kept(__u32 place)
{
	const struct orc_rules *set = orc_rules_at(place);
	__u64 rule;

	for (int i = 0; set && i < 2; i++) {
		rule = *(const volatile __u64 *)&set->rules[i];
		if (rule >> 32 == place)
			return (__u32)rule;
	}
	return 0;
}

static __always_inline void orc_keep(__u32 place, __u32 rule)
{
	struct orc_rules *set = orc_rules_at(place);

	if (!set)
		return;
	*(volatile __u64 *)&set->rules[1] = *(volatile __u64 *)&set->rules[0];
	*(volatile __u64 *)&set->rules[0] = (__u64)place << 32 | rule;
}

/* The kernel's numbers: to 6.3 a type is 0 for calls, 1 for entries, and a bit of its own says the
   end; then 1 is the end, 2 calls, 3 entries. */
static __always_inline __u32 orc_kind_of(const struct orc_entry *entry)
{
	const struct orc_entry___before_6_4 *old = (const void *)entry;
	__u32 type = BPF_CORE_READ_BITFIELD_PROBED(entry, type);

	if (bpf_core_field_exists(entry->signal) && BPF_CORE_READ_BITFIELD_PROBED(entry, signal) &&
	    type == (bpf_core_field_exists(old->end) ? 0 : 2))
		return ORC_UNKNOWN;
	if (!bpf_core_field_exists(old->end))
		return type == 1   ? ORC_END
		       : type == 2 ? ORC_CALL
		       : type == 3 ? ORC_REGS
				   : ORC_UNKNOWN;
	if (BPF_CORE_READ_BITFIELD_PROBED(old, end))
		return ORC_END;
	return type == 0 ? ORC_CALL : type == 1 ? ORC_REGS : ORC_UNKNOWN;
}

static __always_inline int orc_read_entry(struct orc_tables *t, __u32 i, struct orc_raw *out)
{
	const struct orc_entry *entry = (const void *)t->entries;
	const __u64 len = bpf_core_type_size(struct orc_entry);
	short offsets[2];

	if (!bpf_core_type_exists(struct orc_entry))
		return -1;
	entry = (const void *)(t->entries + len * i);
	if (bpf_core_read(&offsets[0], sizeof(offsets[0]), &entry->sp_offset) ||
	    bpf_core_read(&offsets[1], sizeof(offsets[1]), &entry->bp_offset))
		return -1;
	out->sp_off = offsets[0];
	out->bp_off = offsets[1];
	out->sp_reg = BPF_CORE_READ_BITFIELD_PROBED(entry, sp_reg);
	out->bp_reg = BPF_CORE_READ_BITFIELD_PROBED(entry, bp_reg);
	out->kind = orc_kind_of(entry);
	return 0;
}

#include "unwinders/orc.bpf.h"

#define KERNEL_FRAMES_PER_CALL 4
#define ORC_FIRST_CHECKED 64
#define ORC_CHECKED_OF 64
#define KERNEL_LEFT_MOST 4096 /* all of the last ones */
#define KERNEL_TRIED_OF 8

static __always_inline void kernel_frame(struct wire_frame *frame, __u64 ip, bool is_exact)
{
	frame->addr = ip;
	frame->extra = 0;
	frame->kind = WIRE_FRAME_KERNEL;
	frame->flags = is_exact ? WIRE_FRAME_EXACT : 0;
	frame->pad = 0;
}

/* Some frames, beginning with number `first`: as unwind_frames(). */
UNWIND_GLOBAL __u64 kernel_frames(__u64 first)
{
	struct orc_tables *t = orc_tables();
	struct scratch *s = scratch_get();

	if (!s || !t)
		return ORC_LEFT;
	for (__u64 i = 0; i < KERNEL_FRAMES_PER_CALL; i++) {
		__u64 at = first + i;
		__u32 end;

		OPAQUE(at);
		if (at >= MAX_KERNEL_FRAMES)
			return ORC_DONE | i << 32;
		kernel_frame(&s->frames[at], s->kernel.ip, s->kernel.is_exact);
		end = orc_step(&s->kernel, t);
		if (end)
			return end | (i + 1) << 32;
	}
	return (__u64)KERNEL_FRAMES_PER_CALL << 32;
}

/* Of the current task. An interrupt may strike another stack, also the next task's before it is the
   current one. */
static __always_inline __u64 kernel_task_stack(void)
{
	struct task_struct *task;

	if (has_task_btf) {
		task = bpf_get_current_task_btf();
		return (__u64)task->stack;
	}
	task = (void *)bpf_get_current_task();
	return (__u64)BPF_CORE_READ(task, stack);
}

/* How many there are by our own walk; 0: it could not be done. */
UNWIND_GLOBAL __u32 kernel_walk(void)
{
	struct orc_tables *t = orc_tables();
	struct scratch *s = scratch_get();
	__u64 end = 0, n = 0, stack;

	if (!s || !t || !t->n || !orc_is_text(t, s->kernel.ip))
		return 0;
	stack = kernel_task_stack();
	if (s->kernel.sp - stack >= KERNEL_STACK_SIZE)
		return 0;
	if (!t->registers && !orc_learn())
		return 0;
	s->kernel.is_exact = 1;
	s->kernel.n_searched = 0;
	s->kernel.stack_end = stack + KERNEL_STACK_SIZE;
	kernel_read_window(s);
	for (int i = 0; i < MAX_KERNEL_FRAMES / KERNEL_FRAMES_PER_CALL + 1 && !end; i++) {
		__u64 result = kernel_frames(n);

		end = (__u32)result;
		n += result >> 32;
	}
	return end == ORC_DONE ? n : 0;
}

/* Those that the kernel found. */
UNWIND_GLOBAL __u32 kernel_take(__u32 n)
{
	struct scratch *s = scratch_get();

	for (__u32 i = 0; s && i < MAX_KERNEL_FRAMES; i++) {
		if (i >= n)
			break;
		kernel_frame(&s->frames[i], s->kernel_stack[i], i == 0);
	}
	return n > MAX_KERNEL_FRAMES ? MAX_KERNEL_FRAMES : n;
}

/* Are they the n frames that we found? */
UNWIND_GLOBAL __u32 kernel_is_same(__u32 n)
{
	struct scratch *s = scratch_get();

	for (__u32 i = 0; s && i < MAX_KERNEL_FRAMES; i++) {
		if (i >= n)
			break;
		if (s->frames[i].addr != s->kernel_stack[i])
			return 0;
	}
	return s != NULL;
}

/* The next kernel may have tables that look the same and mean something else: the first walks, and
   a few of all others, are held against the kernel's own, and one that differs is the last. */
static __always_inline bool kernel_is_checked(void)
{
	struct orc_tables *t = orc_tables();
	__u32 n = t ? t->n_walks++ : 0;

	return n < ORC_FIRST_CHECKED || n % ORC_CHECKED_OF == 0;
}

/* Where most stacks lead through modules, so that they are walked twice, only some are tried. */
static __always_inline bool kernel_is_worth_it(struct scratch *s)
{
	return s->kernel_left < KERNEL_LEFT_MOST / 2 || ++s->n_kernel_passed % KERNEL_TRIED_OF == 0;
}

/* Of the last walks, how many were left to the kernel? */
static __always_inline void kernel_note(struct scratch *s, bool is_left)
{
	s->kernel_left -= s->kernel_left / 16;
	if (!is_left)
		return;
	s->kernel_left += KERNEL_LEFT_MOST / 16;
	s->cpu.counters[KERNEL_LEFT]++;
}

/* By our own walk, where it can be done and need not be checked; 0: it is the kernel's turn. */
static __always_inline __u32 kernel_own(struct scratch *s, __u32 *n)
{
	*n = 0;
	if (!kernel_is_worth_it(s))
		return 0;
	*n = kernel_walk();
	kernel_note(s, !*n);
	return *n && !kernel_is_checked() ? *n : 0;
}

/* Fills the first frames; how many. */
static __always_inline __u32 kernel_stack(void *ctx, struct scratch *s)
{
	struct orc_tables *t;
	__u32 n;
	long len;

	if (kernel_own(s, &n))
		return n;
	len = bpf_get_stack(ctx, s->kernel_stack, sizeof(s->kernel_stack), 0);
	if (len <= 0)
		return 0;
	if (n && ((__u64)len != n * sizeof(__u64) || !kernel_is_same(n)) && (t = orc_tables())) {
		t->n = 0;
		s->cpu.counters[KERNEL_DIFFERED]++;
	}
	return kernel_take(len / sizeof(__u64));
}

#endif
