/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One step up the kernel's own stack. The kernel can do that too (bpf_get_stack), but its tables
 * are megabytes that are in no cache when a tick comes, so that a frame costs it some 2 us; here
 * the rules that were used are kept side by side. What is out of the ordinary (modules, interrupts
 * that struck the kernel, other stacks, tracers) is left to the kernel: better slow than wrong.
 *
 * Compiled for BPF and for the host; whoever includes it defines before that
 *
 *	UNWIND_GLOBAL		how a function with scalar arguments is declared
 *	int read_kernel(__u64 addr, void *buf, __u32 len)	0, or negative when unreadable
 *	int read_kernel_stack(const struct orc_walk *w, __u64 addr, __u64 *word)	the same
 *	struct orc_tables *orc_tables(void)			or NULL
 *	int orc_read_entry(struct orc_tables *t, __u32 i, struct orc_raw *out)
 *	__u32 orc_kept(__u32 place)	the rule kept for this place in the text; 0: none
 *	void orc_keep(__u32 place, __u32 rule)
 */
#ifndef UNWINDERS_ORC_BPF_H
#define UNWINDERS_ORC_BPF_H

#include "unwinders/arch.h"
#include "unwinders/orc.h"

#define ORC_SEARCH_STEPS 24 /* log2 of more entries than a kernel has */
#define ORC_MAX_SEARCHES 8  /* in one sample: some 20 us; what they found the next one has */

enum orc_end { ORC_GOES_ON, ORC_DONE, ORC_LEFT };

static __always_inline __u32 orc_pack_offset(__s32 off)
{
	return (__u32)off >> 3 & ORC_OFFSET_MASK;
}

static __always_inline __s64 orc_unpack_offset(__u32 bits)
{
	return (__s64)((__s32)(bits << (32 - ORC_OFFSET_BITS)) >> (32 - ORC_OFFSET_BITS)) * 8;
}

static __always_inline __u32 orc_pack(__u64 registers, const struct orc_raw *raw)
{
	__u32 reg_sp = (__u32)registers, reg_cfa = registers >> 32;
	__u32 bp = raw->bp_reg == reg_cfa      ? ORC_BP_AT_CFA
		   : raw->bp_reg == ORC_REG_BP ? ORC_BP_AT_BP
					       : ORC_BP_SAME;

	if (raw->kind == ORC_END)
		return ORC_KNOWN | ORC_END;
	if ((raw->sp_reg != reg_sp && raw->sp_reg != ORC_REG_BP) ||
	    (bp == ORC_BP_SAME && raw->bp_reg != ORC_REG_NONE) || raw->sp_off & 7 ||
	    raw->bp_off & 7)
		return ORC_KNOWN | ORC_UNKNOWN;
	return ORC_KNOWN | orc_pack_offset(raw->bp_off) << (ORC_OFFSET_BITS + 5) |
	       orc_pack_offset(raw->sp_off) << 5 | bp << 3 | (raw->sp_reg == ORC_REG_BP) << 2 |
	       raw->kind;
}

/* Where entry i begins to hold; 0: it cannot be read. */
static __always_inline __u64 orc_address(struct orc_tables *t, __u32 i)
{
	__u64 at = t->addresses + 4ULL * i;
	__s32 distance;

	return read_kernel(at, &distance, sizeof(distance)) ? 0 : at + (__s64)distance;
}

/* The entry that holds at this place of the text. 0, or negative. */
static __always_inline int orc_find_entry(struct orc_tables *t, __u32 place, struct orc_raw *raw)
{
	__u64 ip = t->text + place;
	__u32 first = 0, n = t->n;

	for (int i = 0; i < ORC_SEARCH_STEPS && n > 1; i++) {
		__u32 half = n / 2;

		if (orc_address(t, first + half) <= ip)
			first += half;
		n -= half;
	}
	if (n != 1 || orc_address(t, first) - t->text > place)
		return -1;
	return orc_read_entry(t, first, raw);
}

