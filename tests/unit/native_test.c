// SPDX-License-Identifier: Apache-2.0
/* One step of the native walk over a table and a stack made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "unwinders/host.h"

#define CODE 0x400000ULL /* where the file is mapped */
#define BIAS 0x3f0000ULL /* so the code's virtual address is 0x10000 */
#define STACK 0x7ffd0000ULL
#define STACK_WORDS 64

enum {
	WORD_DIRECTORY = TABLE_HEADER_WORDS,
	WORD_ROWS = WORD_DIRECTORY + 3,
	N_ROWS = 6,
	WORD_RULES = WORD_ROWS + N_ROWS,
	N_RULES = 5
};

/* Two pages; rules 1 to 4 are whatever a test puts there. */
struct world {
	uint32_t words[WORD_RULES + 2 * N_RULES];
	uint64_t stack[STACK_WORDS];
	uint8_t code[16]; /* readable at CODE + 0x3000 */
	struct unwind_host host;
	struct unwind u;
	int n_finds;
	bool has_table;
};

static int world_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
	struct world *w = ctx;
	uint64_t code = CODE + 0x3000;

	if (addr >= STACK && addr - STACK <= sizeof(w->stack) - len)
		memcpy(buf, (char *)w->stack + (addr - STACK), len);
	else if (addr >= code && addr - code <= sizeof(w->code) - len)
		memcpy(buf, w->code + (addr - code), len);
	else
		return -1;
	return 0;
}

static int world_find(void *ctx, uint64_t pc, struct unwind_mapping *m, const uint32_t **words,
		      size_t *n_words)
{
	struct world *w = ctx;

	w->n_finds++;
	if (pc - CODE >= 0x30000)
		return END_NO_MAPPING;
	*m = (struct unwind_mapping){ .start = CODE, .len = 0x30000, .bias = BIAS };
	*words = w->has_table ? w->words : NULL;
	*n_words = w->has_table ? sizeof(w->words) / sizeof(w->words[0]) : 0;
	return 0;
}

static void world_rule(struct world *w, int number, struct unwind_rule rule)
{
	memcpy(&w->words[WORD_RULES + 2 * number], &rule, sizeof(rule));
}

static void world_init(struct world *w)
{
	const uint32_t words[] = {
		1,
		2,
		N_ROWS,
		N_RULES,
		WORD_DIRECTORY,
		WORD_ROWS,
		WORD_RULES,
		sizeof(w->words) / 4,
		0,
		4,
		N_ROWS,
		0x0000,
		0x1000 | 1 << 16,
		0x2000 | 2 << 16,
		0x3000, /* page 0x1.... */
		0x0000 | 3 << 16,
		0x8000 | 4 << 16, /* page 0x2.... */
	};

	memset(w, 0, sizeof(*w));
	memcpy(w->words, words, sizeof(words));
	w->has_table = true;
	w->host = (struct unwind_host){ .ctx = w, .read = world_read, .find = world_find };
	unwind_host = &w->host;
	for (int i = 0; i < STACK_WORDS; i++)
		w->stack[i] = 0x1000 + i;
	for (int i = 0; i < WIRE_N_REGS; i++)
		w->u.regs[i] = 0xbad0000 + i;
	w->u.regs[REG_PC] = CODE + 0x1500;
	w->u.regs[REG_SP] = STACK + 8 * 8;
	w->u.regs[REG_FP] = STACK + 8 * 20;
	w->u.valid_regs = ALL_REGS;
	w->u.is_exact = 1;
}

static void finds_the_row_that_covers_an_address(void **state)
{
	static const struct {
		uint64_t vaddr;
		int rule;
	} cases[] = {
		{ 0xffff, 0 },	{ 0x10000, 0 }, { 0x10fff, 0 },		{ 0x11000, 1 },
		{ 0x11fff, 1 }, { 0x12000, 2 }, { 0x12fff, 2 },		{ 0x13000, 0 },
		{ 0x1ffff, 0 }, { 0x20000, 3 }, { 0x27fff, 3 },		{ 0x28000, 4 },
		{ 0x2ffff, 4 }, { 0x30000, 0 }, { 0x1000000011000, 0 }, { UINT64_MAX, 0 },
	};
	struct world w;

	(void)state;
	world_init(&w);
	for (int i = 1; i < N_RULES; i++)
		world_rule(&w, i, (struct unwind_rule){ .cfa = CFA_REG, .cfa_off = i });
	w.host.words = w.words;
	w.host.n_words = sizeof(w.words) / 4;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t rule = native_rule_at(HOST_TABLE, cases[i].vaddr);

		assert_int_equal(rule >> 32, cases[i].rule);
	}
}

