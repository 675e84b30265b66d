// SPDX-License-Identifier: Apache-2.0
/* Where 3.13 numbers its code objects, found in an image made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtimes/python_stamp.h"

#define RUNTIME_LEN 200000
#define INTERP_LEN 150000
#define INTERP_AT (RUNTIME_LEN - INTERP_LEN)
#define TABLE_LEN 65536
#define MADE 17000

static void put(uint8_t *image, size_t at, uint64_t word)
{
	memcpy(image + at, &word, sizeof(word));
}

/* Full of bytes but for the number and its table. */
static uint8_t *make_image(void)
{
	uint8_t *image = malloc(RUNTIME_LEN);

	assert_non_null(image);
	memset(image, 0x11, RUNTIME_LEN);
	put(image, 24, RUNTIME_LEN);
	put(image, 48, INTERP_LEN);
	put(image, INTERP_AT + MADE, 1);
	memset(image + INTERP_AT + MADE + 8, 0, TABLE_LEN);
	return image;
}

static void the_number_is_a_1_before_an_empty_table(void **state)
{
	static const struct {
		size_t at;
		uint64_t word;
		uint16_t found;
	} cases[] = {
		{ 0, 0, MADE },
		{ INTERP_AT + MADE, 2, 0 },			/* another number */
		{ INTERP_AT + MADE + 8 + TABLE_LEN - 8, 1, 0 }, /* a table that is too short */
		{ INTERP_AT + MADE + 8 + TABLE_LEN, 0, MADE },	/* one that is longer */
		{ INTERP_AT - 8, 1, MADE },
		{ 24, RUNTIME_LEN + 1, 0 }, /* longer than what is there */
		{ 48, RUNTIME_LEN + 1, 0 },
		{ 48, 0, 0 },
		{ 48, 65000, 0 }, /* no room for the table */
		{ 48, UINT64_MAX, 0 },
	};
	uint8_t *image;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		image = make_image();
		put(image, cases[i].at, cases[i].word);
		assert_int_equal(python_stamp_find(image, RUNTIME_LEN), cases[i].found);
		free(image);
	}
}

static void two_such_places_are_none(void **state)
{
	uint8_t *image = make_image();
	size_t behind = INTERP_AT + MADE + 8 + TABLE_LEN;

	(void)state;
	put(image, behind, 1);
	memset(image + behind + 8, 0, INTERP_LEN - MADE - 16 - TABLE_LEN);
	assert_int_equal(python_stamp_find(image, RUNTIME_LEN), 0);
	free(image);
}

static void a_place_that_is_too_far_away_is_none(void **state)
{
	uint8_t *image = make_image();

	(void)state;
	memset(image + INTERP_AT, 0x11, INTERP_LEN);
	put(image, INTERP_AT + 65536, 1);
	memset(image + INTERP_AT + 65536 + 8, 0, TABLE_LEN);
	assert_int_equal(python_stamp_find(image, RUNTIME_LEN), 0);
	put(image, INTERP_AT + 65528, 1);
	memset(image + INTERP_AT + 65528 + 8, 0, TABLE_LEN);
	assert_int_equal(python_stamp_find(image, RUNTIME_LEN), 65528);
	free(image);
}

static void survives_mutation(void **state)
{
	uint8_t *image = make_image();

	(void)state;
	for (size_t len = 0; len < RUNTIME_LEN; len += len < 64 ? 1 : 9973) {
		uint8_t *cut = malloc(len ? len : 1);

		memcpy(cut, image, len);
		assert_int_equal(python_stamp_find(cut, len), 0);
		free(cut);
	}
	for (size_t bit = 24 * 8; bit < 56 * 8; bit++) {
		image[bit / 8] ^= (uint8_t)(1 << bit % 8);
		python_stamp_find(image, RUNTIME_LEN);
		image[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	free(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_number_is_a_1_before_an_empty_table),
		cmocka_unit_test(two_such_places_are_none),
		cmocka_unit_test(a_place_that_is_too_far_away_is_none),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
