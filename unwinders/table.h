/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The compact unwind table of one file: 32-bit words, read alike by BPF and by user space.
 *
 * - header: struct table_header, TABLE_HEADER_WORDS words; offsets count from its first word.
 * - directory: n_pages + 1 words, the index of the first row of each 64 KiB page of virtual
 *   addresses from first_page on; the last word is n_rows.
 * - rows: n_rows words, ascending within a page; the low 16 bits of the address, then the rule's
 *   number << 16. A row holds up to the next one. Every page that has rows starts with one at
 *   offset 0, so a lookup never leaves its page.
 * - rules: n_rules times two words, struct unwind_rule.
 *
 * Rule 0 is always "no unwind data here". Code before the first or behind the last page has none.
 * Addresses are ELF virtual addresses.
 */
#ifndef UNWINDERS_TABLE_H
#define UNWINDERS_TABLE_H

#include <linux/types.h>

#define TABLE_PAGE_BITS 16
#define TABLE_HEADER_WORDS 8
#define TABLE_MAX_PAGE_ROWS 65536

struct table_header {
	__u32 first_page; /* virtual address >> 16 */
	__u32 n_pages, n_rows, n_rules;
	__u32 directory, rows, rules; /* word offsets */
	__u32 words;		      /* of the whole table */
};

/* The header's words by number, for readers that have words and no struct. */
enum table_header_word {
	TABLE_FIRST_PAGE,
	TABLE_N_PAGES,
	TABLE_N_ROWS,
	TABLE_N_RULES,
	TABLE_DIRECTORY,
	TABLE_ROWS,
	TABLE_RULES,
	TABLE_WORDS,
};

/* How the canonical frame address comes from the registers of the frame. The return address is at
   CFA - 8 unless the kind says otherwise; the caller's stack pointer is the CFA. */
enum cfa_kind {
	CFA_NONE,   /* no unwind data */
	CFA_END,    /* the return address is undefined: the outermost frame */
	CFA_USER,   /* user space must do it: an expression, a return address in a register, ... */
	CFA_SIGNAL, /* a signal frame (rt_sigreturn trampoline): registers are in the ucontext at
		       rsp */
	CFA_PLT,    /* CFA = rsp + 8 + ((rip & 15) >= cfa_off ? 8 : 0); cfa_off 11 or 10 */
	CFA_REG,    /* CFA = register `reg` + cfa_off */
	CFA_DEREF,  /* CFA = *(register `reg` + (s16)cfa_off) + (cfa_off >> 16) */
};

/* Where the caller's frame pointer (rbp) is. */
enum fp_kind {
	FP_SAME,    /* not changed */
	FP_AT_CFA,  /* *(CFA + fp_off) */
	FP_AT_FP,   /* *(rbp + fp_off): what GCC writes for realigned stacks */
	FP_UNKNOWN, /* lost */
};

struct unwind_rule {
	__u8 cfa : 4, reg : 4; /* enum cfa_kind; DWARF register number 0..15 */
	__u8 fp;	       /* enum fp_kind */
	__s16 fp_off;
	__s32 cfa_off;
};

#endif
