// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "jfr/pod_owner.h"

#define N_ITEMS(list) (sizeof(list) / sizeof(*(list)))

static void owner_of_a_pod_is_its_name_without_what_was_added(void **state)
{
	static const struct {
		const char *pod;
		size_t len;
		bool is_deployment, is_random;
	} cases[] = {
		{ "orders-7b5f8d4c9b-x2kpq", 6, true, true },
		{ "orders-api-v2-5d8f9c6bd4-zzzzz", 13, true, true },
		{ "logs-x2kpq", 4, false, true },
		{ "logs-http2-x2kpq", 10, false, true },     /* no number makes this hash */
		{ "report-29384756-x2kpq", 6, false, true }, /* of a cron job */
		{ "kafka-0", 5, false, false },
		{ "orders-service", 0, false, false },
		{ "orders-7b5f8d4c9b", 0, false, false },
		{ "orders-world-house", 0, false, false }, /* vowels: words */
		{ "-x2kpq", 0, false, false },
		{ "x2kpq", 0, false, false },
		{ "-", 0, false, false },
		{ "", 0, false, false },
	};

	(void)state;
	for (size_t i = 0; i < N_ITEMS(cases); i++) {
		struct pod_owner owner = pod_owner_of(cases[i].pod);

		assert_int_equal(owner.len, cases[i].len);
		assert_int_equal(owner.is_deployment, cases[i].is_deployment);
		assert_int_equal(owner.is_random, cases[i].is_random);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(owner_of_a_pod_is_its_name_without_what_was_added),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
