// SPDX-License-Identifier: Apache-2.0
#include "jfr/memo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#define MANY 100000

static const char of[2];

static struct memo_key key_of(uint64_t i)
{
	return (struct memo_key){ .words = { i / 3, i % 3 }, .of = &of[i & 1] };
}

static void what_is_found_is_what_was_added(void **state)
{
	struct memo_key key;
	struct memo m = { 0 };
	size_t n_found = 0;

	(void)state;
	key = key_of(1);
	assert_null(memo_find(&m, &key));
	for (uint64_t i = 0; i < MANY; i++) {
		key = key_of(i);
		assert_null(memo_find(&m, &key));
		memo_add(&m, &key, i);
		assert_int_equal(*memo_find(&m, &key), i);
	}
	for (uint64_t i = 0; i < MANY; i++) {
		const uint64_t *value;

		key = key_of(i);
		value = memo_find(&m, &key);
		n_found += value != NULL;
		assert_true(!value || *value == i);
	}
	assert_in_range(n_found, 1, MANY - 1); /* it does not grow for ever */
	memo_deinit(&m);
}

static void few_are_nearly_all_known(void **state)
{
	struct memo_key key;
	struct memo m = { 0 };
	size_t n_found = 0;

	(void)state;
	for (uint64_t i = 0; i < 400; i++) {
		key = key_of(i);
		memo_add(&m, &key, i);
	}
	for (uint64_t i = 0; i < 400; i++) {
		key = key_of(i);
		n_found += memo_find(&m, &key) != NULL;
		key.words[0] += 1000;
		assert_null(memo_find(&m, &key));
		key = key_of(i);
		key.words[1] += 1000;
		assert_null(memo_find(&m, &key));
		key = key_of(i);
		key.of = &key;
		assert_null(memo_find(&m, &key));
	}
	assert_in_range(n_found, 390, 400);
	memo_clear(&m);
	key = key_of(5);
	assert_null(memo_find(&m, &key));
	memo_deinit(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_found_is_what_was_added),
		cmocka_unit_test(few_are_nearly_all_known),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("jfr/memo", tests, NULL, NULL);
}
