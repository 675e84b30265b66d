/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walk in the kernel: its loop, why it ends, and what the steps stand on (table memory,
 * mappings, user memory). Steps and searches are global functions with scalar arguments: the
 * verifier looks at each once, whatever the number of frames.
 */
#ifndef UNWINDERS_UNWIND_BPF_H
#define UNWINDERS_UNWIND_BPF_H

#include "bpf/maps.bpf.h"

#define UNWIND_GLOBAL __weak __attribute__((noinline))
#define FRAMES_PER_CALL                                                           \
	8 /* saves looking up the scratch for each; more is more for the verifier \
	   */
#define MAPPING_SEARCH_STEPS 17 /* log2 of the most mappings a process may have, and one */

static __always_inline int read_user(__u64 addr, void *buf, __u32 len)
{
	return bpf_probe_read_user(buf, len, (const void *)addr);
}

static __always_inline struct scratch *scratch_of(struct unwind *u)
{
	return (void *)u - offsetof(struct scratch, u);
}

/* How much of the stack to read from here on: frames lie one above the other, unless they are
   large. Mostly to the page's end, as a read that fails costs ten times as much as one that does
   not, and little is above the outermost frame: arguments and environment, or what libc keeps of a
   thread. Where that is close, some of the next page too, or each second piece would be short. */
static __always_inline __u64 stack_window_len(const struct scratch *s, __u64 addr)
{
	__u64 rest = PAGE_LEN - (addr & (PAGE_LEN - 1));

	if (addr - s->missed > STACK_WINDOW_NEAR)
		return STACK_WINDOW_LEAST;
	return rest > STACK_WINDOW_LEAST ? rest : STACK_WINDOW_ACROSS;
}

static __always_inline int stack_window_fill(struct scratch *s, __u64 addr, __u64 len)
{
	s->window_len = 0;
	OPAQUE(len);
	if (len > STACK_WINDOW || bpf_probe_read_user(s->window, len, (const void *)addr))
		return -1;
	s->window_len = len;
	return 0;
}

/* Fills the window from this address on, to the page's end where the next one is not there. 0, or
   negative: there are not even the least bytes. */
UNWIND_GLOBAL int stack_window_read(__u64 addr, __u64 least)
{
	__u64 rest = PAGE_LEN - (addr & (PAGE_LEN - 1)), len;
	struct scratch *s = scratch_get();

	if (!s)
		return -1;
	len = stack_window_len(s, addr);
	rest = rest < least ? least : rest;
	s->missed = s->window_start = addr;
	if (!stack_window_fill(s, addr, len))
		return 0;
	return rest < len ? stack_window_fill(s, addr, rest) : -1;
}

/* A call into the kernel for every word would cost as much as the rest of a step: so the stack is
   read in larger pieces. */
static __always_inline int read_stack(struct unwind *u, __u64 addr, __u64 *words, __u32 n)
{
	struct scratch *s = scratch_of(u);
	__u64 at = addr - s->window_start;

	if (UNLIKELY(at + n * sizeof(*words) > s->window_len || at > STACK_WINDOW)) {
		if (stack_window_read(addr, n * sizeof(*words)))
			return -1;
		at = 0;
	}
	OPAQUE(at);
	if (at > STACK_WINDOW - n * sizeof(*words))
		return -1;
	words[0] = VALUE_AT(__u64, &s->window[at]);
	if (n == 2)
		words[1] = VALUE_AT(__u64, &s->window[at + sizeof(*words)]);
	return 0;
}

static __always_inline const __u32 *table_memory(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&table_words, &zero);
}

static __always_inline __u32 table_word(const __u32 *memory, __u32 i)
{
	__u64 at = i;

	OPAQUE(at);
	at &= table_mask;
	return memory[at];
}

/* Two words at an even place. */
static __always_inline __u64 table_long(const __u32 *memory, __u32 i)
{
	__u64 at = i;

	OPAQUE(at);
	at &= table_mask & ~1U;
	return *(const __u64 *)&memory[at];
}

/* The word index of the mapping that has this pc, among n sorted ones from word `first` on; 0:
 * none. */
UNWIND_GLOBAL __u32 mapping_search(__u32 first, __u32 n, __u64 pc)
{
	const __u32 *memory = table_memory();

	if (!memory || n == 0)
		return 0;
	for (int i = 0; i < MAPPING_SEARCH_STEPS && n > 1; i++) {
		__u32 half = n / 2;

		if (table_long(memory, first + half * MAPPING_WORDS) <= pc)
			first += half * MAPPING_WORDS;
		n -= half;
	}
	return pc - table_long(memory, first) < table_long(memory, first + 2) ? first : 0;
}

static __always_inline int mapping_find(struct unwind *u, __u64 pc)
{
	const __u32 *memory;
	__u32 at;

	if (pc - u->map.start < u->map.len)
		return 0;
	at = mapping_search(u->vector + sizeof(struct unwind_vector) / 4, u->n_mappings, pc);
	memory = table_memory();
	if (!at || !memory)
		return END_NO_MAPPING;
	u->map.start = table_long(memory, at);
	u->map.len = table_long(memory, at + 2);
	u->map.bias = table_long(memory, at + 4);
	u->map.table = table_word(memory, at + 6);
	u->map.flags = table_word(memory, at + 7);
	return 0;
}

#include "unwinders/native.bpf.h"

/* The rules that stand where the pc's would. */
static __always_inline struct cached_rule *native_place(__u64 pc)
{
	__u32 zero = 0, place = (pc >> 3 ^ pc >> 12) & (N_CACHED_RULES / RULES_A_PLACE - 1);
	struct cached_rules *cached = bpf_map_lookup_elem(&cached_rules, &zero);

	return cached ? &cached->items[RULES_A_PLACE * place] : NULL;
}

