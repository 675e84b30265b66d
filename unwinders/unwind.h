/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state of a walk: where it is, and what is known of the registers there. */
#ifndef UNWINDERS_UNWIND_H
#define UNWINDERS_UNWIND_H

#include "bpf/weft.h"

#define REG_BIT(r) (1U << (r))
#define ALL_REGS (REG_BIT(WIRE_N_REGS) - 1)

struct unwind {
	__u64 regs[WIRE_N_REGS];   /* by DWARF number */
	__u32 valid_regs;	   /* REG_BIT()s; only the leaf and what a signal struck have all */
	__u32 is_exact;		   /* the pc is where the thread is, not a return address */
	struct unwind_mapping map; /* the mapping found last; len 0: none yet */
	/* The kernel half's only: where the process's mappings are in the table memory. */
	__u32 vector, n_mappings;
	__u32 generation; /* of that vector; unique, never 0 */
	__u32 flags;	  /* enum unwind_process_flags */
};

#endif
