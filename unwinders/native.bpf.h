/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One step of the native walk: from the registers of a frame to those of its caller, by the compact
 * table (table.h) of the file the pc is in. Compiled for BPF and for the host; whoever includes it
 * defines before that
 *
 *	UNWIND_GLOBAL				how a function with scalar arguments is declared
 *	int read_user(__u64 addr, void *buf, __u32 len)		0, or negative when unreadable
 *	int read_stack(struct unwind *u, __u64 addr, __u64 *words, __u32 n)	the same, words
 *	const __u32 *table_memory(void)		the words tables live in, or NULL
 *	__u32 table_word(const __u32 *memory, __u32 i)		any i is safe
 *	int mapping_find(struct unwind *u, __u64 pc)		sets u->map; 0 or why not
 *
 * and after it native_find(), which is native_lookup() with or without a cache before it.
 * Functions return 0 to go on, or the enum counter that says why the walk ended here.
 */
#ifndef UNWINDERS_NATIVE_BPF_H
#define UNWINDERS_NATIVE_BPF_H

#include "bpf/counters.h"
#include "unwinders/arch.h"
#include "unwinders/compiler.h"
#include "unwinders/table.h"
#include "unwinders/unwind.h"

/* log2 of the most rows a page can have, and one for the row a search ends on. */
#define TABLE_SEARCH_STEPS 17

static __always_inline struct unwind_rule rule_from_words(__u32 low, __u32 high)
{
	struct unwind_rule rule = {
		.cfa = low & 15,
		.reg = (low >> 4) & 15,
		.fp = (low >> 8) & 255,
		.fp_off = (__s16)(low >> 16),
		.cfa_off = (__s32)high,
	};

	return rule;
}

/* The row that covers the low 16 bits of an address, among n > 0 rows of its page from first on.
 * The comparison is arithmetic: a branch here would be mispredicted every other time. */
static __always_inline __u32 table_row(const __u32 *memory, __u32 first, __u32 n, __u32 low)
{
	for (int i = 0; i < TABLE_SEARCH_STEPS && n > 1; i++) {
		__u32 half = n / 2;
		__s32 ahead = (__s32)(low - (table_word(memory, first + half) & 0xffff));

		first += half & ~(__u32)(ahead >> 31);
		n -= half;
	}
	return table_word(memory, first);
}

/* The rule for an ELF virtual address in the table whose header is at word `table`, as one number
   (low word of the rule in the low half); 0, which is rule CFA_NONE, where there is none. */
UNWIND_GLOBAL __u64 native_rule_at(__u32 table, __u64 vaddr)
{
	const __u32 *memory = table_memory();
	__u32 page, first, n, row, rule;

	if (!memory || vaddr >> (TABLE_PAGE_BITS + 32))
		return 0;
	page = (__u32)(vaddr >> TABLE_PAGE_BITS) - table_word(memory, table + TABLE_FIRST_PAGE);
	if (page >= table_word(memory, table + TABLE_N_PAGES))
		return 0;
	page += table + table_word(memory, table + TABLE_DIRECTORY);
	first = table_word(memory, page);
	n = table_word(memory, page + 1) - first;
	if (n == 0 || n > TABLE_MAX_PAGE_ROWS)
		return 0;
	first += table + table_word(memory, table + TABLE_ROWS);
	row = table_row(memory, first, n, vaddr & 0xffff);
	rule = table + table_word(memory, table + TABLE_RULES) + 2 * (row >> 16);
	return table_word(memory, rule) | (__u64)table_word(memory, rule + 1) << 32;
}

/* Mapping, table, row, rule. */
static __always_inline int native_lookup(struct unwind *u, __u64 pc, __u64 *rule)
{
	int end = mapping_find(u, pc);

	if (end)
		return end;
	if (!u->map.table)
		return u->map.flags & UNWIND_MAPPING_USER_ONLY ? END_NO_RULE : END_NO_TABLE;
	*rule = native_rule_at(u->map.table, pc - u->map.bias);
	return 0;
}

/* Provided by the includer, after this file. */
static __always_inline int native_find(struct unwind *u, __u64 pc, __u64 *rule);

/* A signal trampoline without unwind data (musl, Go) is known by its code. */
static __always_inline int native_is_trampoline(__u64 pc)
{
	__u8 code[TRAMPOLINE_LEN];
	const __u8 known[TRAMPOLINE_LEN] = TRAMPOLINE_CODE;

	if (read_user(pc, code, sizeof(code)))
		return 0;
	for (int i = 0; i < TRAMPOLINE_LEN; i++) {
		if (code[i] != known[i])
			return 0;
	}
	return 1;
}

/* Every register is in the ucontext again, and the pc is where the signal struck. */
static __always_inline int native_signal(struct unwind *u)
{
	__u64 gregs[SIGNAL_N_GREGS];

	if (read_user(u->regs[REG_SP] + SIGNAL_GREGS, gregs, sizeof(gregs)))
		return END_READ_FAULT;
	SIGNAL_RESTORE(u->regs, gregs);
	u->valid_regs = ALL_REGS;
	u->is_exact = 1;
	return u->regs[REG_PC] ? 0 : END_BAD_RULE;
}

