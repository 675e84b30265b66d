/* SPDX-License-Identifier: Apache-2.0 */
/* Compresses a full row of call frame information into the rule of a table, if a rule can say it.
 */
#ifndef UNWINDERS_CFI_RULE_H
#define UNWINDERS_CFI_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "unwinders/cfa_program.h"
#include "unwinders/table.h"

/* What a rule cannot say becomes CFA_USER. return_register is the CIE's return address column. */
struct unwind_rule cfi_rule(const struct cfa_row *row, uint64_t return_register, bool is_signal);

#endif
