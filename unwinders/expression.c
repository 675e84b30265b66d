// SPDX-License-Identifier: Apache-2.0
#include "unwinders/expression.h"

#include <errno.h>
#include <stdbool.h>

#include "core/reader.h"

enum operation {
	OP_ADDR = 0x03,
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S = 0x09,
	OP_CONST2U = 0x0a,
	OP_CONST2S = 0x0b,
	OP_CONST4U = 0x0c,
	OP_CONST4S = 0x0d,
	OP_CONST8U = 0x0e,
	OP_CONST8S = 0x0f,
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_DUP = 0x12,
	OP_DROP = 0x13,
	OP_OVER = 0x14,
	OP_PICK = 0x15,
	OP_SWAP = 0x16,
	OP_ROT = 0x17,
	OP_ABS = 0x19,
	OP_AND = 0x1a,
	OP_DIV = 0x1b,
	OP_MINUS = 0x1c,
	OP_MOD = 0x1d,
	OP_MUL = 0x1e,
	OP_NEG = 0x1f,
	OP_NOT = 0x20,
	OP_OR = 0x21,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_SHR = 0x25,
	OP_SHRA = 0x26,
	OP_XOR = 0x27,
	OP_BRA = 0x28,
	OP_EQ = 0x29,
	OP_GE = 0x2a,
	OP_GT = 0x2b,
	OP_LE = 0x2c,
	OP_LT = 0x2d,
	OP_NE = 0x2e,
	OP_SKIP = 0x2f,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96,
	OP_STACK_VALUE = 0x9f,
};

struct machine {
	struct reader code;
	const struct expression_env *env;
	uint64_t stack[EXPRESSION_MAX_DEPTH];
	size_t depth;
};

static void fail(struct machine *m, int err, const char *what)
{
	reader_fail(&m->code, err, what);
}

static void push(struct machine *m, uint64_t value)
{
	if (m->depth == EXPRESSION_MAX_DEPTH)
		fail(m, -E2BIG, "expression depth");
	else
		m->stack[m->depth++] = value;
}

static uint64_t pop(struct machine *m)
{
	if (m->depth == 0) {
		fail(m, -EBADMSG, "expression stack");
		return 0;
	}
	return m->stack[--m->depth];
}

/* The nth value from the top, which is number 0. */
static void pick(struct machine *m, uint64_t n)
{
	if (n >= m->depth)
		fail(m, -EBADMSG, "expression stack");
	else
		push(m, m->stack[m->depth - 1 - n]);
}

static void push_register(struct machine *m, uint64_t reg)
{
	uint64_t offset = (uint64_t)reader_sleb(&m->code, "offset");

	if (reg >= m->env->n_regs || !(m->env->valid_regs >> reg & 1))
		fail(m, -ENODATA, "register");
	else
		push(m, m->env->regs[reg] + offset);
}

static void deref(struct machine *m, size_t len)
{
	uint64_t addr = pop(m), value = 0;

	if (len < 1 || len > 8)
		fail(m, -EBADMSG, "size of a load");
	else if (!reader_error(&m->code) && m->env->read(m->env->ctx, addr, &value, len))
		fail(m, -EFAULT, "memory");
	else
		push(m, value);
}

/* Signed operands are read as unsigned and extended from their size. */
static uint64_t constant(struct machine *m, uint8_t op)
{
	struct reader *r = &m->code;

	switch (op) {
	case OP_ADDR:
		return reader_u64(r, "address") + m->env->bias;
	case OP_CONST1U:
		return reader_u8(r, "constant");
	case OP_CONST1S:
		return (uint64_t)(int8_t)reader_u8(r, "constant");
	case OP_CONST2U:
		return reader_u16(r, "constant");
	case OP_CONST2S:
		return (uint64_t)(int16_t)reader_u16(r, "constant");
	case OP_CONST4U:
		return reader_u32(r, "constant");
	case OP_CONST4S:
		return (uint64_t)(int32_t)reader_u32(r, "constant");
	case OP_CONST8U:
	case OP_CONST8S:
		return reader_u64(r, "constant");
	case OP_CONSTU:
		return reader_uleb(r, "constant");
	default:
		return (uint64_t)reader_sleb(r, "constant");
	}
}

static uint64_t divide(struct machine *m, int64_t a, int64_t b)
{
	if (b == 0)
		fail(m, -EBADMSG, "division by zero");
	/* The one quotient that does not fit. */
	if (b == 0 || b == -1)
		return -(uint64_t)a;
	return (uint64_t)(a / b);
}

static uint64_t shift(uint8_t op, uint64_t a, uint64_t n)
{
	bool is_negative = op == OP_SHRA && a >> 63;

	if (n > 63)
		return is_negative ? UINT64_MAX : 0;
	if (op == OP_SHL)
		return a << n;
	return a >> n | (is_negative && n ? UINT64_MAX << (64 - n) : 0);
}

