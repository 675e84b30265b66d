// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "core/text.h"

static void only_valid_utf8_is_a_character(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		uint32_t c;
	} cases[] = {
		{ "a", 1, 'a' },
		{ "\xc3\xa4", 2, 0xe4 },
		{ "\xe2\x82\xac", 3, 0x20ac },
		{ "\xf0\x9f\x94\xa5", 4, 0x1f525 },
		{ "\xf4\x8f\xbf\xbf", 4, 0x10ffff },
		{ "\xc0\x80", 0, 0 }, /* overlong */
		{ "\xc1\xbf", 0, 0 },
		{ "\xe0\x9f\xbf", 0, 0 },
		{ "\xf0\x8f\xbf\xbf", 0, 0 },
		{ "\xed\xa0\x80", 0, 0 },     /* a surrogate */
		{ "\xf4\x90\x80\x80", 0, 0 }, /* beyond Unicode */
		{ "\xf5\x80\x80\x80", 0, 0 },
		{ "\x80", 0, 0 },
		{ "\xff", 0, 0 },
		{ "\xe2\x82", 0, 0 }, /* cut */
		{ "\xe2\x28\xac", 0, 0 },
		{ "", 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t len = strlen(cases[i].bytes);
		char *exact = malloc(len ? len : 1);
		uint32_t c = 0;

		memcpy(exact, cases[i].bytes, len);
		assert_int_equal(text_char(exact, len, &c), cases[i].n);
		if (cases[i].n)
			assert_int_equal(c, cases[i].c);
		assert_int_equal(text_is_utf8(exact, len), cases[i].n == len);
		free(exact);
	}
	assert_int_equal(text_is_utf8(NULL, 0), 1);
}

static void nothing_reaches_the_terminal_but_text(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "plain ;text", "plain ;text" },
		{ "\x1b[31mred", "\\x1b[31mred" },
		{ "a\nb\tc\r", "a\\x0ab\\x09c\\x0d" },
		{ "\x7f", "\\x7f" },
		{ "\xc2\x9b"
		  "31m",
		  "\\u009b31m" }, /* the one-character CSI */
		{ "\xe2\x80\xae"
		  "exe",
		  "\\u202eexe" },
		{ "\xff\xc3", "\\xff\\xc3" },
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char out[64];
		char *copy = text_safe_dup(cases[i].in);

		assert_string_equal(text_safe(cases[i].in, out, sizeof(out)), cases[i].out);
		assert_string_equal(copy, cases[i].out);
		free(copy);
	}
}

static void safe_text_is_cut_at_a_whole_character(void **state)
{
	(void)state;
	for (size_t size = 1; size < 12; size++) {
		char *out = malloc(size);
		const char *want = size < 2   ? ""
				   : size < 5 ? "a"
				   : size < 9 ? "a\xe2\x82\xac"
					      : "a\xe2\x82\xac\\x1b";

		assert_string_equal(text_safe("a\xe2\x82\xac\x1b", out, size), want);
		free(out);
	}
}

static char *written(void (*put)(const char *, size_t, FILE *), const char *s, size_t len)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	put(s, len, f);
	fclose(f);
	return text;
}

static void invalid_bytes_become_the_replacement_character(void **state)
{
	char *text = written(text_put_utf8, "a\xff\xe2\x82z\xe2\x82\xac", 8);

	(void)state;
	assert_string_equal(text, "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\xe2\x82\xac");
	free(text);
	text = written(text_put_utf8, NULL, 0);
	assert_string_equal(text, "");
	free(text);
}

static void json_strings_survive_a_json_parser_and_a_script_element(void **state)
{
	static const char *const cases[] = {
		"",
		"plain",
		"quote \" back \\ slash / ",
		"a\nb\tc\r\b\f\x01\x1b",
		"</script><!--",
		"a&b'c",
		"\xe2\x80\xa8\xe2\x80\xa9",
		"\xf0\x9f\x94\xa5",
		"\x7f\xc2\x85",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *text = written(text_put_json, cases[i], strlen(cases[i]));
		json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);

		assert_non_null(json);
		assert_string_equal(json_string_value(json), cases[i]);
		assert_null(strpbrk(text, "<>&\n"));
		json_decref(json);
		free(text);
	}
}

static void json_strings_have_no_invalid_bytes(void **state)
{
	char *text = written(text_put_json, "\xff\xc3(", 3);

	(void)state;
	assert_string_equal(text, "\"\xef\xbf\xbd\xef\xbf\xbd(\"");
	free(text);
}

static void numbered_is_a_start_and_digits_only(void **state)
{
	(void)state;
	assert_true(text_is_numbered("Task-1", "Task-"));
	assert_true(text_is_numbered("Task-00123", "Task-"));
	assert_false(text_is_numbered("Task-", "Task-"));
	assert_false(text_is_numbered("Task-1a", "Task-"));
	assert_false(text_is_numbered("Tas", "Task-"));
	assert_false(text_is_numbered("my Task-1", "Task-"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_valid_utf8_is_a_character),
		cmocka_unit_test(numbered_is_a_start_and_digits_only),
		cmocka_unit_test(nothing_reaches_the_terminal_but_text),
		cmocka_unit_test(safe_text_is_cut_at_a_whole_character),
		cmocka_unit_test(invalid_bytes_become_the_replacement_character),
		cmocka_unit_test(json_strings_survive_a_json_parser_and_a_script_element),
		cmocka_unit_test(json_strings_have_no_invalid_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
