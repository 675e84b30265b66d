// SPDX-License-Identifier: Apache-2.0
/* What instructions say: calls before return addresses, frames by prologue and epilogue, starts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "unwinders/call_site.h"
#include "unwinders/frame_shape.h"
#include "unwinders/padding.h"
#include "tests/unit/mutation.h"

#define CODE(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

#define RBX 3 /* DWARF numbers */
#define RBP 6
#define R12 12

static void knows_every_form_of_call(void **state)
{
	const struct {
		const uint8_t *code;
		size_t len;
		enum call_kind kind;
		uint64_t target;
	} cases[] = {
		{ CODE(0xe8, 0x10, 0, 0, 0), CALL_DIRECT, 0x1010 },
		{ CODE(0x90, 0x90, 0xe8, 0xf0, 0xff, 0xff, 0xff), CALL_DIRECT, 0xff0 },
		{ CODE(0xff, 0xd0), CALL_INDIRECT, 0 },			  /* *%rax */
		{ CODE(0x41, 0xff, 0xd4), CALL_INDIRECT, 0 },		  /* *%r12 */
		{ CODE(0xff, 0x13), CALL_INDIRECT, 0 },			  /* *(%rbx) */
		{ CODE(0xff, 0x14, 0x24), CALL_INDIRECT, 0 },		  /* *(%rsp) */
		{ CODE(0xff, 0x14, 0xc5, 0, 1, 0, 0), CALL_INDIRECT, 0 }, /* *256(,%rax,8) */
		{ CODE(0xff, 0x15, 1, 2, 3, 4), CALL_INDIRECT, 0 },	  /* *x(%rip) */
		{ CODE(0xff, 0x50, 0x18), CALL_INDIRECT, 0 },		  /* *24(%rax) */
		{ CODE(0xff, 0x54, 0x24, 8), CALL_INDIRECT, 0 },	  /* *8(%rsp) */
		{ CODE(0xff, 0x92, 0, 1, 0, 0), CALL_INDIRECT, 0 },	  /* *256(%rdx) */
		{ CODE(0x41, 0xff, 0x94, 0x24, 0, 1, 0, 0), CALL_INDIRECT, 0 },
		{ CODE(0xff, 0xe0), CALL_NONE, 0 }, /* jmp *%rax */
		{ CODE(0xff, 0x30), CALL_NONE, 0 }, /* push (%rax) */
		{ CODE(0xff, 0x14), CALL_NONE, 0 }, /* its SIB is missing */
		{ CODE(0xe8, 0, 0, 0), CALL_NONE, 0 },
		{ CODE(0x90), CALL_NONE, 0 },
		{ NULL, 0, CALL_NONE, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t target = 0;
		bool is_also;

		assert_int_equal(
			call_before(cases[i].code, cases[i].len, 0x1000, &target, &is_also),
			cases[i].kind);
		assert_int_equal(target, cases[i].target);
	}
}

static void follows_jumps(void **state)
{
	const struct {
		const uint8_t *code;
		size_t len;
		enum jump_kind kind;
		uint64_t target;
	} cases[] = {
		{ CODE(0xff, 0x25, 0x10, 0, 0, 0), JUMP_SLOT, 0x1016 },
		{ CODE(0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0, 0, 0, 0), JUMP_SLOT, 0x100a },
		{ CODE(0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 0, 0, 0, 0), JUMP_SLOT, 0x100b },
		{ CODE(0xe9, 0xfb, 0xff, 0xff, 0xff), JUMP_DIRECT, 0x1000 },
		{ CODE(0xe9, 0, 0, 0), JUMP_NONE, 0 },
		{ CODE(0x55), JUMP_NONE, 0 },
		{ NULL, 0, JUMP_NONE, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t target = 0;

		assert_int_equal(jump_at(cases[i].code, cases[i].len, 0x1000, &target),
				 cases[i].kind);
		assert_int_equal(target, cases[i].target);
	}
}

static void reads_prologues(void **state)
{
	const struct {
		const uint8_t *code;
		size_t len;
		enum shape_base base;
		int64_t slot;
		uint32_t saved;
		int64_t saved_at; /* of the highest register */
	} cases[] = {
		{ NULL, 0, SHAPE_FROM_SP, 0, 0, 0 },
		{ CODE(0xf3, 0x0f, 0x1e, 0xfa), SHAPE_FROM_SP, 0, 0, 0 },
		{ CODE(0x48, 0x83, 0xec, 0x28), SHAPE_FROM_SP, 40, 0, 0 },
		{ CODE(0x48, 0x81, 0xec, 0, 2, 0, 0), SHAPE_FROM_SP, 512, 0, 0 },
		{ CODE(0x53, 0x41, 0x54, 0x50), SHAPE_FROM_SP, 24, 1 << RBX | 1 << R12 | 1, 8 },
		{ CODE(0x55, 0x48, 0x89, 0xe5, 0x53), SHAPE_FROM_FP, 8, 1 << RBX | 1 << RBP, 0 },
		{ CODE(0x55, 0x48, 0x8b, 0xec), SHAPE_FROM_FP, 8, 1 << RBP, 0 },
		{ CODE(0x53, 0x48, 0xff, 0xcf, 0x53), SHAPE_FROM_SP, 8, 1 << RBX,
		  0 }, /* ends at dec */
		{ CODE(0x53, 0x48, 0x89, 0xfb, 0x31, 0xc0, 0x50), SHAPE_FROM_SP, 16, 1 << RBX | 1,
		  8 },
		{ CODE(0x48, 0x8d, 0x64, 0x24, 0xf0), SHAPE_FROM_SP, 16, 0, 0 },
		/* the old stack pointer in rax, 64 bytes, rounded */
		{ CODE(0x53, 0x48, 0x89, 0xe0, 0x48, 0x83, 0xec, 0x40, 0x48, 0x83, 0xe4, 0xe0),
		  SHAPE_FROM_SAVED_SP, 8, 1 << RBX, 0 },
		{ CODE(0x48, 0x83, 0xe4, 0xe0), SHAPE_NONE, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct frame_shape shape;
		int top = 0;

		frame_shape_by_prologue(cases[i].code, cases[i].len, &shape);
		assert_int_equal(shape.base, cases[i].base);
		assert_int_equal(shape.return_slot, cases[i].slot);
		assert_int_equal(shape.saved, cases[i].saved);
		while (shape.saved >> top > 1)
			top++;
		if (shape.saved)
			assert_int_equal(shape.slots[top], cases[i].saved_at);
	}
}

static void reads_epilogues(void **state)
{
	const struct {
		const uint8_t *code;
		size_t len;
		bool is_one;
		enum shape_base base;
		int64_t slot;
		uint32_t saved;
	} cases[] = {
		{ CODE(0xc3), true, SHAPE_FROM_SP, 0, 0 },
		{ CODE(0xf3, 0xc3), true, SHAPE_FROM_SP, 0, 0 },
		{ CODE(0xc2, 8, 0), true, SHAPE_FROM_SP, 0, 0 },
		{ CODE(0x48, 0x83, 0xc4, 0x28, 0x5b, 0x5d, 0xc3), true, SHAPE_FROM_SP, 56,
		  1 << RBX | 1 << RBP },
		{ CODE(0xc5, 0xf8, 0x77, 0x89, 0xd8, 0x41, 0x5c, 0xc3), true, SHAPE_FROM_SP, 8,
		  1 << R12 },
		{ CODE(0xc9, 0xc3), true, SHAPE_FROM_FP, 8, 1 << RBP },
		{ CODE(0x48, 0x8d, 0x65, 0xf8, 0x5b, 0x5d, 0xc3), true, SHAPE_FROM_FP, 8,
		  1 << RBX | 1 << RBP },
		{ CODE(0x5b, 0xe8, 0, 0, 0, 0, 0xc3), false, 0, 0, 0 },
		{ CODE(0x5b, 0x5d), false, 0, 0, 0 },
		{ NULL, 0, false, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct frame_shape shape;

		assert_int_equal(frame_shape_by_epilogue(cases[i].code, cases[i].len, &shape),
				 cases[i].is_one);
		if (!cases[i].is_one)
			continue;
		assert_int_equal(shape.base, cases[i].base);
		assert_int_equal(shape.return_slot, cases[i].slot);
		assert_int_equal(shape.saved, cases[i].saved);
	}
}

static void knows_where_a_frame_pointer_is_being_set_up(void **state)
{
	static const uint8_t code[] = {
		0xc3, 0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0x53
	};
	static const struct {
		size_t at;
		bool is_entry;
		int64_t slot;
	} cases[] = {
		{ 1, true, 0 }, { 5, true, 0 }, { 6, true, 8 }, { 9, false, 0 }, { 0, false, 0 }
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct frame_shape shape = { 0 };

		assert_int_equal(frame_shape_at_entry(code, sizeof(code), cases[i].at, &shape),
				 cases[i].is_entry);
		assert_int_equal(shape.return_slot, cases[i].slot);
	}
}

/* L is the next byte of a long nop, which ends in zeros. */
static uint8_t code_byte(char letter, size_t *n)
{
	static const uint8_t long_nop[] = { 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 };

	switch (letter) {
	case 'r':
		return 0xc3;
	case 'n':
		return 0x90;
	case 'z':
		return 0x00;
	case 'L':
		return long_nop[(*n)++ % sizeof(long_nop)];
	}
	return 0x48;
}

static void finds_starts_behind_padding(void **state)
{
	static const struct {
		const char *text; /* r: ret, n: nop, z: zero, x: another instruction; 16 a block */
		size_t len;
		uint64_t start; /* 0: none */
	} cases[] = {
		{ "xxxxxxxxrnnnnnnnxxxx", 20, 0x1010 },
		{ "xxxxxxxxxxxxxxxrxxxx", 20, 0x1010 },
		{ "xxxrzzzzzzzzzzzzzzzzzzzzzzzzzzzzxx", 34, 0x1020 },
		{ "xxxxxrLLLLLLLLLLxxxx", 20, 0x1010 }, /* L: of a long nop, which ends in zeros */
		{ "xxxxxxxxxnnnnnnnxxxx", 20, 0 },	/* a loop's alignment */
		{ "xxxxxxxxrnnxnnnnxxxx", 20, 0 },
		{ "xxxxxxxxxxxxxxxrxxxxxxxxxxxxxxxxxx", 34, 0x1010 },
		{ "", 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint8_t code[64];
		uint64_t start = 0;

		for (size_t j = 0, n = 0; j < cases[i].len; j++)
			code[j] = code_byte(cases[i].text[j], &n);
		assert_int_equal(
			padding_find_start(code, cases[i].len, 0x1000 + cases[i].len, &start),
			cases[i].start != 0);
		assert_int_equal(start, cases[i].start);
	}
}

/* All readers of instructions, over the first len bytes of code with one bit flipped (or -1),
   in an allocation of their exact size. */
static void read_all(const uint8_t *code, size_t len)
{
	struct frame_shape shape;
	uint64_t target;
	size_t n;
	bool is_also;

	call_before(code, len, 0x1000, &target, &is_also);
	jump_at(code, len, 0x1000, &target);
	sets_frame_pointer(code, len, &n);
	frame_shape_by_prologue(code, len, &shape);
	frame_shape_by_epilogue(code, len, &shape);
	for (size_t at = 0; at < len; at++)
		frame_shape_at_entry(code, len, at, &shape);
	padding_find_start(code, len, 0x1000, &target);
}

static void survives_mutation(void **state)
{
	const struct {
		const uint8_t *code;
		size_t len;
	} cases[] = {
		{ CODE(0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0x53, 0x41, 0x54, 0x48, 0x81,
		       0xec, 0, 2, 0, 0) },
		{ CODE(0x53, 0x48, 0x89, 0xe0, 0x48, 0x83, 0xec, 0x40, 0x48, 0x83, 0xe4, 0xe0) },
		{ CODE(0xc5, 0xf8, 0x77, 0x48, 0x83, 0xc4, 0x28, 0x5b, 0x41, 0x5c, 0xc3) },
		{ CODE(0x48, 0x8d, 0x65, 0xf8, 0x5b, 0x5d, 0xc2, 8, 0) },
		{ CODE(0x41, 0xff, 0x94, 0x24, 0, 1, 0, 0, 0xe8, 0x10, 0, 0, 0) },
		{ CODE(0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 0, 0, 0, 0) },
		{ CODE(0xc3, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0, 0x90, 0x90, 0x90, 0x90,
		       0x90, 0x48) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		mutate(cases[i].code, cases[i].len, read_all);
}

/* Random bytes. */
static void survives_any_code(void **state)
{
	(void)state;
	for (int round = 0; round < 20000; round++) {
		size_t len = (size_t)random() % 40;
		uint8_t *code = malloc(len ? len : 1);

		for (size_t i = 0; i < len; i++)
			code[i] = (uint8_t)random();
		for (size_t i = 0; i < len && round % 2; i++) /* instructions it knows */
			code[i] = (uint8_t) "\x48\x89\xec\x83\xff\x25\x0f\x1f\x84\x66\xe8\x8d"
				[code[i] % 12];
		read_all(code, len);
		free(code);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_every_form_of_call),
		cmocka_unit_test(follows_jumps),
		cmocka_unit_test(reads_prologues),
		cmocka_unit_test(reads_epilogues),
		cmocka_unit_test(knows_where_a_frame_pointer_is_being_set_up),
		cmocka_unit_test(finds_starts_behind_padding),
		cmocka_unit_test(survives_mutation),
		cmocka_unit_test(survives_any_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
