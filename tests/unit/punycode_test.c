// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "core/scoped.h"
#include "symbolizer/punycode.h"

static size_t decode(const char *basic, const char *digits, uint32_t *out, size_t cap)
{
	return punycode_decode(basic, strlen(basic), digits, strlen(digits), out, cap);
}

static void digits_put_characters_in_their_places(void **state)
{
	static const struct {
		const char *basic, *digits;
		uint32_t chars[12];
	} cases[] = {
		{ "bcher", "kva", U"bücher" },
		{ "", "tdaa", U"üü" },
		{ "Mnchen", "3ya", U"München" },
		{ "", "n3h", U"☃" },
		{ "", "ls8h", U"💩" },
		{ "a", "", U"a" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint32_t out[12] = { 0 };
		size_t n = decode(cases[i].basic, cases[i].digits, out, 12);

		assert_int_not_equal(n, 0);
		assert_memory_equal(out, cases[i].chars, sizeof(out));
	}
}

static void what_is_no_punycode_is_refused(void **state)
{
	static const struct {
		const char *basic, *digits;
		size_t cap;
	} cases[] = {
		{ "bcher", "kv", 12 }, /* ends within a number */
		{ "bcher", "kva", 5 }, /* more characters than fit */
		{ "bcher", "", 4 },    { "", "K", 12 },
		{ "", "-", 12 },       { "", "99999999999999a", 12 }, /* above any character */
		{ "", "m7a", 0 },
	};
	uint32_t out[12];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(decode(cases[i].basic, cases[i].digits, out, cases[i].cap), 0);
}

static void survives_mutation(void **state)
{
	static const char good[] = "bcherkvatdaa3yals8h";
	size_t len = sizeof(good) - 1;

	(void)state;
	for (size_t cap = 0; cap < 12; cap++)
		for (size_t i = 0; i < 9 * len; i++) {
			size_t cut = i % 9 == 8 ? i / 9 : len, n_basic = cut < 5 ? cut : 5;
			SCOPED(free) char *bytes = malloc(cut ? cut : 1);
			SCOPED(free) uint32_t *out = malloc(cap ? cap * sizeof(*out) : 1);

			memcpy(bytes, good, cut);
			if (i % 9 < 8)
				bytes[i / 9] ^= (char)(1 << i % 9);
			assert_true(punycode_decode(bytes, n_basic, bytes + n_basic, cut - n_basic,
						    out, cap) <= cap);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digits_put_characters_in_their_places),
		cmocka_unit_test(what_is_no_punycode_is_refused),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
