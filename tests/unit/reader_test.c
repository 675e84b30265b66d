// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/reader.h"

static const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 'a', 0 };

static struct reader all(void)
{
	struct reader r;

	reader_init(&r, bytes, sizeof(bytes));
	return r;
}

static void integers_have_their_byte_order(void **state)
{
	struct reader r = all();

	(void)state;
	assert_int_equal(reader_u8(&r, ""), 1);
	assert_int_equal(reader_u16(&r, ""), 0x0302);
	assert_int_equal(reader_u32(&r, ""), 0x07060504);
	r = all();
	assert_int_equal(reader_u64(&r, ""), UINT64_C(0x0807060504030201));
	r = all();
	assert_int_equal(reader_u16_be(&r, ""), 0x0102);
	assert_int_equal(reader_u32_be(&r, ""), 0x03040506);
	r = all();
	assert_int_equal(reader_u64_be(&r, ""), UINT64_C(0x0102030405060708));
	assert_string_equal(reader_string(&r, ""), "a");
	assert_true(reader_at_end(&r));
	assert_int_equal(reader_error(&r), 0);
}

static void no_bytes_at_all_are_no_undefined_behaviour(void **state)
{
	struct reader r, part;

	(void)state;
	reader_init(&r, NULL, 0);
	assert_true(reader_at_end(&r));
	assert_int_equal(reader_left(&r), 0);
	assert_non_null(reader_bytes(&r, 0, ""));
	part = reader_sub(&r, 0, "");
	assert_true(reader_at_end(&part));
	reader_seek(&r, 0, "");
	assert_int_equal(reader_error(&r), 0);
	assert_null(reader_string(&r, "text"));
	assert_int_equal(reader_error(&r), -EBADMSG);
	/* Also when somebody says that NULL has a length. */
	reader_init(&r, NULL, 5);
	assert_true(reader_at_end(&r));
}

static void first_error_stays_and_says_what_and_where(void **state)
{
	struct reader r = all();

	(void)state;
	reader_skip(&r, 9, "head");
	assert_int_equal(reader_u32(&r, "size"), 0);
	assert_int_equal(reader_error(&r), -EBADMSG);
	assert_string_equal(r.what, "size");
	assert_int_equal(r.where, 9);
	assert_int_equal(reader_u8(&r, "later"), 0);
	assert_int_equal(reader_uleb(&r, "later"), 0);
	assert_int_equal(reader_count(&r, 1, "later"), 0);
	assert_null(reader_bytes(&r, 0, "later"));
	reader_seek(&r, 0, "later");
	assert_int_equal(reader_fail(&r, -ENOTSUP, "later"), -EBADMSG);
	assert_string_equal(r.what, "size");
	assert_true(reader_at_end(&r));
}

static void part_cannot_leave_its_parent(void **state)
{
	struct reader r = all(), part, inner;

	(void)state;
	reader_u8(&r, "");
	part = reader_sub(&r, 4, "part");
	assert_int_equal(reader_offset(&r), 5);
	reader_u16(&part, "");
	inner = reader_sub(&part, 2, "inner");
	assert_int_equal(reader_u16_be(&inner, ""), 0x0405);
	reader_u8(&inner, "too far");
	assert_int_equal(inner.where, 5); /* in the outermost */
	assert_int_equal(reader_error(&part), 0);
	reader_sub(&part, 1, "none left");
	assert_int_equal(reader_error(&part), -EBADMSG);
	assert_int_equal(reader_error(&r), 0);
	assert_int_equal(reader_u8(&r, ""), 6);
}

static void huge_lengths_do_not_wrap(void **state)
{
	static const uint64_t huge[] = { 11, UINT32_MAX, SIZE_MAX, UINT64_MAX - 1, UINT64_MAX };

	(void)state;
	for (size_t i = 0; i < sizeof(huge) / sizeof(*huge); i++) {
		struct reader r = all(), part;

		assert_null(reader_bytes(&r, huge[i], ""));
		r = all();
		reader_seek(&r, huge[i], "");
		assert_int_equal(reader_error(&r), -EBADMSG);
		r = all();
		part = reader_sub(&r, huge[i], "");
		assert_int_equal(reader_error(&part), -EBADMSG);
		assert_true(reader_at_end(&part));
	}
}