static __always_inline int native_cfa(struct unwind *u, struct unwind_rule rule, __u64 *cfa)
{
	__u64 base = u->regs[rule.reg];
	int is_valid = !!(u->valid_regs & REG_BIT(rule.reg));

	if (!UNLIKELY(rule.cfa != CFA_REG || !is_valid)) {
		*cfa = base + rule.cfa_off;
		return 0;
	}
	switch (rule.cfa) {
	case CFA_REG:
	case CFA_DEREF:
		if (!is_valid)
			return END_EXPRESSION;
		if (read_stack(u, base + (__s16)rule.cfa_off, cfa, 1))
			return END_READ_FAULT;
		*cfa += rule.cfa_off >> 16;
		return 0;
	case CFA_PLT:
		*cfa = u->regs[REG_SP] + 8 +
		       ((__s32)(u->regs[REG_PC] & 15) >= rule.cfa_off ? 8 : 0);
		return 0;
	case CFA_USER:
		return END_EXPRESSION;
	default:
		return END_BAD_RULE;
	}
}

/* The frame pointer and the return address that a frame saved. Mostly both are side by side: one
   read instead of two. Else the lower one goes first, as what is read with it reaches upwards. */
static __always_inline int native_pair(struct unwind *u, __u64 cfa, __s64 fp_off, __u64 pair[2])
{
	if (fp_off == -16)
		return read_stack(u, cfa - 16, pair, 2);
	return read_stack(u, cfa + fp_off, &pair[0], 1) || read_stack(u, cfa - 8, &pair[1], 1);
}

/* What the caller had in its frame pointer, when the frame did not save it. */
static __always_inline int native_fp(struct unwind *u, struct unwind_rule rule)
{
	if (rule.fp == FP_SAME)
		return 0;
	if (rule.fp == FP_UNKNOWN || (rule.fp == FP_AT_FP && !(u->valid_regs & REG_BIT(REG_FP)))) {
		u->valid_regs &= ~REG_BIT(REG_FP);
		return 0;
	}
	if (rule.fp != FP_AT_FP)
		return END_BAD_RULE;
	if (read_stack(u, u->regs[REG_FP] + rule.fp_off, &u->regs[REG_FP], 1))
		return END_READ_FAULT;
	u->valid_regs |= REG_BIT(REG_FP);
	return 0;
}

/* Moves u to its caller by a rule. On an end pc and sp are as they were. */
static __always_inline int native_apply(struct unwind *u, struct unwind_rule rule)
{
	__u64 pair[2], cfa = 0;
	int end;

	if (UNLIKELY(rule.cfa == CFA_SIGNAL))
		return native_signal(u);
	if (UNLIKELY(rule.cfa == CFA_END))
		return END_ROOT;
	end = native_cfa(u, rule, &cfa);
	if (UNLIKELY(end))
		return end;
	if (UNLIKELY(cfa <= u->regs[REG_SP]))
		return END_NOT_ADVANCING;
	if (rule.fp == FP_AT_CFA) {
		if (UNLIKELY(native_pair(u, cfa, rule.fp_off, pair)))
			return END_READ_FAULT;
		u->regs[REG_FP] = pair[0];
		u->valid_regs |= REG_BIT(REG_FP);
	} else {
		if (UNLIKELY(read_stack(u, cfa - 8, &pair[1], 1)))
			return END_READ_FAULT;
		end = native_fp(u, rule);
		if (UNLIKELY(end))
			return end;
	}
	u->regs[REG_PC] = pair[1];
	u->regs[REG_SP] = cfa;
	u->valid_regs &= REG_BIT(REG_PC) | REG_BIT(REG_SP) | REG_BIT(REG_FP);
	u->is_exact = 0;
	return pair[1] ? 0 : END_ROOT;
}

/*
 * Nobody calls from the padding before a function. What returns to a function's first byte was put
 * there to be the outermost frame of a stack, as makecontext() does.
 */
static __always_inline int native_is_planted(struct unwind *u, __u64 pc)
{
	__u64 raw = 0;

	return !native_find(u, pc, &raw) &&
	       rule_from_words((__u32)raw, (__u32)(raw >> 32)).cfa != CFA_NONE;
}

/* Moves u from the frame it is at to its caller. A return address belongs to the call before it. */
static __always_inline int native_step(struct unwind *u)
{
	__u64 pc = u->regs[REG_PC], raw = 0;
	int end = native_find(u, u->is_exact ? pc : pc - 1, &raw);
	struct unwind_rule rule = rule_from_words((__u32)raw, (__u32)(raw >> 32));

	if (UNLIKELY(end == END_NO_RULE || (!end && rule.cfa == CFA_NONE))) {
		if (u->is_exact)
			return END_NO_RULE;
		if (native_is_trampoline(pc))
			return native_signal(u);
		return native_is_planted(u, pc) ? END_ROOT : END_NO_RULE;
	}
	return UNLIKELY(end) ? end : native_apply(u, rule);
}

#endif
