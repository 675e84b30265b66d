// SPDX-License-Identifier: Apache-2.0
/* Strings as chunks write them, in six ways, as UTF-8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "jfr/wire.h"
#include "tests/unit/mutation.h"

#define BAD "\xef\xbf\xbd"

static const struct {
	const char *bytes;
	size_t len;
	enum wire_encoding encoding;
	const char *text;
} cases[] = {
	{ "\0", 1, WIRE_NULL, "" },
	{ "\1", 1, WIRE_EMPTY, "" },
	{ "\2\x81\1", 3, WIRE_POOLED, "" },
	{ "\3\2hi", 4, WIRE_UTF8, "hi" },
	{ "\3\x82\x80\0hi", 6, WIRE_UTF8, "hi" }, /* a length that is padded */
	{ "\3\0", 2, WIRE_EMPTY, "" },
	{ "\3\5\xc3\xa4\xe2\x82\xac", 7, WIRE_UTF8, "ä€" },
	{ "\3\4\xf0\x9f\x98\x80", 6, WIRE_UTF8, "\xf0\x9f\x98\x80" },
	{ "\3\3a\xe5z", 5, WIRE_UTF8, "a" BAD "z" },
	{ "\3\2a\xe2", 4, WIRE_UTF8, "a" BAD }, /* cut in the middle of a character */
	{ "\3\3a\0b", 5, WIRE_UTF8, "a" BAD "b" },
	{ "\3\3\xed\xa0\x80", 5, WIRE_UTF8, BAD BAD BAD }, /* a surrogate */
	{ "\4\2hi", 4, WIRE_UTF16, "hi" },
	{ "\4\2\xe4\1\xac\x41", 6, WIRE_UTF16, "ä€" },
	{ "\4\2\xbd\xb0\3\x80\xbc\3", 8, WIRE_UTF16, "\xf0\x9f\x98\x80" },
	{ "\4\2\xbd\xb0\3a", 6, WIRE_UTF16, BAD "a" },
	{ "\4\1\xbd\xb0\3", 5, WIRE_UTF16, BAD },
	{ "\4\1\x80\xbc\3", 5, WIRE_UTF16, BAD },
	{ "\4\1\0", 3, WIRE_UTF16, BAD },
	{ "\4\1\xff\xff\xff\x7f", 6, WIRE_UTF16, BAD },
	{ "\5\2\xe4z", 4, WIRE_LATIN1, "äz" },
	{ "\5\1\0", 3, WIRE_LATIN1, BAD },
};

static void each_encoding_becomes_utf8(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct wire_string s;
		struct reader r;
		char *text;
		size_t len;

		reader_init(&r, cases[i].bytes, cases[i].len);
		s = wire_string(&r, "string");
		assert_int_equal(reader_error(&r), 0);
		assert_true(reader_at_end(&r));
		assert_int_equal(s.encoding, cases[i].encoding);
		text = malloc(wire_string_room(&s) + 1);
		len = wire_string_text(&s, text);
		assert_int_equal(len, strlen(cases[i].text));
		assert_memory_equal(text, cases[i].text, len);
		free(text);
	}
}

static void key_of_a_pooled_string_has_64_bits(void **state)
{
	struct reader r;

	(void)state;
	reader_init(&r, "\2\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10);
	assert_int_equal(wire_string(&r, "string").key, -1);
}

static void what_is_no_string_is_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} bad[] = {
		{ "", 0 },
		{ "\6\1a", 3 },
		{ "\xff\1a", 3 },
		{ "\3\2a", 3 },
		{ "\5\2a", 3 },
		{ "\4\2a", 3 },
		{ "\2", 1 },
		{ "\3\x80\x80\x80\x80\x08", 6 },
		{ "\4\x80\x80\x80\x80\x08", 6 },
		{ "\3\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10 },
		{ "\4\1\x80", 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct reader r;

		reader_init(&r, bad[i].bytes, bad[i].len);
		wire_string(&r, "string");
		assert_int_equal(reader_error(&r), -EBADMSG);
		assert_string_equal(r.what, "string");
	}
}

static void parse(const uint8_t *bytes, size_t len)
{
	struct reader r;

	reader_init(&r, bytes, len);
	while (!reader_at_end(&r)) {
		struct wire_string s = wire_string(&r, "string");
		char *text = malloc(wire_string_room(&s) + 1);

		assert_true(wire_string_text(&s, text) <= wire_string_room(&s));
		free(text);
	}
}

static void survives_mutation(void **state)
{
	static const char good[] =
		"\3\5\xc3\xa4\xe2\x82\xac\4\2\xbd\xb0\3\x80\xbc\3\5\2\xe4z\2\7\1\0";

	(void)state;
	mutate(good, sizeof(good) - 1, parse);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_encoding_becomes_utf8),
		cmocka_unit_test(key_of_a_pooled_string_has_64_bits),
		cmocka_unit_test(what_is_no_string_is_refused),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
