// SPDX-License-Identifier: Apache-2.0
#include "cmd/jfr_time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#define NS INT64_C(1000000000)
#define START (INT64_C(1795255205) * NS) /* 2026-11-21T10:00:05Z */

static void times_are_dates_or_lengths_of_time(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
		bool is_from_start;
	} cases[] = {
		{ "2026-11-21T10:00:05Z", START, false },
		{ "2026-11-21 10:00:05Z", START, false },
		{ "2026-11-21T10:00:05.25Z", START + NS / 4, false },
		{ "2026-11-21T10:00:05.000000001Z", START + 1, false },
		{ "2026-11-21T10:00:05.0000000009Z", START, false }, /* less than there is */
		{ "2026-11-21T10:00Z", START - 5 * NS, false },
		{ "2026-11-21T13:00:05", START, false }, /* local time, which is three hours on */
		{ "2026-11-21 13:00", START - 5 * NS, false },
		{ "1969-12-31T23:59:59Z", -NS, false },
		{ "90s", 90 * NS, true },
		{ "90", 90 * NS, true },
		{ "1.5h", 5400 * NS, true },
		{ "500ms", NS / 2, true },
		{ "0", 0, true },
		{ "0s", 0, true },
	};

	(void)state;
	setenv("TZ", "XXX-3", 1);
	tzset();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool is_from_start;
		int64_t ns;

		assert_true(jfr_time_parse(cases[i].text, &ns, &is_from_start));
		assert_int_equal(ns, cases[i].ns);
		assert_int_equal(is_from_start, cases[i].is_from_start);
	}
}

static void what_is_no_time_is_refused(void **state)
{
	static const char *const cases[] = {
		"",
		"yesterday",
		":",
		"10:00:05",
		"2026-11-21",
		"2026-13-21T10:00:05Z",
		"2026-11-21T10:00:05Z ",
		"2026-11-21T10:00:05+01:00",
		"2026-11-21T25:00:05Z",
		"-5s",
		"5 fortnights",
		"99999999999999999999s",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool is_from_start;
		int64_t ns;

		assert_false(jfr_time_parse(cases[i], &ns, &is_from_start));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_dates_or_lengths_of_time),
		cmocka_unit_test(what_is_no_time_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("cmd/jfr_time", tests, NULL, NULL);
}
