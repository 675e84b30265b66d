// SPDX-License-Identifier: Apache-2.0
#include "jfr/field_ends.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/reader.h"

#define MAX_LEN (FIELD_ENDS_LEN_MAX + WIRE_PADDING)

/* Where varints end, as the reader sees it; what it cannot read has none. */
static uint64_t ends_as_read(const uint8_t *bytes, size_t len, bool *is_nine)
{
	struct reader r;
	uint64_t mask = 0;

	*is_nine = false;
	reader_init(&r, bytes, len);
	while (!reader_at_end(&r)) {
		size_t start = reader_offset(&r);

		wire_varint(&r, "varint");
		if (reader_error(&r))
			break;
		mask |= UINT64_C(1) << (reader_offset(&r) - 1);
		*is_nine |= reader_offset(&r) - start == WIRE_VARINT_MAX;
	}
	return mask;
}

/* Bytes behind them are others each time: they must not matter. */
static void ends_are_where_the_reader_finds_them(void **state)
{
	size_t n_nine = 0;

	(void)state;
	srandom(7);
	for (int i = 0; i < 200000; i++) {
		size_t len = 1 + (size_t)random() % FIELD_ENDS_LEN_MAX;
		uint8_t bytes[MAX_LEN];
		uint64_t mask, read;
		bool is_nine;

		for (size_t k = 0; k < MAX_LEN; k++)
			bytes[k] =
				(uint8_t)((random() & 0x7f) | (random() % (i % 9 + 1) ? 0x80 : 0));
		mask = field_ends_mask(bytes, len);
		read = ends_as_read(bytes, len, &is_nine);
		if (field_ends_have_nine(mask, len)) {
			n_nine++;
			continue;
		}
		assert_false(is_nine);
		assert_true(mask == read);
	}
	assert_in_range(n_nine, 1000, 190000);
}

static void words_are_the_bytes_and_nothing_behind_them(void **state)
{
	(void)state;
	srandom(8);
	for (size_t len = 1; len <= 16; len++) {
		uint8_t bytes[16 + WIRE_PADDING], want[16] = { 0 };
		uint64_t words[2];

		for (size_t k = 0; k < sizeof(bytes); k++)
			bytes[k] = (uint8_t)(random() | 1);
		memcpy(want, bytes, len);
		field_ends_words(bytes, len, words);
		assert_true(words[0] == wire_load(want));
		assert_true(words[1] == wire_load(want + 8));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_are_where_the_reader_finds_them),
		cmocka_unit_test(words_are_the_bytes_and_nothing_behind_them),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("jfr/field_ends", tests, NULL, NULL);
}
