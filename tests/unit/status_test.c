// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cmd/accounting.h"
#include "cmd/show.h"
#include "cmd/status.h"
#include "tests/unit/view_text.h"

static void add(struct profile *p, enum frame_kind kind, int64_t n)
{
	struct location l = { .kind = (uint16_t)kind, .address = (uint64_t)kind };
	uint32_t location = profile_location(p, &l, NULL, 0);
	int64_t values[MAX_VALUES] = { n, n };

	profile_add(p, profile_stack(p, &location, 1), 0, 0, values);
}

static void the_line_has_the_largest_kinds_first(void **state)
{
	struct profile *p = text_profile();
	struct accounting a = { .sampled = 200, .lost = 3, .walks = 200, .complete = 197 };
	char line[256];

	(void)state;
	add(p, FRAME_KERNEL, 20);
	add(p, FRAME_NATIVE, 120);
	add(p, FRAME_JIT, 50);
	add(p, FRAME_UNKNOWN, 10);
	status_line(p, &a, UINT64_C(12900000000), line, sizeof(line));
	assert_string_equal(line,
			    "rec 12s · 200 samples · 3 lost · native 60% jit 25% kernel 10% · "
			    "98.5% complete · ^C stop");
	profile_free(p);
}

static void kinds_have_the_names_that_only_takes(void **state)
{
	struct profile *p = text_profile();
	struct accounting a = { 0 };
	char line[256];

	(void)state;
	add(p, FRAME_PYTHON, 75);
	add(p, FRAME_JAVA, 25);
	status_line(p, &a, 0, line, sizeof(line));
	assert_string_equal(line, "rec 0s · 0 samples · 0 lost · python 75% java 25% · ^C stop");
	profile_free(p);
}

static void a_line_without_samples_has_no_shares(void **state)
{
	struct profile *p = text_profile();
	struct accounting a = { 0 };
	char line[256], small[16];

	(void)state;
	status_line(p, &a, 0, line, sizeof(line));
	assert_string_equal(line, "rec 0s · 0 samples · 0 lost · ^C stop");
	status_line(p, &a, 0, small, sizeof(small));
	assert_true(strlen(small) < sizeof(small));
	profile_free(p);
}

static void amounts_have_a_unit_that_suits_the_table(void **state)
{
	static const struct {
		const char *unit;
		int64_t largest, amount;
		const char *text;
	} cases[] = {
		{ "nanoseconds", 5000000000, 1230000000, "1.23s" },
		{ "nanoseconds", 5000000000, 1, "0.00s" },
		{ "nanoseconds", 5000000, 1230000, "1.23ms" },
		{ "nanoseconds", 999, 12, "12ns" },
		{ "count", 5000000000, 42, "42" },
		{ "bytes", 3 << 20, 1 << 20, "1.00MB" },
		{ "", 7, 7, "7" },
		{ "nanoseconds", 5000000000, 0, "0" },
		{ "nanoseconds", -5000000000, -1500000000, "-1.50s" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scale s = scale_for(cases[i].unit, cases[i].largest);
		char text[32];

		assert_string_equal(scale_print(&s, cases[i].amount, text, sizeof(text)),
				    cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_line_has_the_largest_kinds_first),
		cmocka_unit_test(kinds_have_the_names_that_only_takes),
		cmocka_unit_test(a_line_without_samples_has_no_shares),
		cmocka_unit_test(amounts_have_a_unit_that_suits_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
