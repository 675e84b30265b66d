// SPDX-License-Identifier: Apache-2.0
#include "unwinders/cfa_program.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/hurry.h"

enum cfa_opcode {
	CFA_OP_NOP = 0x00,
	CFA_OP_SET_LOC = 0x01,
	CFA_OP_ADVANCE_LOC1 = 0x02,
	CFA_OP_ADVANCE_LOC2 = 0x03,
	CFA_OP_ADVANCE_LOC4 = 0x04,
	CFA_OP_OFFSET_EXTENDED = 0x05,
	CFA_OP_RESTORE_EXTENDED = 0x06,
	CFA_OP_UNDEFINED = 0x07,
	CFA_OP_SAME_VALUE = 0x08,
	CFA_OP_REGISTER = 0x09,
	CFA_OP_REMEMBER_STATE = 0x0a,
	CFA_OP_RESTORE_STATE = 0x0b,
	CFA_OP_DEF_CFA = 0x0c,
	CFA_OP_DEF_CFA_REGISTER = 0x0d,
	CFA_OP_DEF_CFA_OFFSET = 0x0e,
	CFA_OP_DEF_CFA_EXPRESSION = 0x0f,
	CFA_OP_EXPRESSION = 0x10,
	CFA_OP_OFFSET_EXTENDED_SF = 0x11,
	CFA_OP_DEF_CFA_SF = 0x12,
	CFA_OP_DEF_CFA_OFFSET_SF = 0x13,
	CFA_OP_VAL_OFFSET = 0x14,
	CFA_OP_VAL_OFFSET_SF = 0x15,
	CFA_OP_VAL_EXPRESSION = 0x16,
	CFA_OP_ADVANCE_LOC8 = 0x1d,
	CFA_OP_ARGS_SIZE = 0x2e,
	CFA_OP_NEGATIVE_OFFSET_EXTENDED = 0x2f,
	/* These three have an operand in their low six bits. */
	CFA_OP_ADVANCE_LOC = 0x40,
	CFA_OP_OFFSET = 0x80,
	CFA_OP_RESTORE = 0xc0,
};

#define OPERAND_MASK 0x3f

void cfa_memory_deinit(struct cfa_memory *m)
{
	free(m->rows);
	*m = (struct cfa_memory){ 0 };
}

static void remember(struct cfa_program *p)
{
	struct cfa_memory *m = p->memory;

	if (m->n == CFA_MAX_REMEMBERED) {
		reader_fail(&p->insns, -E2BIG, "remembered states");
		return;
	}
	if (m->n == m->cap) {
		uint32_t cap = m->cap ? m->cap * 2 : 8;
		struct cfa_row *rows = realloc(m->rows, cap * sizeof(*rows));

		if (!rows) {
			reader_fail(&p->insns, -ENOMEM, "remembered states");
			return;
		}
		m->rows = rows;
		m->cap = cap;
	}
	m->rows[m->n++] = p->row;
}

static void recall(struct cfa_program *p)
{
	if (p->memory->n == 0)
		reader_fail(&p->insns, -EBADMSG, "restore_state without remember_state");
	else
		p->row = p->memory->rows[--p->memory->n];
}

/* The rule of a register to be written; a place of no consequence for one that is not kept. */
static struct register_rule *rule_of(struct cfa_program *p, uint64_t reg)
{
	return reg < N_DWARF_REGS ? &p->row.regs[reg] : &p->ignored;
}

static void set_offset(struct cfa_program *p, uint64_t reg, enum register_how how, int64_t offset)
{
	struct register_rule *rule = rule_of(p, reg);

	rule->how = (uint8_t)how;
	rule->len = 0;
	rule->offset = offset;
}

static void set_how(struct cfa_program *p, enum register_how how)
{
	set_offset(p, reader_uleb(&p->insns, "register"), how, 0);
}

static int64_t factored(struct cfa_program *p, bool is_signed)
{
	uint64_t n = is_signed ? (uint64_t)reader_sleb(&p->insns, "offset")
			       : reader_uleb(&p->insns, "offset");

	return (int64_t)(n * (uint64_t)p->data_align);
}

static void restore(struct cfa_program *p, uint64_t reg)
{
	if (!p->initial)
		reader_fail(&p->insns, -EBADMSG, "restore in a CIE");
	else if (reg < N_DWARF_REGS)
		p->row.regs[reg] = p->initial->regs[reg];
}

static void set_expression(struct cfa_program *p, struct register_rule *rule, enum register_how how)
{
	uint64_t len = reader_uleb(&p->insns, "expression length");
	const uint8_t *bytes = reader_bytes(&p->insns, len, "expression");

	if (!bytes || len > UINT32_MAX)
		return;
	rule->how = (uint8_t)how;
	rule->len = (uint32_t)len;
	rule->expression = bytes;
}

static void define_cfa(struct cfa_program *p, uint64_t reg, int64_t offset)
{
	p->row.cfa.how = REGISTER_VAL_OFFSET;
	p->row.cfa.len = 0;
	p->row.cfa.offset = offset;
	p->row.cfa_register = reg;
}

/* def_cfa_register and def_cfa_offset change one half of a CFA that must have both. */
static void change_cfa(struct cfa_program *p, uint8_t op)
{
	if (p->row.cfa.how != REGISTER_VAL_OFFSET)
		reader_fail(&p->insns, -EBADMSG, "change of an undefined CFA");
	else if (op == CFA_OP_DEF_CFA_REGISTER)
		p->row.cfa_register = reader_uleb(&p->insns, "CFA register");
	else if (op == CFA_OP_DEF_CFA_OFFSET)
		p->row.cfa.offset = (int64_t)reader_uleb(&p->insns, "CFA offset");
	else
		p->row.cfa.offset = factored(p, true);
}

