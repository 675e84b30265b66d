// SPDX-License-Identifier: Apache-2.0
#include "unwinders/cfi_rule.h"

#include <string.h>

#include "core/reader.h"

#define N_RULE_REGS 16 /* what the rule's 4 bits can name */

enum expression_op {
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S = 0x09,
	OP_CONST2U = 0x0a,
	OP_CONST2S = 0x0b,
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG15 = 0x7f,
};

/* The operand of plus_uconst, or of a constant that a plus follows. False: something else. */
static bool read_addend(struct reader *r, int64_t *value)
{
	uint8_t op = reader_u8(r, "operation");

	switch (op) {
	case OP_PLUS_UCONST:
		*value = (int64_t)reader_uleb(r, "operand");
		return true;
	case OP_CONST1U:
		*value = reader_u8(r, "operand");
		break;
	case OP_CONST1S:
		*value = (int8_t)reader_u8(r, "operand");
		break;
	case OP_CONST2U:
		*value = reader_u16(r, "operand");
		break;
	case OP_CONST2S:
		*value = (int16_t)reader_u16(r, "operand");
		break;
	case OP_CONSTU:
		*value = (int64_t)reader_uleb(r, "operand");
		break;
	case OP_CONSTS:
		*value = reader_sleb(r, "operand");
		break;
	default:
		if (op < OP_LIT0 || op > OP_LIT31)
			return false;
		*value = op - OP_LIT0;
	}
	return reader_u8(r, "operation") == OP_PLUS;
}

/* What an expression that loads at most once computes. */
struct load {
	uint8_t reg;
	bool is_deref;
	int64_t offset, addend; /* [reg + offset] + addend, or reg + offset */
};

static bool read_load(const struct register_rule *rule, struct load *out)
{
	struct load load = { 0 };
	struct reader r;
	uint8_t op;

	reader_init(&r, rule->expression, rule->len);
	op = reader_u8(&r, "operation");
	if (op < OP_BREG0 || op > OP_BREG15)
		return false;
	load.reg = op - OP_BREG0;
	load.offset = reader_sleb(&r, "offset");
	if (!reader_at_end(&r)) {
		load.is_deref = reader_u8(&r, "operation") == OP_DEREF;
		if (!load.is_deref)
			return false;
	}
	if (!reader_at_end(&r) && !read_addend(&r, &load.addend))
		return false;
	*out = load;
	return reader_at_end(&r) && !reader_error(&r);
}

/*
 * What linkers write for lazy binding stubs: rsp + 8, and 8 more once the stub has pushed its
 * index, which the low bits of the pc tell: breg7 8, breg16 0, lit15, and, litN, ge, lit3, shl,
 * plus.
 */
static bool is_plt(const struct register_rule *rule, uint8_t *boundary)
{
	static const uint8_t head[] = { 0x77, 8, 0x80, 0, 0x3f, 0x1a };
	static const uint8_t tail[] = { 0x2a, 0x33, 0x24, 0x22 };
	const uint8_t *e = rule->expression;
	size_t n = sizeof(head);

	if (rule->len != n + 1 + sizeof(tail) || memcmp(e, head, n) ||
	    memcmp(e + n + 1, tail, sizeof(tail)))
		return false;
	*boundary = e[n] - OP_LIT0;
	return e[n] >= OP_LIT0 && *boundary < 16;
}

static bool fits_s16(int64_t n)
{
	return n >= INT16_MIN && n <= INT16_MAX;
}

static bool set_cfa_expression(const struct register_rule *cfa, struct unwind_rule *out)
{
	struct load load;
	uint8_t boundary;

	if (is_plt(cfa, &boundary)) {
		out->cfa = CFA_PLT;
		out->reg = REG_SP;
		out->cfa_off = boundary;
		return true;
	}
	if (!read_load(cfa, &load) || !fits_s16(load.offset) || !fits_s16(load.addend))
		return false;
	out->reg = load.reg;
	if (load.is_deref) {
		out->cfa = CFA_DEREF;
		out->cfa_off = (int32_t)((uint32_t)load.addend << 16 | (uint16_t)load.offset);
	} else {
		out->cfa = CFA_REG;
		out->cfa_off = (int32_t)load.offset;
	}
	return true;
}

static bool set_cfa(const struct cfa_row *row, struct unwind_rule *out)
{
	switch (row->cfa.how) {
	case REGISTER_VAL_OFFSET:
		if (row->cfa_register >= N_RULE_REGS || row->cfa.offset != (int32_t)row->cfa.offset)
			return false;
		out->cfa = CFA_REG;
		out->reg = (uint8_t)row->cfa_register & 15;
		out->cfa_off = (int32_t)row->cfa.offset;
		return true;
	case REGISTER_VAL_EXPRESSION:
		return set_cfa_expression(&row->cfa, out);
	}
	return false;
}

static bool set_fp(const struct cfa_row *row, struct unwind_rule *out)
{
	const struct register_rule *fp = &row->regs[REG_FP];
	struct load load;

	switch (fp->how) {
	case REGISTER_UNSPECIFIED:
	case REGISTER_SAME:
		out->fp = FP_SAME;
		return true;
	case REGISTER_UNDEFINED:
		out->fp = FP_UNKNOWN;
		return true;
	case REGISTER_OFFSET:
		out->fp = FP_AT_CFA;
		out->fp_off = (int16_t)fp->offset;
		return fits_s16(fp->offset);
	case REGISTER_EXPRESSION:
		if (!read_load(fp, &load) || load.is_deref || load.reg != REG_FP)
			return false;
		out->fp = FP_AT_FP;
		out->fp_off = (int16_t)load.offset;
		return fits_s16(load.offset);
	}
	return false;
}

/* The stack pointer of the caller is the CFA, unless a rule says otherwise. */
static bool is_sp_cfa(const struct register_rule *sp)
{
	return sp->how == REGISTER_UNSPECIFIED ||
	       (sp->how == REGISTER_VAL_OFFSET && sp->offset == 0);
}

/* The kernel's signal frame, if the rows say so: registers where the ucontext has them. */
static bool is_kernel_signal_frame(const struct cfa_row *row)
{
	const struct register_rule *pc = &row->regs[REG_PC];
	struct load cfa, ra;

	if (row->cfa.how != REGISTER_VAL_EXPRESSION || pc->how != REGISTER_EXPRESSION)
		return false;
	return read_load(&row->cfa, &cfa) && cfa.is_deref && cfa.reg == REG_SP && cfa.addend == 0 &&
	       cfa.offset == SIGNAL_GREGS + 8 * SIGNAL_GREG_SP && read_load(pc, &ra) &&
	       !ra.is_deref && ra.reg == REG_SP && ra.offset == SIGNAL_GREGS + 8 * SIGNAL_GREG_PC;
}

struct unwind_rule cfi_rule(const struct cfa_row *row, uint64_t return_register, bool is_signal)
{
	const struct unwind_rule user = { .cfa = CFA_USER };
	struct unwind_rule out = { .cfa = CFA_NONE };
	const struct register_rule *ra = &row->regs[REG_PC];

	if (return_register != REG_PC)
		return user;
	if (ra->how == REGISTER_UNDEFINED)
		return (struct unwind_rule){ .cfa = CFA_END };
	if (is_signal)
		return is_kernel_signal_frame(row) ? (struct unwind_rule){ .cfa = CFA_SIGNAL }
						   : user;
	if (ra->how != REGISTER_OFFSET || ra->offset != -8 || !is_sp_cfa(&row->regs[REG_SP]))
		return user;
	return set_cfa(row, &out) && set_fp(row, &out) ? out : user;
}
