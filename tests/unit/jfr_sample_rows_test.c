// SPDX-License-Identifier: Apache-2.0
#include "jfr/sample_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#define MANY 10000

static struct moment_refs refs_of(int64_t i)
{
	return (struct moment_refs){ .thread = i % 7, .stack = i / 7, .state = i % 3, .span = i };
}

static void add(struct sample_rows *r, int64_t i, bool is_alone)
{
	struct sample_row row = { .refs = refs_of(i),
				  .sample = (uint32_t)i + 1,
				  .is_alone = is_alone };
	const struct sample_row *added = sample_rows_add(r, &row);

	assert_non_null(added);
	assert_int_equal(added->sample, i + 1);
}

static void rows_are_found_by_all_that_they_refer_to(void **state)
{
	struct sample_rows r = { 0 };

	(void)state;
	for (int64_t i = 0; i < MANY; i++) {
		struct moment_refs refs = refs_of(i);

		assert_null(sample_rows_find(&r, &refs));
		add(&r, i, false);
	}
	for (int64_t i = 0; i < MANY; i++) {
		struct moment_refs refs = refs_of(i), other[6];

		assert_int_equal(sample_rows_find(&r, &refs)->sample, i + 1);
		for (int k = 0; k < 6; k++)
			other[k] = refs;
		other[0].thread += MANY;
		other[1].stack += MANY;
		other[2].state += MANY;
		other[3].class += MANY;
		other[4].of = &r;
		other[5].span += MANY;
		for (int k = 0; k < 6; k++)
			assert_null(sample_rows_find(&r, &other[k]));
	}
	sample_rows_deinit(&r);
}

static void rows_of_their_own_are_found_by_nobody(void **state)
{
	struct moment_refs refs = refs_of(5);
	struct sample_rows r = { 0 };

	(void)state;
	add(&r, 5, true);
	assert_null(sample_rows_find(&r, &refs));
	add(&r, 5, false);
	for (int64_t i = 6; i < MANY; i++) /* also after it grew */
		add(&r, i, i % 2);
	assert_ptr_equal(sample_rows_find(&r, &refs), &r.items[1]);
	refs = refs_of(7);
	assert_null(sample_rows_find(&r, &refs));
	sample_rows_deinit(&r);
}

static void nothing_is_left_after_clearing(void **state)
{
	struct moment_refs refs = refs_of(1);
	struct sample_rows r = { 0 };

	(void)state;
	sample_rows_clear(&r);
	assert_null(sample_rows_find(&r, &refs));
	add(&r, 1, false);
	sample_rows_clear(&r);
	assert_null(sample_rows_find(&r, &refs));
	assert_int_equal(r.n, 0);
	add(&r, 1, false);
	assert_non_null(sample_rows_find(&r, &refs));
	sample_rows_deinit(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_found_by_all_that_they_refer_to),
		cmocka_unit_test(rows_of_their_own_are_found_by_nobody),
		cmocka_unit_test(nothing_is_left_after_clearing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("jfr/sample_rows", tests, NULL, NULL);
}
