// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporter/gzip.h"

/* Packs bytes, allocated. */
static char *pack(const void *bytes, size_t len, size_t *packed_len)
{
	char *packed = NULL;
	FILE *out = open_memstream(&packed, packed_len);
	struct gzip *z = gzip_new(out);

	assert_int_equal(gzip_write(z, bytes, len), 0);
	assert_int_equal(gzip_finish(z), 0);
	gzip_free(z);
	fclose(out);
	return packed;
}

static void packed_bytes_unpack(void **state)
{
	static char bytes[300000];
	static const size_t lens[] = { 0, 1, 4096, sizeof(bytes) };

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * i >> 3);
	for (size_t i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
		void *unpacked = NULL;
		size_t packed_len, len;
		char *packed = pack(bytes, lens[i], &packed_len);

		assert_true(gzip_sniff(packed, packed_len));
		assert_int_equal(gzip_unpack(packed, packed_len, 1 << 20, &unpacked, &len), 0);
		assert_int_equal(len, lens[i]);
		assert_memory_equal(unpacked, bytes, len);
		free(unpacked);
		free(packed);
	}
}

static void members_follow_each_other_and_padding_is_ignored(void **state)
{
	size_t packed_len, len;
	char *packed = pack("half", 4, &packed_len), both[128] = "";
	void *unpacked = NULL;

	(void)state;
	memcpy(both, packed, packed_len);
	memcpy(both + packed_len, packed, packed_len);
	assert_int_equal(gzip_unpack(both, 2 * packed_len + 8, 64, &unpacked, &len), 0);
	assert_int_equal(len, 8);
	assert_memory_equal(unpacked, "halfhalf", 8);
	free(unpacked);
	free(packed);
}

static void what_came_before_damage_is_kept(void **state)
{
	static char zeros[100000];
	void *unpacked = NULL;
	size_t packed_len, len;
	char *packed = pack(zeros, sizeof(zeros), &packed_len);

	(void)state;
	assert_int_equal(gzip_unpack(packed, packed_len - 9, 1 << 20, &unpacked, &len), -EBADMSG);
	assert_true(len > 50000);
	free(unpacked);
	unpacked = NULL;
	assert_int_equal(gzip_unpack(packed, packed_len, 5000, &unpacked, &len), -E2BIG);
	assert_int_equal(len, 5000);
	free(unpacked);
	packed[packed_len - 8] ^= 1; /* the checksum */
	unpacked = NULL;
	assert_int_equal(gzip_unpack(packed, packed_len, 1 << 20, &unpacked, &len), -EBADMSG);
	free(unpacked);
	free(packed);
}

static void survives_mutation(void **state)
{
	size_t packed_len, len;
	char *packed = pack("some text, some text, some text", 31, &packed_len);

	(void)state;
	for (size_t cut = 0; cut < packed_len; cut++) {
		char *copy = malloc(cut ? cut : 1);
		void *unpacked = NULL;

		memcpy(copy, packed, cut);
		assert_true(gzip_unpack(copy, cut, 1 << 16, &unpacked, &len) < 0);
		assert_true(len <= 31);
		free(unpacked);
		free(copy);
	}
	for (size_t bit = 0; bit < 8 * packed_len; bit++) {
		char *copy = malloc(packed_len);
		void *unpacked = NULL;

		memcpy(copy, packed, packed_len);
		copy[bit / 8] ^= (char)(1 << bit % 8);
		gzip_unpack(copy, packed_len, 1 << 16, &unpacked, &len);
		assert_true(len <= 1 << 16);
		free(unpacked);
		free(copy);
	}
	free(packed);
}

static void stream_that_fails_is_reported(void **state)
{
	static char bytes[1 << 20];
	FILE *full = fopen("/dev/full", "w");
	struct gzip *z = gzip_new(full);
	unsigned int seed = 1;
	int err = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)rand_r(&seed);
	err = gzip_write(z, bytes, sizeof(bytes));
	assert_int_equal(err ? err : gzip_finish(z), -EIO);
	gzip_free(z);
	fclose(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packed_bytes_unpack),
		cmocka_unit_test(members_follow_each_other_and_padding_is_ignored),
		cmocka_unit_test(what_came_before_damage_is_kept),
		cmocka_unit_test(survives_mutation),
		cmocka_unit_test(stream_that_fails_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
