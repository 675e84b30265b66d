/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a walk of the kernel's own stack by its ORC tables needs (Documentation/arch/x86/
 * orc-unwinder.rst): where they are, one rule, and where a walk is. User space fills in where they
 * are, the kernel half walks.
 */
#ifndef UNWINDERS_ORC_H
#define UNWINDERS_ORC_H

#include <linux/types.h>

#define ORC_TRAPS 4

/* All zeros: nothing is known. */
struct orc_tables {
	__u64 text, text_end; /* the kernel proper, which the tables are of: no module, no BPF */
	__u64 addresses;      /* n ints: from each to the address where its entry begins to hold */
	__u64 entries;	      /* n times struct orc_entry, in the same order: ascending */
	/* Return addresses that tracers put in the place of those that were there; 0: none. */
	__u64 traps[ORC_TRAPS];
	__u64 called; /* a function's first byte: how it is unwound says how registers are numbered
		       */
	/* How registers are numbered, which orc_learn() finds: SP in the low half, the CFA in the
	   high one, written at once. 0: not known yet. */
	__u64 registers;
	__u32 n;       /* 0: not to be used */
	__u32 n_walks; /* some of them are checked */
};

/* As the kernel has it in the entry's bits, whose places differ: CO-RE finds them. */
struct orc_raw {
	__s32 sp_off, bp_off;
	__u32 sp_reg, bp_reg; /* as the kernel numbers them */
	__u32 kind;	      /* enum orc_kind */
};

/* Registers that nearly all of the kernel's code counts from. Their numbers are the kernel's own
   affair: SP is 5 and the CFA (prev_sp) 1 from 4.14 on, 3 and 8 in 7.2. */
#define ORC_REG_NONE 0
#define ORC_REG_BP 4
#define ORC_REG_SP_OLD 5
#define ORC_REG_CFA_OLD 1
#define ORC_REG_SP_NEW 3
#define ORC_REG_CFA_NEW 8
#define ORC_REGISTERS_OLD (ORC_REG_SP_OLD | (__u64)ORC_REG_CFA_OLD << 32)
#define ORC_REGISTERS_NEW (ORC_REG_SP_NEW | (__u64)ORC_REG_CFA_NEW << 32)

enum orc_kind {
	ORC_UNKNOWN, /* no entry, or one that is left to the kernel */
	ORC_CALL,    /* called: the return address is below the CFA */
	ORC_REGS,    /* where it was entered: a struct pt_regs is at the CFA */
	ORC_END,     /* nobody called: where a thread began */
};

/*
 * A rule as it is kept, in one word that is written at once, as all CPUs share them: bit 31 is set
 * in each, then bp_off / 8 and sp_off / 8 (13 bits each, signed), where the caller's rbp is (2
 * bits: as it was, below the CFA, at rbp), whether the CFA counts from rbp, and the kind (2 bits).
 */
#define ORC_KNOWN 0x80000000U
#define ORC_OFFSET_BITS 13
#define ORC_OFFSET_MASK ((1U << ORC_OFFSET_BITS) - 1)
enum orc_bp { ORC_BP_SAME, ORC_BP_AT_CFA, ORC_BP_AT_BP };

#define N_ORC_RULES 2048 /* sets of rules; a power of two */

/* The set that a place's rule is kept in. */
static inline __u32 orc_set(__u32 place)
{
	return (place >> 2 ^ place >> 13) & (N_ORC_RULES - 1);
}

struct orc_walk {
	__u64 ip, sp, bp;
	__u64 stack_end;  /* frames lie between sp and there */
	__u32 is_exact;	  /* ip is where the kernel was interrupted, not a return address */
	__u32 n_searched; /* entries that had to be looked for in the tables */
};

#endif
