// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "unwinders/cfi.h"
#include "unwinders/table_builder.h"

static const struct unwind_rule sp8 = { CFA_REG, 7, FP_SAME, 0, 8 };
static const struct unwind_rule fp16 = { CFA_REG, 6, FP_AT_CFA, -16, 16 };

static struct unwind_table finish(struct table_builder *b)
{
	struct unwind_table t = { 0 };

	assert_int_equal(table_builder_finish(b, &t.words, &t.n_words), 0);
	assert_true(unwind_table_is_valid(&t));
	return t;
}

static void assert_kind(const struct unwind_table *t, uint64_t addr, int cfa, int cfa_off)
{
	struct unwind_rule rule = unwind_table_find(t, addr);

	assert_int_equal(rule.cfa, cfa);
	assert_int_equal(rule.cfa_off, cfa_off);
}

static void finds_what_was_added_across_pages(void **state)
{
	struct table_builder b;
	struct unwind_table t;

	(void)state;
	table_builder_init(&b, 0x1fff0, 0x80000, 0);
	table_builder_add(&b, 0x1fff0, 0x20000, sp8);  /* ends where its page ends */
	table_builder_add(&b, 0x3fffe, 0x60001, fp16); /* a whole page in the middle */
	t = finish(&b);
	assert_kind(&t, 0, CFA_NONE, 0);
	assert_kind(&t, 0x1ffef, CFA_NONE, 0);
	assert_kind(&t, 0x1fff0, CFA_REG, 8);
	assert_kind(&t, 0x1ffff, CFA_REG, 8);
	assert_kind(&t, 0x20000, CFA_NONE, 0);
	assert_kind(&t, 0x3fffd, CFA_NONE, 0);
	assert_kind(&t, 0x3fffe, CFA_REG, 16);
	assert_kind(&t, 0x4abcd, CFA_REG, 16);
	assert_kind(&t, 0x60000, CFA_REG, 16);
	assert_kind(&t, 0x60001, CFA_NONE, 0);
	assert_kind(&t, 0x80000, CFA_NONE, 0);
	assert_kind(&t, UINT64_MAX, CFA_NONE, 0);
	unwind_table_deinit(&t);
}

static void a_page_takes_a_row_for_each_byte(void **state)
{
	struct table_builder b;
	struct unwind_table t;

	(void)state;
	table_builder_init(&b, 0x10000, 0x20000, 0);
	for (uint64_t i = 0; i < 0x10000; i++)
		table_builder_add(&b, 0x10000 + i, 0x10001 + i, i % 2 ? sp8 : fp16);
	t = finish(&b);
	for (uint64_t i = 0; i < 0x10000; i++)
		assert_int_equal(unwind_table_find(&t, 0x10000 + i).cfa_off, i % 2 ? 8 : 16);
	unwind_table_deinit(&t);
}

static void what_is_written_stays(void **state)
{
	struct table_builder b;
	struct unwind_table t;

	(void)state;
	table_builder_init(&b, 0x1000, 0x2000, 0);
	table_builder_add(&b, 0x1000, 0x1010, sp8);
	table_builder_add(&b, 0x1008, 0x1020, fp16);
	table_builder_add(&b, 0x1000, 0x1018, sp8);
	table_builder_add(&b, 0x1ff0, 0x9000, sp8); /* cut at the end */
	t = finish(&b);
	assert_kind(&t, 0x100f, CFA_REG, 8);
	assert_kind(&t, 0x1010, CFA_REG, 16);
	assert_kind(&t, 0x1fff, CFA_REG, 8);
	assert_kind(&t, 0x2000, CFA_NONE, 0);
	unwind_table_deinit(&t);
}

static void an_empty_table_is_valid(void **state)
{
	struct table_builder b;
	struct unwind_table t;

	(void)state;
	table_builder_init(&b, 0x1000, 0x2000, 0);
	t = finish(&b);
	assert_kind(&t, 0x1000, CFA_NONE, 0);
	unwind_table_deinit(&t);
	assert_kind(&t, 0x1000, CFA_NONE, 0);
	assert_false(unwind_table_is_valid(&t));
}

/* Every bit flip is either refused or harmless to look up in. */
static void survives_mutation(void **state)
{
	struct table_builder b;
	struct unwind_table t;
	size_t n_refused = 0;

	(void)state;
	table_builder_init(&b, 0x1000, 0x20000, 0);
	table_builder_add(&b, 0x1000, 0x1010, sp8);
	table_builder_add(&b, 0x1010, 0x12000, fp16);
	t = finish(&b);
	for (size_t bit = 0; bit < 32 * t.n_words; bit++) {
		struct unwind_table copy = { malloc(4 * t.n_words), t.n_words, 0, 0, 0 };

		memcpy(copy.words, t.words, 4 * t.n_words);
		copy.words[bit / 32] ^= UINT32_C(1) << bit % 32;
		n_refused += !unwind_table_is_valid(&copy);
		if (unwind_table_is_valid(&copy))
			for (uint64_t addr = 0; addr < 0x30000; addr += 0xff)
				unwind_table_find(&copy, addr);
		unwind_table_deinit(&copy);
	}
	for (size_t n = 0; n < t.n_words; n++) {
		struct unwind_table cut = { malloc(4 * n + 1), n, 0, 0, 0 };

		memcpy(cut.words, t.words, 4 * n);
		assert_false(unwind_table_is_valid(&cut));
		unwind_table_deinit(&cut);
	}
	assert_true(n_refused > 100);
	unwind_table_deinit(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_was_added_across_pages),
		cmocka_unit_test(a_page_takes_a_row_for_each_byte),
		cmocka_unit_test(what_is_written_stays),
		cmocka_unit_test(an_empty_table_is_valid),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
