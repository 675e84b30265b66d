// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "jfr/chunk_list.h"

#define SIZE 100 /* of each chunk */

static void put_be(uint8_t *at, size_t len, uint64_t value)
{
	for (size_t i = 0; i < len; i++)
		at[i] = (uint8_t)(value >> 8 * (len - 1 - i));
}

/* Headers of whole chunks, and what they lead over. */
static void make_chunks(uint8_t *bytes, size_t n)
{
	memset(bytes, 0, n * SIZE);
	for (size_t i = 0; i < n; i++, bytes += SIZE) {
		memcpy(bytes, "FLR", 4);
		put_be(bytes + 4, 2, 2);
		put_be(bytes + 8, 8, SIZE);
		put_be(bytes + 16, 8, 70);	 /* constants */
		put_be(bytes + 24, 8, 80);	 /* metadata */
		put_be(bytes + 32, 8, 1000 + i); /* start */
		put_be(bytes + 56, 8, 1000000000);
		put_be(bytes + 66, 2, 1); /* compressed integers */
	}
}

static int list(const uint8_t *bytes, size_t len, struct chunk_list *l)
{
	int fd = memfd_create("chunks", MFD_CLOEXEC), err;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
	err = chunk_list_read(fd, l);
	close(fd);
	return err;
}

static void chunks_lead_from_one_to_the_next(void **state)
{
	uint8_t bytes[3 * SIZE];
	struct chunk_list l = { 0 };

	(void)state;
	make_chunks(bytes, 3);
	assert_int_equal(list(bytes, sizeof(bytes), &l), 0);
	assert_int_equal(l.n, 3);
	for (size_t i = 0; i < l.n; i++) {
		assert_int_equal(l.items[i].at, i * SIZE);
		assert_int_equal(l.items[i].header.start_ns, 1000 + i);
	}
	chunk_list_deinit(&l);
}

static void what_is_not_whole_is_no_list(void **state)
{
	static const struct {
		const char *what;
		size_t at;
		uint8_t byte;
	} cases[] = {
		{ "no header", SIZE, 'X' },
		{ "still written", SIZE + 64, 1 },
		{ "longer than the file", SIZE + 8, 1 },
		{ "a size of 0", SIZE + 15, 0 },
		{ "no metadata", 2 * SIZE + 31, 0 },
		{ "a version to come", 2 * SIZE + 5, 3 },
	};
	uint8_t bytes[3 * SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct chunk_list l = { 0 };

		make_chunks(bytes, 3);
		bytes[cases[i].at] = cases[i].byte;
		assert_int_equal(list(bytes, sizeof(bytes), &l), -EBADMSG);
		chunk_list_deinit(&l);
	}
}

/* Chunks lie one behind the other and fill the file, whatever the bytes say. */
static void check(const uint8_t *bytes, size_t len)
{
	struct chunk_list l = { 0 };
	uint64_t at = 0;
	int err = list(bytes, len, &l);

	for (size_t i = 0; i < l.n; i++) {
		assert_int_equal(l.items[i].at, at);
		at += l.items[i].header.size;
	}
	assert_true(at <= len);
	if (!err)
		assert_int_equal(at, len);
	chunk_list_deinit(&l);
}

static void survives_mutation(void **state)
{
	uint8_t bytes[2 * SIZE];

	(void)state;
	make_chunks(bytes, 2);
	for (size_t len = 0; len < sizeof(bytes); len++)
		check(bytes, len);
	for (size_t bit = 0; bit < 8 * sizeof(bytes); bit++) {
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		check(bytes, sizeof(bytes));
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chunks_lead_from_one_to_the_next),
		cmocka_unit_test(what_is_not_whole_is_no_list),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