/* An odd factor spreads the generation over the bits that a pc does not use. */
static __always_inline __u64 native_key(const struct unwind *u, __u64 pc)
{
	return pc ^ u->generation * 0x9e3779b97f4a7c15ULL;
}

/* The rule that none was kept of, and s->find_end. Failures are not remembered: the table may be
   there the next time. */
UNWIND_GLOBAL __u64 native_find_new(__u64 pc)
{
	struct cached_rule *cached = native_place(pc);
	struct scratch *s = scratch_get();
	__u64 rule = 0;

	if (!s)
		return 0;
	s->find_end = cached ? native_lookup(&s->u, pc, &rule) : END_NO_TABLE;
	if (!cached || s->find_end)
		return 0;
	for (int i = RULES_A_PLACE - 1; i > 0; i--)
		cached[i] = cached[i - 1];
	cached[0].key = native_key(&s->u, pc);
	cached[0].rule = rule;
	return rule;
}

static __always_inline int native_find(struct unwind *u, __u64 pc, __u64 *rule)
{
	const struct cached_rule *cached = native_place(pc);
	__u64 key = native_key(u, pc);

	for (int i = 0; cached && i < RULES_A_PLACE; i++) {
		if (cached[i].key == key) {
			*rule = cached[i].rule;
			return 0;
		}
	}
	*rule = native_find_new(pc);
	return scratch_of(u)->find_end;
}

/* Pushes the frame the walk is at as number i of all, and moves on to its caller. */
static __always_inline int unwind_frame(struct scratch *s, __u64 i)
{
	struct wire_frame *frame;

	OPAQUE(i);
	if (i >= MAX_FRAMES)
		return END_MAX_FRAMES;
	frame = &s->frames[i];
	frame->addr = s->u.regs[REG_PC];
	frame->extra = (__u32)s->u.regs[REG_SP];
	frame->kind = WIRE_FRAME_NATIVE;
	frame->flags = s->u.is_exact ? WIRE_FRAME_EXACT : 0;
	frame->pad = 0;
	return native_step(&s->u);
}

/* Some frames, beginning with number `first` of all. Returns how the walk goes on (0 or its end) in
   the low half, and how many steps were made before that in the high one. */
UNWIND_GLOBAL __u64 unwind_frames(__u64 first)
{
	struct scratch *s = scratch_get();

	if (!s)
		return END_MAX_FRAMES;
	for (__u64 i = 0; i < FRAMES_PER_CALL; i++) {
		__u64 end = (__u32)unwind_frame(s, first + i);

		if (UNLIKELY(end))
			return end | i << 32;
	}
	return (__u64)FRAMES_PER_CALL << 32;
}

/* Is what was known of the process sampled last still so? What user space says anew has another
   vector, and ends the old one's generation. */
static __always_inline bool unwind_is_last(const struct scratch *s, const __u32 *memory, __u64 mm)
{
	const struct unwind_process *known = &s->last.known;

	return s->last.pid == s->sample.pid && known->start_time_ns == s->sample.start_time_ns &&
	       known->mm == mm && known->n_code_pages == s->sample.n_code_pages &&
	       s->sample.time_ns < s->last.until_ns &&
	       table_word(memory, known->vector) == known->generation;
}

/* Copies the process's entry, and binds it to the image that this task runs now, if it is about
 * that. */
static __always_inline bool unwind_look_up(struct scratch *s, __u64 vdso, __u64 mm)
{
	__u32 pid = s->sample.pid;
	struct unwind_process *proc = bpf_map_lookup_elem(&unwind_processes, &pid);

	s->last.pid = 0;
	if (!proc || !proc->vector || proc->vdso != vdso || (proc->mm && proc->mm != mm))
		return false;
	if (!proc->mm)
		proc->mm = mm;
	if (proc->n_code_pages != s->sample.n_code_pages) {
		proc->n_code_pages = s->sample.n_code_pages;
		s->is_code_new = 1;
	}
	s->last.known = *proc;
	s->last.until_ns = s->sample.time_ns + LAST_PROCESS_NS;
	return true;
}

/* True when what the process's entry says is about the image this task runs now. */
static __always_inline bool unwind_set_process(struct unwind *u, __u64 vdso, __u64 mm)
{
	struct scratch *s = scratch_of(u);
	const struct unwind_process *known = &s->last.known;
	const __u32 *memory = table_memory();

	u->flags = 0;
	u->map.start = 0;
	u->map.len = 0;
	s->window_start = s->window_len = 0;
	s->missed = u->regs[REG_SP];
	if (!memory || (!unwind_is_last(s, memory, mm) && !unwind_look_up(s, vdso, mm)))
		return false;
	u->flags = known->flags;
	u->vector = known->vector;
	u->n_mappings = known->n_mappings;
	u->generation = known->generation;
	if (known->start_time_ns != s->sample.start_time_ns ||
	    table_word(memory, u->vector) != u->generation)
		return false;
	s->last.pid = s->sample.pid;
	return true;
}

/* Walks from s->u on, frames behind the first n_kernel. Returns why it ended, *n_user is how many.
 */
static __always_inline int unwind_user(struct scratch *s, __u32 n_kernel, __u32 *n_user)
{
	__u64 end = 0, n = 0;

	for (int i = 0; i < MAX_USER_FRAMES / FRAMES_PER_CALL && !end; i++) {
		__u64 result = unwind_frames(n_kernel + n);

		end = (__u32)result;
		n += result >> 32;
	}
	*n_user = n;
	if (!end)
		return END_MAX_FRAMES;
	/* Where it stopped for good, that frame is in the stack; else whoever goes on pushes it. */
	if (end == END_ROOT || end == END_READ_FAULT)
		*n_user = n + 1;
	return end;
}

#endif
