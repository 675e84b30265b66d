// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "exporter/protobuf.h"

static void fields_are_written_as_the_encoding_says(void **state)
{
	static const uint64_t packed[] = { 3, 270, 86942 };
	static const uint8_t want[] = {
		0x08, 0x96, 0x01,				/* field 1: 150 */
		0x12, 0x03, 'a',  0,	'b',			/* field 2: bytes */
		0x32, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05, /* field 6: packed */
		0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, /* field 3: -1 */
		0x22, 0x00,		      /* field 4: no bytes */
		0x82, 0x08, 0x02, 0x08, 0x01, /* field 128: a message */
	};
	struct protobuf pb, part;

	(void)state;
	protobuf_init(&pb);
	protobuf_init(&part);
	protobuf_put_uint(&pb, 1, 150);
	protobuf_put_uint(&pb, 1, 0); /* left out */
	protobuf_put_bytes(&pb, 2, "a\0b", 3);
	protobuf_put_packed(&pb, 6, packed, 3);
	protobuf_put_packed(&pb, 6, NULL, 0); /* left out */
	protobuf_put_int(&pb, 3, -1);
	protobuf_put_bytes(&pb, 4, NULL, 0);
	protobuf_put_uint(&part, 1, 1);
	protobuf_put_message(&pb, 128, &part);
	assert_int_equal(protobuf_error(&pb), 0);
	assert_int_equal(pb.len, sizeof(want));
	assert_memory_equal(pb.bytes, want, sizeof(want));
	protobuf_deinit(&part);
	protobuf_deinit(&pb);
}

static void written_numbers_read_back(void **state)
{
	struct protobuf pb;
	struct protobuf_field f;
	struct reader r;

	(void)state;
	protobuf_init(&pb);
	for (unsigned int bit = 0; bit < 64; bit++)
		protobuf_put_uint(&pb, bit + 1, UINT64_C(1) << bit);
	reader_init(&r, pb.bytes, pb.len);
	for (unsigned int bit = 0; bit < 64; bit++) {
		assert_true(protobuf_next(&r, &f));
		assert_int_equal(f.number, bit + 1);
		assert_int_equal(f.value, UINT64_C(1) << bit);
		assert_false(f.is_bytes);
	}
	assert_false(protobuf_next(&r, &f));
	assert_int_equal(reader_error(&r), 0);
	protobuf_deinit(&pb);
}

static void long_bytes_grow_the_buffer(void **state)
{
	static uint8_t large[100000];
	struct protobuf pb;
	struct protobuf_field f;
	struct reader r;

	(void)state;
	large[99999] = 7;
	protobuf_init(&pb);
	protobuf_put_bytes(&pb, 1, large, sizeof(large));
	protobuf_clear(&pb);
	protobuf_put_bytes(&pb, 2, large, sizeof(large));
	reader_init(&r, pb.bytes, pb.len);
	assert_true(protobuf_next(&r, &f));
	assert_int_equal(f.number, 2);
	assert_int_equal(reader_left(&f.body), sizeof(large));
	assert_memory_equal(f.body.pos, large, sizeof(large));
	protobuf_deinit(&pb);
}

static void fixed_numbers_are_read_and_nonsense_is_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		int err;
		uint64_t value;
	} cases[] = {
		{ "\x09\x01\0\0\0\0\0\0\x80", 9, 0, UINT64_C(0x8000000000000001) },
		{ "\x0d\x02\0\0\0", 5, 0, 2 },
		{ "\x0d\x02\0\0", 4, -EBADMSG, 0 },
		{ "\x0b", 1, -EBADMSG, 0 },			/* a group */
		{ "\x0f", 1, -EBADMSG, 0 },			/* no such type */
		{ "\x00\x01", 2, -EBADMSG, 0 },			/* field 0 */
		{ "\x80\x80\x80\x80\x10\x01", 6, -EBADMSG, 0 }, /* field 2^29 */
		{ "\x0a\x05"
		  "abc",
		  5, -EBADMSG, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct protobuf_field f;
		struct reader r;

		reader_init(&r, cases[i].bytes, cases[i].len);
		if (protobuf_next(&r, &f) != !cases[i].err || reader_error(&r) != cases[i].err)
			fail_msg("case %zu", i);
		if (!cases[i].err)
			assert_int_equal(f.value, cases[i].value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_written_as_the_encoding_says),
		cmocka_unit_test(written_numbers_read_back),
		cmocka_unit_test(long_bytes_grow_the_buffer),
		cmocka_unit_test(fixed_numbers_are_read_and_nonsense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