static void leb128_is_read_exactly_or_refused(void **state)
{
	static const struct {
		const char *in;
		size_t len;
		uint64_t uleb;
		int uleb_err;
		int64_t sleb;
		int sleb_err;
	} cases[] = {
		{ "\x00", 1, 0, 0, 0, 0 },
		{ "\x7f", 1, 127, 0, -1, 0 },
		{ "\x3f", 1, 63, 0, 63, 0 },
		{ "\x40", 1, 64, 0, -64, 0 },
		{ "\xe5\x8e\x26", 3, 624485, 0, 624485, 0 },
		{ "\xc0\xbb\x78", 3, 1973696, 0, -123456, 0 },
		{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, UINT64_MAX, 0, 0, -EBADMSG },
		{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10, 0, -EBADMSG, -1, 0 },
		{ "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", 10, 0, -EBADMSG, INT64_MIN, 0 },
		{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", 10, INT64_MAX, 0, INT64_MAX, 0 },
		{ "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02", 10, 0, -EBADMSG, 0, -EBADMSG },
		{ "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x82\x00", 11, 0, -EBADMSG, 0, -EBADMSG },
		/* padding, as linkers write it */
		{ "\x81\x00", 2, 1, 0, 1, 0 },
		{ "\xff\x7f", 2, 16383, 0, -1, 0 },
		{ "\x81\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 12, 1, 0, 1, 0 },
		{ "\x81\x80\x80\x80\x80\x80\x80\x80\x80\x80\xff\x00", 12, 0, -EBADMSG, 0,
		  -EBADMSG },
		/* cut */
		{ "", 0, 0, -EBADMSG, 0, -EBADMSG },
		{ "\x80", 1, 0, -EBADMSG, 0, -EBADMSG },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct reader r;

		reader_init(&r, cases[i].in, cases[i].len);
		if (reader_uleb(&r, "") != cases[i].uleb || reader_error(&r) != cases[i].uleb_err)
			fail_msg("unsigned case %zu", i);
		assert_true(r.err || reader_at_end(&r));
		reader_init(&r, cases[i].in, cases[i].len);
		if (reader_sleb(&r, "") != cases[i].sleb || reader_error(&r) != cases[i].sleb_err)
			fail_msg("signed case %zu", i);
	}
}

static void endless_padding_is_refused(void **state)
{
	uint8_t padding[64];
	struct reader r;

	(void)state;
	memset(padding, 0x80, sizeof(padding));
	padding[63] = 0;
	reader_init(&r, padding, sizeof(padding));
	reader_uleb(&r, "");
	assert_int_equal(reader_error(&r), -EBADMSG);
	memset(padding, 0xff, sizeof(padding));
	reader_init(&r, padding, sizeof(padding));
	reader_sleb(&r, "");
	assert_int_equal(reader_error(&r), -EBADMSG);
}

static void count_that_cannot_fit_is_refused(void **state)
{
	static const struct {
		uint8_t count;
		size_t min_len, want;
		int err;
	} cases[] = {
		{ 9, 1, 9, 0 }, { 10, 1, 0, -EBADMSG },	 { 4, 2, 4, 0 },   { 5, 2, 0, -EBADMSG },
		{ 9, 0, 9, 0 }, { 1, 100, 0, -EBADMSG }, { 0, 100, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint8_t in[10] = { cases[i].count };
		struct reader r;

		reader_init(&r, in, sizeof(in));
		assert_int_equal(reader_count(&r, cases[i].min_len, ""), cases[i].want);
		assert_int_equal(reader_error(&r), cases[i].err);
	}
}

static void string_ends_inside(void **state)
{
	struct reader r, part;

	(void)state;
	reader_init(&r, "ab\0c", 4);
	assert_string_equal(reader_string(&r, ""), "ab");
	assert_null(reader_string(&r, ""));
	assert_int_equal(r.where, 3);
	reader_init(&r, "ab\0c", 4);
	part = reader_sub(&r, 2, "");
	assert_null(reader_string(&part, ""));
}

/* Every read at every cut, each on its own allocation. */
static void survives_mutation(void **state)
{
	(void)state;
	for (size_t len = 0; len <= sizeof(bytes); len++) {
		for (unsigned int op = 0; op < 8; op++) {
			uint8_t *exact = malloc(len ? len : 1);
			struct reader r, part;

			memcpy(exact, bytes, len);
			reader_init(&r, exact, len);
			while (!reader_at_end(&r)) {
				switch (op) {
				case 0:
					reader_u16(&r, "");
					break;
				case 1:
					reader_u64_be(&r, "");
					break;
				case 2:
					reader_uleb(&r, "");
					break;
				case 3:
					reader_sleb(&r, "");
					break;
				case 4:
					reader_string(&r, "");
					break;
				case 5:
					reader_count(&r, 2, "");
					break;
				case 6:
					part = reader_sub(&r, reader_u8(&r, ""), "");
					reader_u64(&part, "");
					break;
				default:
					reader_seek(&r, reader_offset(&r) + reader_u8(&r, ""), "");
				}
			}
			free(exact);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_have_their_byte_order),
		cmocka_unit_test(no_bytes_at_all_are_no_undefined_behaviour),
		cmocka_unit_test(first_error_stays_and_says_what_and_where),
		cmocka_unit_test(part_cannot_leave_its_parent),
		cmocka_unit_test(huge_lengths_do_not_wrap),
		cmocka_unit_test(leb128_is_read_exactly_or_refused),
		cmocka_unit_test(endless_padding_is_refused),
		cmocka_unit_test(count_that_cannot_fit_is_refused),
		cmocka_unit_test(string_ends_inside),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
