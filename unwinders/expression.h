/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluates the DWARF expressions of call frame information (DWARF 5 section 2.5): a stack machine
 * over registers and memory of the target, both of which may lie. Bounded in steps and in depth.
 */
#ifndef UNWINDERS_EXPRESSION_H
#define UNWINDERS_EXPRESSION_H

#include <stddef.h>
#include <stdint.h>

#define EXPRESSION_MAX_STEPS 1000
#define EXPRESSION_MAX_DEPTH 64

struct expression_env {
	const uint64_t *regs; /* by DWARF number */
	uint32_t n_regs;
	uint32_t valid_regs;	 /* one bit a register */
	uint64_t bias;		 /* added to addresses in the expression */
	const uint64_t *initial; /* what is on the stack at the start; NULL: nothing */
	void *ctx;
	int (*read)(void *ctx, uint64_t addr, void *buf, size_t len); /* 0 or negative */
};

/* 0 and *value, the top of the stack at the end. -EBADMSG: no such expression; -ENOTSUP: an
   operation that has no place here; -ENODATA: a register that is not known; -EFAULT: memory that
   cannot be read; -E2BIG: too many steps, too deep. */
int expression_eval(const uint8_t *code, size_t len, const struct expression_env *env,
		    uint64_t *value);

#endif