/* The rule at this place of the text, from the tables. */
UNWIND_GLOBAL __u32 orc_search(__u32 place)
{
	struct orc_tables *t = orc_tables();
	struct orc_raw raw;

	if (!t || orc_find_entry(t, place, &raw))
		return ORC_KNOWN | ORC_UNKNOWN;
	return orc_pack(t->registers, &raw);
}

/*
 * How are registers numbered? Where a function begins, its return address is what the stack pointer
 * points at. Tables that say something else there are not used.
 */
UNWIND_GLOBAL __u32 orc_learn(void)
{
	struct orc_tables *t = orc_tables();
	struct orc_raw raw;

	if (!t)
		return 0;
	if (t->called - t->text >= t->text_end - t->text ||
	    orc_find_entry(t, (__u32)(t->called - t->text), &raw) || raw.kind != ORC_CALL ||
	    raw.sp_off != 8 || raw.bp_reg != ORC_REG_NONE ||
	    (raw.sp_reg != ORC_REG_SP_OLD && raw.sp_reg != ORC_REG_SP_NEW)) {
		t->n = 0;
		return 0;
	}
	*(volatile __u64 *)&t->registers =
		raw.sp_reg == ORC_REG_SP_OLD ? ORC_REGISTERS_OLD : ORC_REGISTERS_NEW;
	return 1;
}

static __always_inline __u32 orc_rule(struct orc_walk *w, struct orc_tables *t)
{
	__u32 place = (__u32)(w->ip - t->text) - !w->is_exact, rule = orc_kept(place);

	if (rule & ORC_KNOWN)
		return rule;
	if (++w->n_searched > ORC_MAX_SEARCHES)
		return ORC_UNKNOWN;
	rule = orc_search(place);
	orc_keep(place, rule);
	return rule;
}

/* Can a return address be what it says? */
static __always_inline int orc_is_text(struct orc_tables *t, __u64 ip)
{
	for (int i = 0; i < ORC_TRAPS; i++)
		if (ip == t->traps[i])
			return 0;
	return ip - t->text < t->text_end - t->text && ip != t->text;
}

static __always_inline int orc_read_word(const struct orc_walk *w, __u64 addr, __u64 *word)
{
	if (addr & 7 || addr < w->sp || addr > w->stack_end - sizeof(*word))
		return -1;
	return read_kernel_stack(w, addr, word);
}

/* Where user mode was left the kernel's stack ends. */
static __always_inline int orc_is_entry(__u64 regs)
{
	__u64 cs;

	return !read_kernel(regs + PT_REGS_CS, &cs, sizeof(cs)) && (cs & 3) == 3;
}

/* Moves w from the frame it is at to its caller. */
static __always_inline int orc_step(struct orc_walk *w, struct orc_tables *t)
{
	__u32 rule = orc_rule(w, t), bp = rule >> 3 & 3;
	__u64 cfa = (rule & 4 ? w->bp : w->sp) + orc_unpack_offset(rule >> 5), ip, saved = w->bp;
	__s64 bp_off = orc_unpack_offset(rule >> (ORC_OFFSET_BITS + 5));

	switch (rule & 3) {
	case ORC_END:
		return ORC_DONE;
	case ORC_REGS:
		return cfa >= w->sp && cfa <= w->stack_end - PT_REGS_LEN && orc_is_entry(cfa)
			       ? ORC_DONE
			       : ORC_LEFT;
	case ORC_CALL:
		break;
	default:
		return ORC_LEFT;
	}
	if (cfa <= w->sp || orc_read_word(w, cfa - 8, &ip) || !orc_is_text(t, ip))
		return ORC_LEFT;
	if (bp != ORC_BP_SAME &&
	    orc_read_word(w, (bp == ORC_BP_AT_CFA ? cfa : w->bp) + bp_off, &saved))
		return ORC_LEFT;
	w->ip = ip;
	w->sp = cfa;
	w->bp = saved;
	w->is_exact = 0;
	return ORC_GOES_ON;
}

#endif
