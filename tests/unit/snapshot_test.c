// SPDX-License-Identifier: Apache-2.0
/* Walks over stacks made by hand, in a world of two files and some code of nobody's. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "bpf/counters.h"
#include "tests/unit/cfi_bytes.h"
#include "unwinders/arch.h"
#include "unwinders/guess.h"
#include "unwinders/snapshot.h"
#include "unwinders/walk.h"

#define INSNS(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

#define BIAS UINT64_C(0x500000)
#define CODE (BIAS + 0x10000)	 /* of the file: */
#define PLAIN (CODE + 0x000)	 /* CFA = rsp + 8 */
#define FRAMED (CODE + 0x100)	 /* CFA = rbp + 16 */
#define ROOT (CODE + 0x200)	 /* the return address is undefined */
#define IN_RDI (CODE + 0x300)	 /* the return address is in rdi, CFA = rsp */
#define ODD (CODE + 0x400)	 /* CFA = [rsp + rbx * 8 + 8] + 16: for user space */
#define STUCK (CODE + 0x500)	 /* CFA = rsp - 8 */
#define IN_RBX (CODE + 0x600)	 /* CFA = rbx + 16 */
#define SAVES_RBX (CODE + 0x700) /* CFA = rsp + 16, rbx at CFA - 16 */
#define SIGNAL (CODE + 0x800)
#define NO_DATA (CODE + 0x900)
#define CODE_END (CODE + 0x1000)

#define STACK UINT64_C(0x7fff00000000)
#define STACK_PAGES 4

struct world {
	struct cfi_bytes cfi;
	struct cfi_input in;
	struct unwind_table table;
	uint8_t code[0x1000];
	uint8_t known[STACK_PAGES];
	uint64_t stack[STACK_PAGES * SNAPSHOT_PAGE / 8];
	bool reads_elsewhere;
	struct snapshot s;
	struct wire_frame frames[64];
	size_t n;
};

static bool find(void *ctx, uint64_t pc, struct code_region *out)
{
	struct world *w = ctx;

	if (pc < CODE || pc >= CODE_END)
		return false;
	*out = (struct code_region){ CODE,    CODE_END,	       BIAS, &w->table, &w->in,
				     w->code, sizeof(w->code), CODE };
	return true;
}

/* Another stack than the one that was copied: main's frame of a signal on the alternate stack. */
static int read_elsewhere(void *ctx, uint64_t addr, void *buf, size_t len)
{
	const uint64_t word = addr == 0x1000 ? ROOT + 5 : 0;

	(void)ctx;
	if (addr < 0x1000 || addr + len > 0x2000 || len != 8)
		return -EFAULT;
	memcpy(buf, &word, 8);
	return 0;
}

static void add(struct world *w, uint64_t start, const void *insns, size_t len)
{
	cfi_fde(&w->cfi, start - BIAS, 0xf0, insns, len);
}

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	cfi_bytes_eh(&w->cfi);
	add(w, PLAIN, NULL, 0);
	add(w, FRAMED, INSNS(0x0c, 6, 16, 0x86, 2));
	add(w, ROOT, INSNS(0x07, 16));
	add(w, IN_RDI, INSNS(0x0e, 0, 0x09, 16, 5));
	add(w, ODD, INSNS(0x0f, 10, 0x77, 8, 0x73, 0, 0x38, 0x1e, 0x22, 0x06, 0x23, 16));
	add(w, STUCK, INSNS(0x13, 1));
	add(w, IN_RBX, INSNS(0x0c, 3, 16));
	add(w, SAVES_RBX, INSNS(0x0e, 16, 0x83, 2));
	w->cfi.augmentation = "zRS";
	cfi_cie(&w->cfi);
	add(w, SIGNAL, INSNS(0x0f, 4, 0x77, 0xa0, 1, 0x06, 0x10, 16, 3, 0x77, 0xa8, 1));
	w->in.eh_frame = cfi_bytes_section(&w->cfi);
	assert_int_equal(cfi_build(&w->in, &w->table), 0);
	assert_int_equal(w->table.n_bad_fdes, 0);
	memset(w->known, 1, sizeof(w->known));
	memset(w->code, 0x90, sizeof(w->code));
	w->s = (struct snapshot){
		.regs = { [REG_SP] = STACK, [REG_PC] = PLAIN },
		.valid_regs = 0x1ffff,
		.is_exact = true,
		.stack_start = STACK,
		.stack = (const uint8_t *)w->stack,
		.stack_len = sizeof(w->stack),
		.page_known = w->known,
		.ctx = w,
		.find = find,
	};
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	unwind_table_deinit(&w->table);
	free(w);
	return 0;
}

