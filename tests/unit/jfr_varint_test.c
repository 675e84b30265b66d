// SPDX-License-Identifier: Apache-2.0
#include "jfr/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#define N(array) (sizeof(array) / sizeof((array)[0]))

/* clang-format off */
static const struct {
	uint8_t bytes[WIRE_VARINT_MAX];
	size_t len;
	uint64_t value;
} table[] = {
	{ { 0 }, 1, 0 },
	{ { 0x7f }, 1, 127 },
	{ { 0x80, 0x01 }, 2, 128 },
	{ { 0xff, 0x7f }, 2, 16383 },
	{ { 0x80, 0x80, 0x01 }, 3, 16384 },
	{ { 0xa0, 0x80, 0x80, 0x00 }, 4, 32 }, /* longer than it need be */
	{ { 0xff, 0xff, 0xff, 0xff, 0x0f }, 5, 0xffffffff },
	{ { 0x81, 0x82, 0x83, 0x84, 0x85, 0x06 }, 6, 0x305080c101 },
	{ { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01 }, 7, 1ULL << 42 },
	{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f }, 8, (1ULL << 56) - 1 },
	{ { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80 }, 9, 1ULL << 63 },
	{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }, 9, UINT64_MAX },
	{ { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00 }, 9, 0 },
};
/* clang-format on */

static uint64_t expected(const uint8_t *bytes, size_t len)
{
	uint64_t value = 0;

	for (size_t i = 0; i < len; i++)
		value |= (uint64_t)(i == WIRE_VARINT_MAX - 1 ? bytes[i] : bytes[i] & 0x7f)
			 << (7 * i);
	return value;
}

/* In its own exact allocation, with other bytes before and behind it. */
static void reads_at(const uint8_t *bytes, size_t len, uint64_t value, size_t before, size_t more)
{
	uint8_t *copy = malloc(before + len + more), *at = copy + before;
	const uint8_t *here = at, *brief = at;
	struct reader r;

	memset(copy, 0xff, before + len + more);
	memcpy(at, bytes, len);
	reader_init(&r, copy, before + len + more);
	reader_skip(&r, before, "others");
	assert_int_equal(wire_varint(&r, "number"), value);
	assert_int_equal(reader_error(&r), 0);
	assert_int_equal(reader_left(&r), more);
	if (more == WIRE_VARINT_MAX) {
		assert_int_equal(wire_varint_here(&here), value);
		assert_int_equal(wire_varint_short(&brief), value);
		assert_int_equal(here - at, len);
		assert_int_equal(brief - at, len);
	}
	free(copy);
}

static void reads(const uint8_t *bytes, size_t len, uint64_t value)
{
	for (size_t before = 0; before <= WIRE_VARINT_MAX; before++)
		for (size_t more = 0; more <= WIRE_VARINT_MAX; more++)
			reads_at(bytes, len, value, before, more);
}

static void numbers_of_every_length_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < N(table); i++)
		reads(table[i].bytes, table[i].len, table[i].value);
}

static void any_bytes_are_the_number_they_are_made_of(void **state)
{
	(void)state;
	srandom(1);
	for (int i = 0; i < 20000; i++) {
		size_t len = 1 + (size_t)random() % WIRE_VARINT_MAX;
		uint8_t bytes[WIRE_VARINT_MAX];

		for (size_t j = 0; j < len; j++)
			bytes[j] = (uint8_t)(random() | 0x80);
		if (len < WIRE_VARINT_MAX)
			bytes[len - 1] &= 0x7f;
		reads(bytes, len, expected(bytes, len));
	}
}

static void a_number_that_is_cut_off_is_an_error_where_the_bytes_end(void **state)
{
	(void)state;
	for (size_t len = 0; len < WIRE_VARINT_MAX; len++)
		for (size_t before = 0; before <= WIRE_VARINT_MAX; before++) {
			uint8_t *copy = malloc(before + len + !len);
			struct reader r;

			memset(copy, 0x80, before + len + !len);
			reader_init(&r, copy, before + len);
			reader_skip(&r, before, "others");
			assert_int_equal(wire_varint(&r, "number"), 0);
			assert_int_equal(reader_error(&r), -EBADMSG);
			assert_int_equal(r.where, before + len);
			free(copy);
		}
}

/* A few numbers of any length, in their own exact allocation. */
static void many_are_skipped_as_one_by_one(void **state)
{
	(void)state;
	srandom(2);
	for (int i = 0; i < 20000; i++) {
		static const size_t most[] = { 40, 40, 400, 6000 };
		size_t n = 1 + (size_t)random() % most[i % 4], len = 0,
		       skipped = (size_t)random() % (n + 1);
		size_t n_picks = N(table) * (1 + (size_t)random() % n);
		static uint8_t bytes[6000 * WIRE_VARINT_MAX];
		struct reader one, all;
		uint8_t *copy;

		for (size_t k = 0; k < n; k++) {
			const size_t pick = (size_t)random() % n_picks;
			const size_t row = pick < N(table) ? pick : pick % 4;

			memcpy(bytes + len, table[row].bytes, table[row].len);
			len += table[row].len;
		}
		copy = malloc(len);
		memcpy(copy, bytes, len);
		reader_init(&one, copy, len);
		all = one;
		for (size_t k = 0; k < skipped; k++)
			wire_varint(&one, "number");
		wire_skip_varints(&all, skipped, "numbers");
		assert_int_equal(reader_error(&all), 0);
		assert_int_equal(reader_offset(&all), reader_offset(&one));
		wire_skip_varints(&all, n - skipped, "numbers");
		assert_true(reader_at_end(&all));
		wire_skip_varints(&all, 1, "numbers");
		assert_int_equal(reader_error(&all), -EBADMSG);
		assert_int_equal(all.where, len);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_every_length_are_read),
		cmocka_unit_test(any_bytes_are_the_number_they_are_made_of),
		cmocka_unit_test(a_number_that_is_cut_off_is_an_error_where_the_bytes_end),
		cmocka_unit_test(many_are_skipped_as_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
