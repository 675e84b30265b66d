// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bpf/sweeper.h"

static void pauses_that_are_hardly_longer_are_not_worth_a_word(void **state)
{
	const uint64_t ms = 1000000;

	(void)state;
	assert_false(sweeper_is_slow(100 * ms, 100 * ms));
	assert_false(sweeper_is_slow(104 * ms, 100 * ms)); /* "0.10 s instead of 0.10 s" */
	assert_false(sweeper_is_slow(110 * ms, 100 * ms));
	assert_true(sweeper_is_slow(111 * ms, 100 * ms));
	assert_true(sweeper_is_slow(2000 * ms, 100 * ms));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pauses_that_are_hardly_longer_are_not_worth_a_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