static int walk(struct world *w)
{
	w->n = 0;
	return snapshot_walk(&w->s, w->frames, &w->n, sizeof(w->frames) / sizeof(*w->frames));
}

static void assert_frames(const struct world *w, size_t n, const uint64_t *addrs)
{
	assert_int_equal(w->n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(w->frames[i].addr, addrs[i]);
}

#define EXPECT(w, ...)                                                                 \
	assert_frames(w, sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t), \
		      (const uint64_t[]){ __VA_ARGS__ })

static void walks_tables_to_the_root(void **state)
{
	struct world *w = *state;

	w->stack[0] = FRAMED + 5;
	w->s.regs[REG_FP] = STACK + 64;
	w->stack[8] = 1;
	w->stack[9] = ROOT + 5;
	assert_int_equal(walk(w), END_ROOT);
	EXPECT(w, PLAIN, FRAMED + 5, ROOT + 5);
	assert_int_equal(w->frames[0].flags, WIRE_FRAME_EXACT);
	assert_int_equal(w->frames[1].flags, 0);
}

static void goes_on_behind_frames_that_are_there(void **state)
{
	struct world *w = *state;

	w->s.regs[REG_PC] = ROOT + 5;
	w->s.is_exact = false;
	w->n = 3;
	assert_int_equal(snapshot_walk(&w->s, w->frames, &w->n, 4), END_ROOT);
	assert_int_equal(w->n, 4);
	assert_int_equal(w->frames[3].addr, ROOT + 5);
	assert_int_equal(w->frames[3].flags, 0);
	assert_int_equal(snapshot_walk(&w->s, w->frames, &w->n, 4), END_MAX_FRAMES);
	assert_int_equal(w->n, 4);
}

static void a_return_address_in_a_register_is_followed(void **state)
{
	struct world *w = *state;

	w->s.regs[REG_PC] = IN_RDI;
	w->s.regs[5] = PLAIN + 5;
	w->stack[0] = ROOT + 5;
	assert_int_equal(walk(w), END_ROOT);
	EXPECT(w, IN_RDI, PLAIN + 5, ROOT + 5);
	/* In a system call the pc is like a return address, too. */
	w->s.is_exact = false;
	w->s.regs[REG_PC] = IN_RDI + 2;
	assert_int_equal(walk(w), END_ROOT);
	EXPECT(w, IN_RDI + 2, PLAIN + 5, ROOT + 5);
	/* Further up there is no such thing. */
	w->s.regs[5] = IN_RDI + 5;
	assert_int_equal(walk(w), END_EXPRESSION);
	EXPECT(w, IN_RDI + 2, IN_RDI + 5);
}

static void an_expression_is_evaluated(void **state)
{
	struct world *w = *state;

	w->s.regs[REG_PC] = ODD;
	w->s.regs[3] = 2; /* rbx */
	w->stack[3] = STACK + 80;
	w->stack[11] = ROOT + 5;
	assert_int_equal(walk(w), END_ROOT);
	EXPECT(w, ODD, ROOT + 5);
}

static void registers_are_followed_from_the_first_frame(void **state)
{
	struct world *w = *state;

	w->s.regs[REG_PC] = SAVES_RBX;
	w->stack[0] = STACK + 64; /* the caller's rbx */
	w->stack[1] = PLAIN + 5;
	w->stack[2] = IN_RBX + 5;
	w->stack[9] = ROOT + 5;
	assert_int_equal(walk(w), END_ROOT);
	EXPECT(w, SAVES_RBX, PLAIN + 5, IN_RBX + 5, ROOT + 5);
	/* Not when the walk begins in the middle, where rbx is not known. */
	w->s.valid_regs = 1 << REG_SP | 1 << REG_PC | 1 << REG_FP;
	w->s.regs[REG_PC] = IN_RBX;
	assert_int_equal(walk(w), END_EXPRESSION);
	EXPECT(w, IN_RBX);
}

