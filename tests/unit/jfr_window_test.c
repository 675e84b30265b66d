// SPDX-License-Identifier: Apache-2.0
/* What a window shows of a file is the file, wherever one looks and in whatever order. */
#include "jfr/window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#define LEN (WINDOW_LEN + 10000)

static uint8_t byte_at(uint64_t at)
{
	return (uint8_t)(at * 31 + at / 251);
}

static int make_file(size_t len)
{
	int fd = memfd_create("window", MFD_CLOEXEC);
	uint8_t *bytes = malloc(len);

	for (size_t i = 0; i < len; i++)
		bytes[i] = byte_at(i);
	assert_int_equal(pwrite(fd, bytes, len, 0), len);
	free(bytes);
	return fd;
}

static void assert_peek(struct window *w, uint64_t at, size_t len, size_t there)
{
	uint8_t *buf = malloc(len + 1);
	size_t got;

	assert_int_equal(window_peek(w, at, buf, len, &got), 0);
	assert_int_equal(got, there);
	for (size_t i = 0; i < got; i++)
		assert_int_equal(buf[i], byte_at(at + i));
	free(buf);
}

static size_t there(uint64_t at, size_t len)
{
	return at >= LEN ? 0 : LEN - at < len ? (size_t)(LEN - at) : len;
}

static void what_is_peeked_at_is_there_in_any_order(void **state)
{
	static const size_t lens[] = { 1, 68, 512, 2048, 2049, 5000 };
	struct window w;
	int fd = make_file(LEN);

	(void)state;
	assert_int_equal(window_init(&w, fd), 0);
	for (uint64_t at = LEN + 3; at-- > LEN - 9000;) /* back to front, as checkpoints are */
		assert_peek(&w, at, 512, there(at, 512));
	srand(5);
	for (unsigned int i = 0; i < 5000; i++) {
		size_t len = lens[(size_t)rand() % (sizeof(lens) / sizeof(*lens))];
		uint64_t at = (uint64_t)rand() % (LEN + 100);

		assert_peek(&w, at, len, there(at, len));
	}
	assert_peek(&w, 0, 512, 512);
	window_deinit(&w);
	close(fd);
}

static void what_was_read_is_where_it_is_peeked_at(void **state)
{
	struct window w;
	const uint8_t *bytes;
	int fd = make_file(LEN);
	size_t len;

	(void)state;
	assert_int_equal(window_init(&w, fd), 0);
	assert_int_equal(window_read(&w, 100, 1, &bytes, &len), 0);
	assert_int_equal(len, WINDOW_LEN);
	assert_int_equal(*bytes, byte_at(100));
	assert_peek(&w, 90, 512, 512); /* begins before what was read */
	assert_peek(&w, 100 + WINDOW_LEN - 10, 512, 512);
	assert_int_equal(*bytes, byte_at(100)); /* and moves nothing */
	window_deinit(&w);
	close(fd);
}

/* A file that grows, and one that is written anew. */
static void what_changed_is_seen_when_it_is_to_be(void **state)
{
	uint8_t buf[512], other = (uint8_t)~byte_at(50);
	struct window w;
	size_t got;
	int fd = make_file(300);

	(void)state;
	assert_int_equal(window_init(&w, fd), 0);
	assert_int_equal(window_peek(&w, 200, buf, 200, &got), 0);
	assert_int_equal(got, 100);
	assert_int_equal(pwrite(fd, "more", 4, 300), 4);
	assert_int_equal(window_peek(&w, 200, buf, 200, &got), 0); /* more than was there */
	assert_int_equal(got, 104);
	assert_memory_equal(buf + 100, "more", 4);
	assert_int_equal(pwrite(fd, &other, 1, 50), 1);
	window_forget(&w);
	assert_int_equal(window_peek(&w, 50, buf, 1, &got), 0);
	assert_int_equal(*buf, other);
	window_deinit(&w);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_peeked_at_is_there_in_any_order),
		cmocka_unit_test(what_was_read_is_where_it_is_peeked_at),
		cmocka_unit_test(what_changed_is_seen_when_it_is_to_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