static void run_cfa(struct cfa_program *p, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case CFA_OP_DEF_CFA:
		reg = reader_uleb(&p->insns, "CFA register");
		define_cfa(p, reg, (int64_t)reader_uleb(&p->insns, "CFA offset"));
		break;
	case CFA_OP_DEF_CFA_SF:
		reg = reader_uleb(&p->insns, "CFA register");
		define_cfa(p, reg, factored(p, true));
		break;
	case CFA_OP_DEF_CFA_EXPRESSION:
		set_expression(p, &p->row.cfa, REGISTER_VAL_EXPRESSION);
		break;
	default:
		change_cfa(p, op);
	}
}

/* Instructions with a register and an operand. */
static void run_register(struct cfa_program *p, uint8_t op)
{
	uint64_t reg = reader_uleb(&p->insns, "register");

	switch (op) {
	case CFA_OP_OFFSET_EXTENDED:
	case CFA_OP_OFFSET_EXTENDED_SF:
		set_offset(p, reg, REGISTER_OFFSET, factored(p, op == CFA_OP_OFFSET_EXTENDED_SF));
		break;
	case CFA_OP_NEGATIVE_OFFSET_EXTENDED:
		set_offset(p, reg, REGISTER_OFFSET, (int64_t) - (uint64_t)factored(p, false));
		break;
	case CFA_OP_VAL_OFFSET:
	case CFA_OP_VAL_OFFSET_SF:
		set_offset(p, reg, REGISTER_VAL_OFFSET, factored(p, op == CFA_OP_VAL_OFFSET_SF));
		break;
	case CFA_OP_REGISTER:
		set_offset(p, reg, REGISTER_REGISTER, (int64_t)reader_uleb(&p->insns, "register"));
		break;
	case CFA_OP_EXPRESSION:
		set_expression(p, rule_of(p, reg), REGISTER_EXPRESSION);
		break;
	case CFA_OP_VAL_EXPRESSION:
		set_expression(p, rule_of(p, reg), REGISTER_VAL_EXPRESSION);
		break;
	default:
		reader_fail(&p->insns, -ENOTSUP, "call frame instruction");
	}
}

static void run_one(struct cfa_program *p, uint8_t op)
{
	switch (op) {
	case CFA_OP_NOP:
		break;
	case CFA_OP_ARGS_SIZE:
		reader_uleb(&p->insns, "argument size");
		break;
	case CFA_OP_RESTORE_EXTENDED:
		restore(p, reader_uleb(&p->insns, "register"));
		break;
	case CFA_OP_UNDEFINED:
		set_how(p, REGISTER_UNDEFINED);
		break;
	case CFA_OP_SAME_VALUE:
		set_how(p, REGISTER_SAME);
		break;
	case CFA_OP_REMEMBER_STATE:
		remember(p);
		break;
	case CFA_OP_RESTORE_STATE:
		recall(p);
		break;
	case CFA_OP_DEF_CFA:
	case CFA_OP_DEF_CFA_SF:
	case CFA_OP_DEF_CFA_REGISTER:
	case CFA_OP_DEF_CFA_OFFSET:
	case CFA_OP_DEF_CFA_OFFSET_SF:
	case CFA_OP_DEF_CFA_EXPRESSION:
		run_cfa(p, op);
		break;
	default:
		run_register(p, op);
	}
}

/* Where an instruction moves the pc to; the pc itself for all the others, which are run. */
static uint64_t run_insn(struct cfa_program *p)
{
	struct reader *r = &p->insns;
	uint8_t op = reader_u8(r, "call frame instruction");

	switch (op & ~OPERAND_MASK) {
	case CFA_OP_ADVANCE_LOC:
		return p->pc + (op & OPERAND_MASK) * p->code_align;
	case CFA_OP_OFFSET:
		set_offset(p, op & OPERAND_MASK, REGISTER_OFFSET, factored(p, false));
		return p->pc;
	case CFA_OP_RESTORE:
		restore(p, op & OPERAND_MASK);
		return p->pc;
	}
	switch (op) {
	case CFA_OP_SET_LOC:
		return eh_pointer_read(r, p->encoding, p->bases);
	case CFA_OP_ADVANCE_LOC1:
		return p->pc + reader_u8(r, "advance") * p->code_align;
	case CFA_OP_ADVANCE_LOC2:
		return p->pc + reader_u16(r, "advance") * p->code_align;
	case CFA_OP_ADVANCE_LOC4:
		return p->pc + reader_u32(r, "advance") * p->code_align;
	case CFA_OP_ADVANCE_LOC8:
		return p->pc + reader_u64(r, "advance") * p->code_align;
	}
	run_one(p, op);
	return p->pc;
}

int cfa_program_run(struct cfa_program *p, uint64_t *next)
{
	while (!reader_at_end(&p->insns)) {
		uint64_t to = run_insn(p);

		if (reader_error(&p->insns))
			break;
		if (hurry_is_on())
			return reader_fail(&p->insns, -EINTR, "instructions");
		if (to < p->pc)
			return reader_fail(&p->insns, -EBADMSG, "the pc goes back");
		if (to > p->pc) {
			*next = to;
			return 1;
		}
	}
	return reader_error(&p->insns);
}