static void what_was_not_copied_truncates(void **state)
{
	struct world *w = *state;

	w->s.regs[REG_FP] = STACK + sizeof(w->stack) + 64;
	w->stack[0] = FRAMED + 5;
	assert_int_equal(walk(w), END_SNAPSHOT_TRUNCATED);
	EXPECT(w, PLAIN, FRAMED + 5);
}

static void a_page_that_is_missing_is_a_fault(void **state)
{
	struct world *w = *state;

	w->s.regs[REG_FP] = STACK + 2 * SNAPSHOT_PAGE - 12; /* across the edge of the third */
	w->known[2] = 0;
	w->stack[0] = FRAMED + 5;
	assert_int_equal(walk(w), END_READ_FAULT);
	EXPECT(w, PLAIN, FRAMED + 5);
}

static void contradictions_end_the_walk(void **state)
{
	struct world *w = *state;

	w->stack[0] = STUCK + 5;
	assert_int_equal(walk(w), END_NOT_ADVANCING);
	w->stack[0] = 0x1234;
	assert_int_equal(walk(w), END_NO_MAPPING);
	EXPECT(w, PLAIN, 0x1234);
	w->stack[0] = 0;
	assert_int_equal(walk(w), END_ROOT);
	EXPECT(w, PLAIN);
}

static void put_signal_frame(struct world *w, uint64_t pc, uint64_t sp)
{
	w->stack[0] = SIGNAL; /* where the handler returns to */
	w->stack[1 + SIGNAL_GREGS / 8 + SIGNAL_GREG_SP] = sp;
	w->stack[1 + SIGNAL_GREGS / 8 + SIGNAL_GREG_PC] = pc;
}

static void a_signal_frame_restores_every_register(void **state)
{
	struct world *w = *state;

	put_signal_frame(w, ODD, STACK + 1024);
	w->stack[1 + SIGNAL_GREGS / 8 + 11] = 0; /* rbx */
	w->stack[129] = STACK + 2048;
	w->stack[257] = ROOT + 5;
	assert_int_equal(walk(w), END_ROOT);
	EXPECT(w, PLAIN, SIGNAL, ODD, ROOT + 5);
	assert_int_equal(w->frames[2].flags, WIRE_FRAME_EXACT);
}

static void the_stack_below_an_alternate_one_is_read_while_stopped(void **state)
{
	struct world *w = *state;

	put_signal_frame(w, PLAIN + 7, 0x1000);
	assert_int_equal(walk(w), END_SNAPSHOT_TRUNCATED);
	EXPECT(w, PLAIN, SIGNAL, PLAIN + 7);
	/* By now it may be another stack. */
	w->s.read = read_elsewhere;
	assert_int_equal(walk(w), END_SNAPSHOT_TRUNCATED);
	EXPECT(w, PLAIN, SIGNAL, PLAIN + 7);
	w->s.is_stopped = true;
	assert_int_equal(walk(w), END_ROOT);
	EXPECT(w, PLAIN, SIGNAL, PLAIN + 7, ROOT + 5);
}

/* call *%rax before the return address, a call of the function itself, the bytes of neither. */
static void a_guess_needs_a_call_and_a_root(void **state)
{
	struct world *w = *state;

	w->s.regs[REG_PC] = NO_DATA + 0x20;
	w->stack[2] = PLAIN + 9; /* no call before it */
	w->stack[4] = PLAIN + 5;
	w->stack[5] = ROOT + 5;
	memcpy(w->code + (PLAIN + 5 - CODE) - 2, "\xff\xd0", 2);
	memcpy(w->code + (ROOT + 5 - CODE) - 2, "\xff\xd0", 2);
	assert_int_equal(walk(w), END_ROOT);
	EXPECT(w, NO_DATA + 0x20, PLAIN + 5, ROOT + 5);
	assert_int_equal(w->frames[1].flags, WIRE_FRAME_GUESSED);
	assert_int_equal(w->frames[2].flags, 0);
	w->stack[5] = 0x1234;
	assert_int_equal(walk(w), END_GUESS_FAILED);
	EXPECT(w, NO_DATA + 0x20);
}

