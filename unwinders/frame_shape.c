// SPDX-License-Identifier: Apache-2.0
#include "unwinders/frame_shape.h"

#include <string.h>

#include "core/reader.h"
#include "unwinders/call_site.h"

enum effect {
	EFFECT_UNKNOWN,
	EFFECT_NONE,
	EFFECT_PUSH, /* operand: the register, in the processor's numbering */
	EFFECT_POP,
	EFFECT_ROUND_SP,
	EFFECT_MOVE_SP,	   /* operand: added to rsp */
	EFFECT_SET_FP,	   /* rbp = rsp */
	EFFECT_COPY_SP,	   /* another register = rsp */
	EFFECT_SP_FROM_FP, /* rsp = rbp + operand */
	EFFECT_LEAVE,
	EFFECT_RETURN,
};

#define CODE_SP 4 /* register numbers inside instructions */
#define CODE_FP 5

struct insn {
	enum effect effect;
	int64_t operand;
};

static int64_t read_imm(struct reader *r, bool is_long)
{
	return is_long ? (int32_t)reader_u32(r, "operand") : (int8_t)reader_u8(r, "operand");
}

/* Instructions of a fixed form that change nothing of interest. */
static bool skip_fixed(struct reader *r)
{
	static const struct {
		uint8_t len, bytes[4];
	} forms[] = {
		{ 4, { 0xf3, 0x0f, 0x1e, 0xfa } }, /* endbr64 */
		{ 3, { 0xc5, 0xf8, 0x77 } },	   /* vzeroupper */
		{ 2, { 0x66, 0x90 } },		   /* nop */
		{ 2, { 0x0f, 0x77 } },		   /* emms */
		{ 1, { 0x90 } },		   /* nop */
		{ 1, { 0xfc } },		   /* cld */
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		if (reader_left(r) < forms[i].len || memcmp(r->pos, forms[i].bytes, forms[i].len))
			continue;
		reader_skip(r, forms[i].len, "instruction");
		return true;
	}
	return false;
}

/* add, sub or and of rsp and a constant: 83 or 81, /0, /5, /4. */
static struct insn decode_arithmetic(struct reader *r, bool is_long)
{
	uint8_t modrm = reader_u8(r, "operand");
	int64_t n = read_imm(r, is_long);

	if (modrm == 0xc4)
		return (struct insn){ EFFECT_MOVE_SP, n };
	if (modrm == 0xec)
		return (struct insn){ EFFECT_MOVE_SP, -n };
	if (modrm == 0xe4)
		return (struct insn){ EFFECT_ROUND_SP, 0 };
	return (struct insn){ EFFECT_UNKNOWN, 0 };
}

/* lea of rsp from rsp or rbp and a displacement. */
static struct insn decode_lea(struct reader *r)
{
	uint8_t modrm = reader_u8(r, "operand");
	bool is_long = modrm >> 6 == 2;

	if ((modrm >> 6 != 1 && modrm >> 6 != 2) || (modrm >> 3 & 7) != CODE_SP)
		return (struct insn){ EFFECT_UNKNOWN, 0 };
	if ((modrm & 7) == CODE_FP)
		return (struct insn){ EFFECT_SP_FROM_FP, read_imm(r, is_long) };
	if ((modrm & 7) == CODE_SP && reader_u8(r, "operand") == 0x24)
		return (struct insn){ EFFECT_MOVE_SP, read_imm(r, is_long) };
	return (struct insn){ EFFECT_UNKNOWN, 0 };
}

/* mov and xor between registers; opcode 89 and 31 write the modrm's rm, 8b and 33 its reg. */
static struct insn decode_move(struct reader *r, uint8_t op, uint8_t rex)
{
	uint8_t modrm = reader_u8(r, "operand");
	bool writes_rm = op == 0x89 || op == 0x31;
	uint8_t reg = (modrm >> 3 & 7) | (rex & 4) << 1, rm = (modrm & 7) | (rex & 1) << 3;
	uint8_t to = writes_rm ? rm : reg, from = writes_rm ? reg : rm;
	bool is_mov = op == 0x89 || op == 0x8b;

	if (modrm >> 6 != 3)
		return (struct insn){ EFFECT_UNKNOWN, 0 };
	if (is_mov && to == CODE_FP && from == CODE_SP)
		return (struct insn){ EFFECT_SET_FP, 0 };
	if (is_mov && to == CODE_SP && from == CODE_FP)
		return (struct insn){ EFFECT_SP_FROM_FP, 0 };
	if (is_mov && from == CODE_SP)
		return (struct insn){ EFFECT_COPY_SP, 0 };
	return (struct insn){ to == CODE_SP ? EFFECT_UNKNOWN : EFFECT_NONE, 0 };
}

static struct insn decode(struct reader *r)
{
	uint8_t op, rex = 0;

