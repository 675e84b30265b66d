/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs call frame instructions (DWARF 5 section 6.4.2) and yields the rows they describe, with the
 * rules of every register. The table builder compresses these rows; the walk of a snapshot applies
 * them as they are.
 */
#ifndef UNWINDERS_CFA_PROGRAM_H
#define UNWINDERS_CFA_PROGRAM_H

#include <stdint.h>

#include "core/reader.h"
#include "unwinders/arch_x86_64.h"
#include "unwinders/eh_pointer.h"

enum register_how {
	REGISTER_UNSPECIFIED, /* as the ABI says: callee-saved ones are unchanged, rsp is the CFA */
	REGISTER_UNDEFINED,
	REGISTER_SAME,
	REGISTER_OFFSET,	 /* saved at CFA + offset */
	REGISTER_VAL_OFFSET,	 /* is CFA + offset */
	REGISTER_REGISTER,	 /* is in register `number` */
	REGISTER_EXPRESSION,	 /* saved at what the expression says; the CFA is on its stack */
	REGISTER_VAL_EXPRESSION, /* is what the expression says */
};

struct register_rule {
	uint8_t how;  /* enum register_how */
	uint32_t len; /* of the expression */
	union {
		int64_t offset;
		uint64_t number;
		const uint8_t *expression; /* borrowed from the section */
	};
};

struct cfa_row {
	struct register_rule
		cfa; /* UNSPECIFIED, VAL_OFFSET (cfa_register + offset) or VAL_EXPRESSION */
	uint64_t cfa_register;
	struct register_rule regs[N_DWARF_REGS]; /* rules of other registers are dropped */
};

/* Rows put aside by remember_state; lives longer than one program, to be reused. */
struct cfa_memory {
	struct cfa_row *rows;
	uint32_t n, cap;
};

#define CFA_MAX_REMEMBERED 256 /* compilers nest a handful */

struct cfa_program {
	struct reader insns;
	struct cfa_row row;
	const struct cfa_row *initial; /* what restore goes back to; NULL in a CIE's own program */
	struct cfa_memory *memory;
	const struct eh_bases *bases;
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding;	      /* of set_loc's operand */
	uint64_t pc;		      /* the row holds from here on */
	struct register_rule ignored; /* takes the rules of registers that are not kept */
};

/*
 * Runs to the next place where the pc advances: 1, row holds in [pc, *next), and the caller sets pc
 * to *next to go on. At the end of the instructions: 0, row holds to the end of the function.
 * -EBADMSG, -ENOTSUP, -E2BIG or -ENOMEM: no row.
 */
int cfa_program_run(struct cfa_program *p, uint64_t *next);
void cfa_memory_deinit(struct cfa_memory *m);

#endif