/* Comparisons and division are signed, modulo is not (DWARF 5 section 2.5.1.4). */
static uint64_t binary(struct machine *m, uint8_t op, uint64_t a, uint64_t b)
{
	switch (op) {
	case OP_AND:
		return a & b;
	case OP_DIV:
		return divide(m, (int64_t)a, (int64_t)b);
	case OP_MINUS:
		return a - b;
	case OP_MOD:
		if (b == 0)
			fail(m, -EBADMSG, "division by zero");
		return b ? a % b : 0;
	case OP_MUL:
		return a * b;
	case OP_OR:
		return a | b;
	case OP_PLUS:
		return a + b;
	case OP_XOR:
		return a ^ b;
	case OP_EQ:
		return a == b;
	case OP_GE:
		return (int64_t)a >= (int64_t)b;
	case OP_GT:
		return (int64_t)a > (int64_t)b;
	case OP_LE:
		return (int64_t)a <= (int64_t)b;
	case OP_LT:
		return (int64_t)a < (int64_t)b;
	case OP_NE:
		return a != b;
	default:
		return shift(op, a, b);
	}
}

static void rearrange(struct machine *m, uint8_t op)
{
	uint64_t a = pop(m), b = pop(m), c = op == OP_ROT ? pop(m) : 0;

	push(m, a);
	if (op == OP_ROT)
		push(m, c);
	push(m, b);
}

static void jump(struct machine *m, bool is_taken)
{
	int16_t distance = (int16_t)reader_u16(&m->code, "branch");
	uint64_t to = reader_offset(&m->code) + (uint64_t)(int64_t)distance;

	if (is_taken)
		reader_seek(&m->code, to, "branch");
}

static void run_other(struct machine *m, uint8_t op)
{
	uint64_t b;

	switch (op) {
	case OP_DEREF:
		deref(m, 8);
		break;
	case OP_DEREF_SIZE:
		deref(m, reader_u8(&m->code, "size"));
		break;
	case OP_DUP:
		pick(m, 0);
		break;
	case OP_OVER:
		pick(m, 1);
		break;
	case OP_PICK:
		pick(m, reader_u8(&m->code, "index"));
		break;
	case OP_DROP:
		pop(m);
		break;
	case OP_SWAP:
	case OP_ROT:
		rearrange(m, op);
		break;
	case OP_ABS:
		b = pop(m);
		push(m, b >> 63 ? -b : b);
		break;
	case OP_NEG:
		push(m, -pop(m));
		break;
	case OP_NOT:
		push(m, ~pop(m));
		break;
	case OP_PLUS_UCONST:
		push(m, pop(m) + reader_uleb(&m->code, "constant"));
		break;
	case OP_SKIP:
		jump(m, true);
		break;
	case OP_BRA:
		jump(m, pop(m) != 0);
		break;
	case OP_BREGX:
		push_register(m, reader_uleb(&m->code, "register"));
		break;
	default:
		fail(m, -ENOTSUP, "operation");
	}
}

static bool is_constant(uint8_t op)
{
	return op == OP_ADDR || (op >= OP_CONST1U && op <= OP_CONSTS);
}

static bool is_binary(uint8_t op)
{
	return op == OP_AND || (op >= OP_DIV && op <= OP_MUL) || op == OP_OR || op == OP_PLUS ||
	       (op >= OP_SHL && op <= OP_XOR) || (op >= OP_EQ && op <= OP_NE);
}

static void run_one(struct machine *m)
{
	uint8_t op = reader_u8(&m->code, "operation");
	uint64_t a, b;

	if (op >= OP_LIT0 && op <= OP_LIT31) {
		push(m, op - OP_LIT0);
	} else if (op >= OP_BREG0 && op <= OP_BREG31) {
		push_register(m, op - OP_BREG0);
	} else if (is_constant(op)) {
		push(m, constant(m, op));
	} else if (is_binary(op)) {
		b = pop(m);
		a = pop(m);
		push(m, binary(m, op, a, b));
	} else if (op != OP_NOP && op != OP_STACK_VALUE) {
		run_other(m, op);
	}
}

int expression_eval(const uint8_t *code, size_t len, const struct expression_env *env,
		    uint64_t *value)
{
	struct machine m = { .env = env };
	uint64_t top;

	reader_init(&m.code, code, len);
	if (env->initial)
		push(&m, *env->initial);
	for (int i = 0; !reader_at_end(&m.code); i++) {
		if (i == EXPRESSION_MAX_STEPS)
			return -E2BIG;
		run_one(&m);
	}
	top = pop(&m);
	if (!reader_error(&m.code))
		*value = top;
	return reader_error(&m.code);
}