static void finds_every_row_of_a_long_page(void **state)
{
	enum { N = 5000, RULES = TABLE_HEADER_WORDS + 2 + N };
	static uint32_t words[RULES + 2 * (N + 1)];
	const uint32_t header[] = { 0, 1, N, N + 1, 8, 10, RULES, sizeof(words) / 4, 0, N };
	struct unwind_host host = { .words = words, .n_words = sizeof(words) / 4 };

	(void)state;
	unwind_host = &host;
	memcpy(words, header, sizeof(header));
	for (uint32_t i = 0; i < N; i++) {
		words[10 + i] = (i * 13) | (i + 1) << 16;
		words[RULES + 2 * (i + 1) + 1] = i;
	}
	for (uint32_t vaddr = 0; vaddr < N * 13; vaddr++)
		assert_int_equal(native_rule_at(HOST_TABLE, vaddr) >> 32, vaddr / 13);
	assert_int_equal(native_rule_at(HOST_TABLE, 0xffff) >> 32, N - 1);
}

static void each_rule_moves_to_the_caller_it_describes(void **state)
{
	/* Stack words are 0x1000 + their number; sp is at word 8, rbp at word 20. */
	static const struct {
		struct unwind_rule rule;
		uint64_t pc, sp, fp;
		bool is_fp_known;
	} cases[] = {
		{ { CFA_REG, REG_SP, FP_SAME, 0, 8 }, 0x1008, 9, STACK + 160, true },
		{ { CFA_REG, REG_SP, FP_AT_CFA, -16, 32 }, 0x100b, 12, 0x100a, true },
		{ { CFA_REG, REG_SP, FP_AT_CFA, -24, 32 }, 0x100b, 12, 0x1009, true },
		{ { CFA_REG, REG_FP, FP_AT_CFA, -16, 16 }, 0x1015, 22, 0x1014, true },
		{ { CFA_REG, REG_FP, FP_AT_FP, 0, 16 }, 0x1015, 22, 0x1014, true },
		{ { CFA_REG, REG_FP, FP_UNKNOWN, 0, 16 }, 0x1015, 22, 0, false },
		{ { CFA_REG, 10, FP_SAME, 0, 0 }, 0x101d, 30, STACK + 160, true },
		{ { CFA_DEREF, REG_FP, FP_AT_FP, 0, (8 << 16) | (uint16_t)-8 },
		  0x1020,
		  33,
		  0x1014,
		  true },
	};
	struct world w;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		world_init(&w);
		world_rule(&w, 1, cases[i].rule);
		w.u.regs[10] = STACK + 8 * 30;
		w.stack[19] = STACK + 8 * 32;
		assert_int_equal(native_step(&w.u), 0);
		assert_int_equal(w.u.regs[REG_PC], cases[i].pc);
		assert_int_equal(w.u.regs[REG_SP], STACK + 8 * cases[i].sp);
		assert_int_equal(!!(w.u.valid_regs & REG_BIT(REG_FP)), cases[i].is_fp_known);
		if (cases[i].is_fp_known)
			assert_int_equal(w.u.regs[REG_FP], cases[i].fp);
		assert_int_equal(w.u.valid_regs & ~REG_BIT(REG_FP),
				 REG_BIT(REG_PC) | REG_BIT(REG_SP));
		assert_int_equal(w.u.is_exact, 0);
	}
}

static void plt_rule_looks_at_the_pc(void **state)
{
	struct world w;

	(void)state;
	for (int low = 0; low < 16; low++) {
		world_init(&w);
		world_rule(&w, 1, (struct unwind_rule){ .cfa = CFA_PLT, .cfa_off = 11 });
		w.u.regs[REG_PC] += low;
		assert_int_equal(native_step(&w.u), 0);
		assert_int_equal(w.u.regs[REG_PC], low >= 11 ? 0x1009 : 0x1008);
	}
}

static void return_address_is_looked_up_in_the_call_before_it(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	world_rule(&w, 1, (struct unwind_rule){ .cfa = CFA_REG, .reg = REG_SP, .cfa_off = 8 });
	world_rule(&w, 2, (struct unwind_rule){ .cfa = CFA_REG, .reg = REG_SP, .cfa_off = 16 });
	w.stack[8] = CODE + 0x2000;
	assert_int_equal(native_step(&w.u), 0);
	assert_int_equal(w.u.regs[REG_PC], CODE + 0x2000);
	assert_int_equal(native_step(&w.u), 0);
	assert_int_equal(w.u.regs[REG_SP], STACK + 8 * 10);
	assert_int_equal(w.n_finds, 1);
}

static void signal_frame_brings_every_register_back(void **state)
{
	static const int order[SIGNAL_N_GREGS] = {
		8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, REG_SP, REG_PC,
	};
	struct world w;

	(void)state;
	for (int by_code = 0; by_code < 2; by_code++) {
		world_init(&w);
		world_rule(&w, 1, (struct unwind_rule){ .cfa = CFA_SIGNAL });
		w.u.valid_regs = REG_BIT(REG_PC) | REG_BIT(REG_SP);
		w.u.is_exact = 0;
		if (by_code) {
			w.u.regs[REG_PC] = CODE + 0x3000;
			memcpy(w.code, (uint8_t[])TRAMPOLINE_CODE, TRAMPOLINE_LEN);
			world_rule(&w, 2, (struct unwind_rule){ .cfa = CFA_NONE });
		}
		assert_int_equal(native_step(&w.u), 0);
		for (int i = 0; i < SIGNAL_N_GREGS; i++)
			assert_int_equal(w.u.regs[order[i]], 0x1000 + 8 + SIGNAL_GREGS / 8 + i);
		assert_int_equal(w.u.valid_regs, ALL_REGS);
		assert_int_equal(w.u.is_exact, 1);
	}
}

