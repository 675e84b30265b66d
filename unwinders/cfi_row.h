/* SPDX-License-Identifier: Apache-2.0 */
/* The full row of call frame information at one address, for what a table's rule cannot say. */
#ifndef UNWINDERS_CFI_ROW_H
#define UNWINDERS_CFI_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "unwinders/cfa_program.h"
#include "unwinders/cfi.h"

struct cfi_row {
	struct cfa_row row;  /* expressions borrow from the sections */
	uint64_t start, end; /* of the function's entry */
	uint64_t return_register;
	bool is_signal;
};

/*
 * 0 and *out; -ENOENT: no unwind data there; -EBADMSG, -ENOTSUP: damaged; -E2BIG: not found within
 * *budget entries looked at (without .eh_frame_hdr the whole section is searched). *budget shrinks.
 */
int cfi_row_find(const struct cfi_input *in, uint64_t vaddr, uint32_t *budget, struct cfi_row *out);

#endif
