// SPDX-License-Identifier: Apache-2.0
#include "unwinders/cfi_step.h"

#include <errno.h>
#include <string.h>

#include "unwinders/cfi_row.h"
#include "unwinders/expression.h"

#define COST_OF_ROW 4 /* steps: finding and running a row is slower than a table's lookup */

struct frame {
	struct walk *w;
	const struct code_region *region;
	uint64_t cfa;
};

static int read_stack(void *ctx, uint64_t addr, void *buf, size_t len)
{
	struct frame *f = ctx;

	return walk_read(f->w, addr, buf, len);
}

static int evaluate(struct frame *f, const struct register_rule *rule, const uint64_t *initial,
		    uint64_t *value)
{
	const struct unwind *u = &f->w->u;
	struct expression_env env = {
		.n_regs = N_DWARF_REGS,
		.valid_regs = u->valid_regs,
		.bias = f->region->bias,
		.initial = initial,
		.ctx = f,
		.read = read_stack,
	};
	uint64_t regs[N_DWARF_REGS];

	for (int i = 0; i < N_DWARF_REGS; i++)
		regs[i] = u->regs[i];
	env.regs = regs;
	return expression_eval(rule->expression, rule->len, &env, value);
}

static int register_value(const struct unwind *u, uint64_t reg, uint64_t *value)
{
	if (reg >= N_DWARF_REGS || !(u->valid_regs & REG_BIT(reg)))
		return -ENODATA;
	*value = u->regs[reg];
	return 0;
}

static int find_cfa(struct frame *f, const struct cfa_row *row)
{
	uint64_t base;
	int err;

	switch (row->cfa.how) {
	case REGISTER_VAL_OFFSET:
		err = register_value(&f->w->u, row->cfa_register, &base);
		if (!err)
			f->cfa = base + (uint64_t)row->cfa.offset;
		return err;
	case REGISTER_VAL_EXPRESSION:
		return evaluate(f, &row->cfa, NULL, &f->cfa);
	}
	return -EBADMSG;
}

/* What the caller has in a register that no rule speaks of: the function did not change it. */
static int unspecified(struct frame *f, uint32_t reg, uint64_t *value)
{
	if (reg == REG_SP) {
		*value = f->cfa;
		return 0;
	}
	return CALLEE_SAVED_REGS & REG_BIT(reg) ? register_value(&f->w->u, reg, value) : -ENODATA;
}

/* What the caller has in a register: 0, -ENODATA when that is not known, or worse. */
static int caller_value(struct frame *f, const struct register_rule *rule, uint32_t reg,
			uint64_t *value)
{
	uint64_t addr;
	int err;

	switch (rule->how) {
	case REGISTER_UNSPECIFIED:
		return unspecified(f, reg, value);
	case REGISTER_SAME:
		return register_value(&f->w->u, reg, value);
	case REGISTER_OFFSET:
		return walk_read(f->w, f->cfa + (uint64_t)rule->offset, value, sizeof(*value));
	case REGISTER_VAL_OFFSET:
		*value = f->cfa + (uint64_t)rule->offset;
		return 0;
	case REGISTER_REGISTER:
		return register_value(&f->w->u, rule->number, value);
	case REGISTER_EXPRESSION:
		err = evaluate(f, rule, &f->cfa, &addr);
		return err ? err : walk_read(f->w, addr, value, sizeof(*value));
	case REGISTER_VAL_EXPRESSION:
		return evaluate(f, rule, &f->cfa, value);
	}
	return -ENODATA;
}

static int end_of(int err)
{
	switch (err) {
	case -EFAULT:
		return END_READ_FAULT;
	case -ENODATA:
	case -E2BIG:
	case -ENOTSUP:
		return END_EXPRESSION;
	}
	return END_BAD_RULE;
}

/* The registers of the caller into *to. Those that cannot be had are not valid there. */
static int restore_registers(struct frame *f, const struct cfa_row *row, struct unwind *to)
{
	to->valid_regs = 0;
	for (uint32_t reg = 0; reg < N_DWARF_REGS; reg++) {
		uint64_t value;
		int err = caller_value(f, &row->regs[reg], reg, &value);

		if (!err) {
			to->regs[reg] = value;
			to->valid_regs |= REG_BIT(reg);
		} else if (err != -ENODATA && (reg == REG_PC || reg == REG_SP || reg == REG_FP)) {
			return err;
		}
	}
	return 0;
}

/* Only a leaf, whose registers are all known, may have its return address in one (vfork) and the
   stack already as its caller had it. */
static bool is_advancing(const struct walk *w, const struct cfi_row *row, const struct unwind *to)
{
	uint64_t sp = w->u.regs[REG_SP];

	if (row->is_signal || to->regs[REG_SP] > sp)
		return true;
	return to->regs[REG_SP] == sp && w->u.valid_regs == ALL_REGS &&
	       row->row.regs[REG_PC].how == REGISTER_REGISTER;
}

int cfi_step(struct walk *w, const struct code_region *r, uint64_t pc)
{
	struct frame f = { .w = w, .region = r };
	struct unwind to = w->u;
	struct cfi_row row;
	int err;

	w->budget->n_steps -= w->budget->n_steps < COST_OF_ROW ? w->budget->n_steps : COST_OF_ROW;
	err = cfi_row_find(r->cfi, pc - r->bias, &w->budget->n_entries, &row);
	if (err)
		return err == -EBADMSG ? END_BAD_RULE : END_NO_RULE;
	if (row.return_register != REG_PC)
		return END_EXPRESSION;
	if (row.row.regs[REG_PC].how == REGISTER_UNDEFINED)
		return END_ROOT;
	err = find_cfa(&f, &row.row);
	if (!err)
		err = restore_registers(&f, &row.row, &to);
	if (err)
		return end_of(err);
	if (!(to.valid_regs & REG_BIT(REG_PC)) || !(to.valid_regs & REG_BIT(REG_SP)))
		return END_EXPRESSION;
	if (!is_advancing(w, &row, &to))
		return END_NOT_ADVANCING;
	w->u = to;
	w->u.is_exact = row.is_signal;
	return to.regs[REG_PC] ? 0 : END_ROOT;
}