static void every_end_has_its_reason(void **state)
{
	static const struct {
		const char *what;
		struct unwind_rule rule;
		uint64_t pc, sp;
		uint32_t valid_regs;
		bool no_table;
		int end;
	} cases[] = {
		{ .what = "outermost", .rule = { .cfa = CFA_END }, .end = END_ROOT },
		{ .what = "expression", .rule = { .cfa = CFA_USER }, .end = END_EXPRESSION },
		{ .what = "lost register",
		  .rule = { .cfa = CFA_REG, .reg = 10 },
		  .valid_regs = REG_BIT(REG_SP) | REG_BIT(REG_PC),
		  .end = END_EXPRESSION },
		{ .what = "unknown kind", .rule = { .cfa = 15 }, .end = END_BAD_RULE },
		{ .what = "unknown frame pointer kind",
		  .rule = { CFA_REG, REG_SP, 9, 0, 8 },
		  .end = END_BAD_RULE },
		{ .what = "no rule", .rule = { .cfa = CFA_NONE }, .end = END_NO_RULE },
		{ .what = "no table", .no_table = true, .end = END_NO_TABLE },
		{ .what = "no mapping", .pc = 0x1000, .end = END_NO_MAPPING },
		{ .what = "down the stack",
		  .rule = { CFA_REG, REG_SP, FP_SAME, 0, -8 },
		  .end = END_NOT_ADVANCING },
		{ .what = "in place",
		  .rule = { CFA_REG, REG_SP, FP_SAME, 0, 0 },
		  .end = END_NOT_ADVANCING },
		{ .what = "return address unreadable",
		  .rule = { CFA_REG, REG_SP, FP_SAME, 0, 4096 },
		  .end = END_READ_FAULT },
		{ .what = "pair unreadable",
		  .rule = { CFA_REG, REG_SP, FP_AT_CFA, -16, 4096 },
		  .end = END_READ_FAULT },
		{ .what = "frame pointer unreadable",
		  .rule = { CFA_REG, REG_SP, FP_AT_CFA, 4096, 8 },
		  .end = END_READ_FAULT },
		{ .what = "CFA unreadable",
		  .rule = { CFA_DEREF, REG_SP, FP_SAME, 0, 4096 },
		  .end = END_READ_FAULT },
		{ .what = "ucontext unreadable",
		  .rule = { .cfa = CFA_SIGNAL },
		  .sp = 0x10,
		  .end = END_READ_FAULT },
		{ .what = "return address 0",
		  .rule = { CFA_REG, REG_SP, FP_SAME, 0, 8 },
		  .sp = STACK,
		  .end = END_ROOT },
	};
	struct world w;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		world_init(&w);
		world_rule(&w, 1, cases[i].rule);
		w.stack[0] = 0;
		w.has_table = !cases[i].no_table;
		w.u.regs[REG_PC] = cases[i].pc ? cases[i].pc : w.u.regs[REG_PC];
		w.u.regs[REG_SP] = cases[i].sp ? cases[i].sp : w.u.regs[REG_SP];
		w.u.valid_regs = cases[i].valid_regs ? cases[i].valid_regs : ALL_REGS;
		if (native_step(&w.u) != cases[i].end)
			fail_msg("%s", cases[i].what);
	}
}

/* Whatever bits a table has, a lookup stays inside it and ends. */
static void survives_mutation(void **state)
{
	struct world w;

	(void)state;
	for (size_t bit = 0; bit < sizeof(w.words) * 8; bit++) {
		world_init(&w);
		for (int i = 1; i < N_RULES; i++)
			world_rule(&w, i,
				   (struct unwind_rule){ CFA_REG, REG_SP, FP_AT_CFA, -16, 32 });
		w.words[bit / 32] ^= 1U << bit % 32;
		for (int i = 0; i < 4; i++) {
			if (native_step(&w.u))
				break;
			w.u.regs[REG_PC] = CODE + 0x1000 + (uint64_t)i * 0x7000;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_row_that_covers_an_address),
		cmocka_unit_test(finds_every_row_of_a_long_page),
		cmocka_unit_test(each_rule_moves_to_the_caller_it_describes),
		cmocka_unit_test(plt_rule_looks_at_the_pc),
		cmocka_unit_test(return_address_is_looked_up_in_the_call_before_it),
		cmocka_unit_test(signal_frame_brings_every_register_back),
		cmocka_unit_test(every_end_has_its_reason),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