	if (skip_fixed(r))
		return (struct insn){ EFFECT_NONE, 0 };
	op = reader_u8(r, "instruction");
	if (op == 0xf3) /* rep ret */
		op = reader_u8(r, "instruction") == 0xc3 ? 0xc3 : 0;
	if (op >> 4 == 4) {
		rex = op;
		op = reader_u8(r, "instruction");
	}
	if (op >= 0x50 && op <= 0x5f)
		return (struct insn){ op < 0x58 ? EFFECT_PUSH : EFFECT_POP,
				      (op & 7) | (rex & 1) << 3 };
	switch (op) {
	case 0x81:
	case 0x83:
		return decode_arithmetic(r, op == 0x81);
	case 0x8d:
		return decode_lea(r);
	case 0x31:
	case 0x33:
	case 0x89:
	case 0x8b:
		return decode_move(r, op, rex);
	case 0xc9:
		return (struct insn){ EFFECT_LEAVE, 0 };
	case 0xc2:
	case 0xc3:
		return (struct insn){ EFFECT_RETURN, 0 };
	}
	return (struct insn){ EFFECT_UNKNOWN, 0 };
}

/* DWARF's numbers of the processor's registers rax rcx rdx rbx rsp rbp rsi rdi r8... */
static int dwarf_number(int64_t reg)
{
	static const uint8_t numbers[8] = { 0, 2, 1, 3, 7, 6, 4, 5 };

	return reg < 8 ? numbers[reg] : (int)reg;
}

static void save(struct frame_shape *shape, int64_t reg, int64_t slot)
{
	int number = dwarf_number(reg);

	/* What is pushed a second time is not the caller's. */
	if (shape->saved >> number & 1)
		return;
	shape->saved |= 1u << number;
	shape->slots[number] = slot;
}

/* Where things are below the return address, while a prologue runs; 0: not there. */
struct prologue {
	int64_t sp, fp, copied_sp;
	bool is_rounded, has_saved_fp;
	struct frame_shape shape;
};

/* False: the prologue is over. */
static bool run_prologue(struct prologue *p, struct insn insn)
{
	switch (insn.effect) {
	case EFFECT_NONE:
		return true;
	case EFFECT_PUSH:
		p->sp -= 8;
		save(&p->shape, insn.operand, p->sp);
		p->has_saved_fp |= insn.operand == CODE_FP;
		return true;
	case EFFECT_MOVE_SP:
		p->sp += insn.operand;
		return insn.operand < 0;
	case EFFECT_SET_FP:
		if (p->has_saved_fp)
			p->fp = p->sp;
		return true;
	case EFFECT_COPY_SP:
		p->copied_sp = p->sp;
		return true;
	case EFFECT_ROUND_SP:
		p->is_rounded = true;
		return false;
	default:
		return false;
	}
}

void frame_shape_by_prologue(const uint8_t *code, size_t len, struct frame_shape *out)
{
	struct prologue p = { 0 };
	struct insn insn;
	struct reader r;

	reader_init(&r, code, len);
	do {
		insn = decode(&r);
	} while (!reader_error(&r) && run_prologue(&p, insn) && !reader_at_end(&r));
	*out = p.shape;
	out->allocated = (uint64_t)(p.copied_sp - p.sp);
	if (p.fp)
		out->base = SHAPE_FROM_FP;
	else if (p.is_rounded)
		out->base = p.copied_sp ? SHAPE_FROM_SAVED_SP : SHAPE_NONE;
	out->return_slot = p.fp ? -p.fp : p.is_rounded ? -p.copied_sp : -p.sp;
	for (int reg = 0; reg < SHAPE_N_REGS; reg++)
		out->slots[reg] += out->return_slot;
}

struct frame_shape frame_shape_standard(void)
{
	struct frame_shape shape = { .base = SHAPE_FROM_FP, .return_slot = 8 };

	save(&shape, CODE_FP, 0);
	return shape;
}

bool frame_shape_by_epilogue(const uint8_t *code, size_t len, struct frame_shape *out)
{
	struct frame_shape shape = { 0 }, standard = frame_shape_standard();
	struct reader r;

	reader_init(&r, code, len);
	while (!reader_at_end(&r)) {
		struct insn insn = decode(&r);

		if (reader_error(&r))
			return false;
		switch (insn.effect) {
		case EFFECT_NONE:
			break;
		case EFFECT_MOVE_SP:
			shape.return_slot += insn.operand;
			break;
		case EFFECT_SP_FROM_FP:
			shape = (struct frame_shape){ .base = SHAPE_FROM_FP,
						      .return_slot = insn.operand };
			break;
		case EFFECT_LEAVE:
			shape = standard;
			break;
		case EFFECT_POP:
			shape.saved &= ~(1u << dwarf_number(insn.operand));
			save(&shape, insn.operand, shape.return_slot);
			shape.return_slot += 8;
			break;
		case EFFECT_RETURN:
			*out = shape;
			return true;
		default:
			return false;
		}
	}
	return false;
}

bool frame_shape_at_entry(const uint8_t *code, size_t len, size_t at, struct frame_shape *out)
{
	size_t n;

	if (sets_frame_pointer(code + at, len - at, &n)) {
		*out = (struct frame_shape){ .return_slot = 0 };
		return true;
	}
	if (at == 0 || !sets_frame_pointer(code + at - 1, len - at + 1, &n) || n != 4)
		return false;
	*out = frame_shape_standard();
	out->base = SHAPE_FROM_SP;
	return true;
}
