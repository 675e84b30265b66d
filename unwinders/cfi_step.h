/* SPDX-License-Identifier: Apache-2.0 */
/* One step up by a full row of call frame information: every rule, every register. */
#ifndef UNWINDERS_CFI_STEP_H
#define UNWINDERS_CFI_STEP_H

#include "unwinders/walk.h"

/* Moves w->u to the caller of the frame whose code is at pc in region r, which has sections. 0, or
   why not (enum counter); END_EXPRESSION: a register is needed that is not known. */
int cfi_step(struct walk *w, const struct code_region *r, uint64_t pc);

#endif