/* The worst stacks there are: every word looks like a return address into code without data. */
static void hostile_stacks_cost_little(void **state)
{
	struct world *w = *state;
	struct timespec a, b;
	double worst = 0, took;

	for (size_t i = 0; i + 2 < sizeof(w->code); i += 3)
		memcpy(w->code + i, "\xff\xd0\x90", 3);
	for (int round = 0; round < 300; round++) {
		w->s.regs[REG_PC] = round % 2 ? NO_DATA + 0x20 : PLAIN;
		w->s.regs[REG_FP] = STACK + (uint64_t)(random() % 512) * 8;
		for (size_t i = 0; i < sizeof(w->stack) / 8; i++)
			w->stack[i] = random() % 4 ? CODE + (uint64_t)random() % 0xf00 / 3 * 3 + 2
						   : STACK + (uint64_t)(random() % 2048) * 8;
		if (round % 3 == 0)
			for (size_t i = 0; i < sizeof(w->stack) / 8; i++)
				w->stack[i] = NO_DATA + 2 + (uint64_t)(random() % 80) * 3;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
		walk(w);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
		took = (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6;
		worst = took > worst ? took : worst;
	}
	print_message("the slowest of 300 hostile stacks took %.2f ms\n", worst);
#ifndef __SANITIZE_ADDRESS__
	assert_true(worst < 5);
#endif
}

/* How far a walk comes whose stack goes on and on. */
static size_t walk_within(struct world *w, struct walk_budget *budget, int *end)
{
	struct frame_list frames = { w->frames, 0, sizeof(w->frames) / sizeof(*w->frames) };
	struct walk walk;

	walk_init(&walk, &w->s, budget);
	*end = guess_walk(&walk, &frames, 0);
	return frames.n;
}

static void work_that_is_spent_ends_the_walk(void **state)
{
	static const struct {
		struct walk_budget budget;
		uint64_t pc;
		size_t n; /* frames, or 0: any */
		int end;
	} cases[] = {
		{ { 40, 100, 100 }, PLAIN, 41, END_GUESS_FAILED },
		{ { 1, 100, 100 }, PLAIN, 2, END_GUESS_FAILED },
		{ { 0, 100, 100 }, PLAIN, 1, END_GUESS_FAILED },
		/* a search through the stack, and entry after entry without a search table */
		{ { 8000, 0, 100 }, NO_DATA, 1, END_GUESS_FAILED },
		{ { 8000, 100, 0 }, ODD, 1, END_EXPRESSION },
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(w->stack) / 8; i++)
		w->stack[i] = PLAIN + 5;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct walk_budget budget = cases[i].budget;
		int end;

		w->s.regs[REG_PC] = cases[i].pc;
		assert_int_equal(walk_within(w, &budget, &end), cases[i].n);
		assert_int_equal(end, cases[i].end);
		/* Nothing wraps around to be used again. */
		assert_true(budget.n_steps <= cases[i].budget.n_steps);
		assert_true(budget.n_words <= cases[i].budget.n_words);
		assert_true(budget.n_entries <= cases[i].budget.n_entries);
	}
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(walks_tables_to_the_root),
		TEST(goes_on_behind_frames_that_are_there),
		TEST(a_return_address_in_a_register_is_followed),
		TEST(an_expression_is_evaluated),
		TEST(registers_are_followed_from_the_first_frame),
		TEST(what_was_not_copied_truncates),
		TEST(a_page_that_is_missing_is_a_fault),
		TEST(contradictions_end_the_walk),
		TEST(a_signal_frame_restores_every_register),
		TEST(the_stack_below_an_alternate_one_is_read_while_stopped),
		TEST(a_guess_needs_a_call_and_a_root),
		TEST(hostile_stacks_cost_little),
		TEST(work_that_is_spent_ends_the_walk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
