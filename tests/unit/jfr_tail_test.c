// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "jfr/tail.h"
#include "tests/unit/jfr_toy.h"

static int fd;
static struct tail t;

static int begin(void **state)
{
	char path[] = "/tmp/weft-tail-XXXXXX";

	(void)state;
	fd = mkstemp(path);
	unlink(path);
	tail_init(&t, dup(fd), 0);
	return fd < 0;
}

static int end(void **state)
{
	(void)state;
	tail_deinit(&t);
	return close(fd);
}

static void head(struct toy_header h)
{
	toy_write_head(fd, 0, &h);
}

static void an_empty_file_is_waited_for(void **state)
{
	(void)state;
	assert_int_equal(tail_look(&t, 1), TAIL_WAITS);
	assert_int_equal(t.grown_ns, 1);
	assert_int_equal(tail_look(&t, 2), TAIL_WAITS);
	assert_int_equal(t.grown_ns, 1);
}

static void a_finished_chunk_is_one_piece(void **state)
{
	(void)state;
	toy_write_chunk(fd, 0, 7, 100);
	assert_int_equal(tail_look(&t, 1), TAIL_HAS_PIECE);
	assert_int_equal(t.piece.from, 68);
	assert_int_equal(t.piece.to, 68 + 1600);
	assert_true(t.piece.is_last && t.piece.is_whole);
	assert_int_equal(t.start_ns, 7);
	tail_next_chunk(&t);
	assert_int_equal(tail_look(&t, 1), TAIL_AT_END);
}

static void a_live_chunk_comes_flush_by_flush(void **state)
{
	(void)state;
	toy_write_events(fd, 0, 7, 0, 50);
	head(toy_live(7, 0));
	assert_int_equal(tail_look(&t, 1), TAIL_WAITS);
	head(toy_live(7, 10)); /* less than what identifies it */
	assert_int_equal(tail_look(&t, 1), TAIL_WAITS);
	head(toy_live(7, 40));
	assert_int_equal(tail_look(&t, 1), TAIL_HAS_PIECE);
	assert_int_equal(t.piece.to, 68 + 640);
	assert_false(t.piece.is_last);
	tail_took(&t, t.piece.to);
	assert_int_equal(tail_look(&t, 1), TAIL_WAITS);
	head(toy_live(7, 50));
	assert_int_equal(tail_look(&t, 1), TAIL_HAS_PIECE);
	assert_int_equal(t.piece.from, 68 + 640);
	tail_took(&t, t.piece.to);
	head(toy_final(7, 50));
	assert_int_equal(tail_look(&t, 1), TAIL_HAS_PIECE);
	assert_true(t.piece.is_last);
	assert_int_equal(t.piece.from, t.piece.to);
}

static void the_key_of_a_chunk_is_the_same_live_and_finished(void **state)
{
	struct chunk_key live;

	(void)state;
	toy_write_events(fd, 0, 7, 0, 50);
	head(toy_live(7, 40));
	tail_look(&t, 1);
	live = t.key;
	toy_write_chunk(fd, 5000, 7, 50);
	tail_deinit(&t);
	tail_init(&t, dup(fd), 5000);
	assert_int_equal(tail_look(&t, 1), TAIL_HAS_PIECE);
	assert_memory_equal(&live, &t.key, sizeof(live));
}

static void what_is_appended_waits_for_its_whole_size(void **state)
{
	uint64_t at = toy_write_chunk(fd, 0, 7, 20);
	struct toy_header h = toy_final(8, 30);

	(void)state;
	tail_look(&t, 1);
	tail_next_chunk(&t);
	toy_write_head(fd, at, &h);
	assert_int_equal(tail_look(&t, 1), TAIL_WAITS);
	toy_write_events(fd, at, 8, 0, 29);
	assert_int_equal(tail_look(&t, 1), TAIL_WAITS);
	toy_write_events(fd, at, 8, 29, 30);
	assert_int_equal(tail_look(&t, 1), TAIL_HAS_PIECE);
	assert_int_equal(t.at, at);
}

static void an_unfinished_size_is_no_size(void **state)
{
	struct toy_header h = { .size = CHUNK_UNFINISHED_SIZE, .start_ns = 7 };

	(void)state;
	toy_write_events(fd, 0, 7, 0, 50);
	head(h);
	assert_int_equal(tail_look(&t, 1), TAIL_WAITS);
	t.is_settled = true;
	assert_int_equal(tail_look(&t, 1), TAIL_HAS_PIECE);
	assert_true(t.piece.is_last);
	assert_false(t.piece.is_whole);
	assert_int_equal(t.piece.to, 68 + 800);
	assert_int_equal(t.piece.next, 68 + 800);
}

static void a_dead_jvm_leaves_what_it_flushed(void **state)
{
	(void)state;
	toy_write_events(fd, 0, 7, 0, 50);
	head(toy_live(7, 40));
	tail_look(&t, 1);
	tail_took(&t, t.piece.to);
	t.is_settled = true;
	assert_int_equal(tail_look(&t, 1), TAIL_HAS_PIECE);
	assert_true(t.piece.is_last && t.piece.is_whole);
	assert_int_equal(t.piece.from, t.piece.to);
	assert_int_equal(t.piece.lost, 160);
	assert_int_equal(t.piece.next, 68 + 800);
}

static void a_chunk_behind_a_dead_one_is_found(void **state)
{
	uint64_t at = 68 + 50 * 16 + 13;

	(void)state;
	toy_write_events(fd, 0, 7, 0, 50);
	head(toy_live(7, 40));
	toy_write_chunk(fd, at, 8, 20);
	t.is_settled = true;
	assert_int_equal(tail_look(&t, 1), TAIL_HAS_PIECE);
	assert_int_equal(t.piece.lost, 160 + 13);
	tail_next_chunk(&t);
	assert_int_equal(t.at, at);
	assert_int_equal(tail_look(&t, 1), TAIL_HAS_PIECE);
	assert_true(t.piece.is_whole);
}

/* Others are not to wait for it. */
static void a_long_search_is_done_a_stretch_at_a_time(void **state)
{
	uint64_t at = 150 << 20;
	int n = 0;

	(void)state;
	toy_write_events(fd, 0, 7, 0, 50);
	head(toy_live(7, 40));
	toy_write_chunk(fd, at, 8, 20);
	t.is_settled = true;
	while (tail_look(&t, 1) == TAIL_SEARCHES)
		n++;
	assert_int_equal(n, 2);
	assert_int_equal(t.piece.next, at);
	/* And once. */
	assert_int_equal(tail_look(&t, 1), TAIL_HAS_PIECE);
	tail_next_chunk(&t);
	assert_int_equal(tail_look(&t, 1), TAIL_HAS_PIECE);
	assert_true(t.piece.is_whole);
}

static void a_copy_of_a_header_is_no_chunk(void **state)
{
	struct toy_header copy = toy_live(7, 0);
	uint8_t count = 68;

	(void)state;
	toy_write_events(fd, 0, 7, 0, 50);
	head(toy_live(7, 40));
	copy.size = 400 + 68;
	toy_write_head(fd, 400, &copy);
	assert_int_equal(pwrite(fd, &count, 1, 399), 1);
	t.is_settled = true;
	assert_int_equal(tail_look(&t, 1), TAIL_HAS_PIECE);
	assert_int_equal(t.piece.next, 68 + 800);
	count = 0; /* now it is not what a checkpoint ends with */
	assert_int_equal(pwrite(fd, &count, 1, 399), 1);
	t.mtime_ns = 0; /* it may be the same */
	assert_int_equal(tail_look(&t, 1), TAIL_HAS_PIECE);
	assert_int_equal(t.piece.next, 400);
}

static void what_is_no_recording_is_said(void **state)
{
	char text[100] =
		"not a recording, and longer than a header, by all the words that are in it";

	(void)state;
	assert_int_equal(pwrite(fd, text, sizeof(text), 0), sizeof(text));
	assert_int_equal(tail_look(&t, 1), TAIL_FOREIGN);
	t.is_settled = true;
	assert_int_equal(tail_look(&t, 1), TAIL_HAS_PIECE);
	assert_int_equal(t.piece.lost, sizeof(text));
	tail_next_chunk(&t);
	assert_int_equal(tail_look(&t, 1), TAIL_AT_END);
}

/* A file with a process id, say. What may become one is waited for. */
static void little_of_something_else_is_no_recording(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		enum tail_phase phase;
	} cases[] = { { "4711\n", 5, TAIL_FOREIGN },
		      { "1", 1, TAIL_FOREIGN },
		      { "FLR", 3, TAIL_WAITS },
		      { "FLR\0\0\2", 6, TAIL_WAITS },
		      { "FLY", 3, TAIL_FOREIGN } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, cases[i].bytes, cases[i].len, 0), cases[i].len);
		tail_init(&t, t.fd, 0);
		assert_int_equal(tail_look(&t, 1), cases[i].phase);
	}
}

static void an_old_version_is_refused(void **state)
{
	static const uint8_t old[] = { 0, 0, 0, 9 };

	(void)state;
	toy_write_chunk(fd, 0, 7, 20);
	assert_int_equal(pwrite(fd, old, 4, 4), 4);
	assert_int_equal(tail_look(&t, 1), TAIL_FAILED);
	assert_int_equal(t.err, -ENOTSUP);
}

static void a_file_that_begins_anew_is_another(void **state)
{
	(void)state;
	toy_write_chunk(fd, 0, 7, 50);
	tail_look(&t, 1);
	tail_next_chunk(&t);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(tail_look(&t, 1), TAIL_REPLACED);
	tail_init(&t, t.fd, 0);
	toy_write_chunk(fd, 0, 7, 50);
	assert_int_equal(tail_look(&t, 1), TAIL_HAS_PIECE);
	toy_write_chunk(fd, 0, 8, 50);
	assert_int_equal(tail_look(&t, 1), TAIL_REPLACED);
}

static void a_header_that_stays_half_written_is_no_header(void **state)
{
	struct toy_header h = toy_live(7, 20);

	(void)state;
	h.state = 255;
	toy_write_events(fd, 0, 7, 0, 20);
	head(h);
	assert_int_equal(tail_look(&t, 1), TAIL_WAITS);
	t.is_settled = true;
	assert_int_equal(tail_look(&t, 1), TAIL_HAS_PIECE);
}

/* Any header: it is waited for, read, refused or passed over, and each step leads on. */
static void survives_mutation(void **state)
{
	(void)state;
	for (unsigned int bit = 0; bit < 2 * 68 * 8; bit++) {
		uint64_t before = 0;
		uint8_t byte;

		assert_int_equal(ftruncate(fd, 0), 0);
		toy_write_chunk(fd, toy_write_chunk(fd, 0, 7, 20), 8, 20);
		if (bit < 68 * 8) {
			assert_int_equal(pread(fd, &byte, 1, bit / 8), 1);
			byte ^= (uint8_t)(1 << bit % 8);
			assert_int_equal(pwrite(fd, &byte, 1, bit / 8), 1);
		} else {
			assert_int_equal(ftruncate(fd, bit - 68 * 8), 0);
		}
		tail_init(&t, t.fd, 0);
		t.is_settled = true;
		while (tail_look(&t, 1) == TAIL_HAS_PIECE) {
			assert_in_range(t.piece.next, before + 1, t.size);
			assert_in_range(t.piece.to, t.piece.from, t.size);
			before = t.piece.next;
			tail_next_chunk(&t);
		}
	}
}

#define OWN_FILE(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OWN_FILE(an_empty_file_is_waited_for),
		OWN_FILE(a_finished_chunk_is_one_piece),
		OWN_FILE(a_live_chunk_comes_flush_by_flush),
		OWN_FILE(the_key_of_a_chunk_is_the_same_live_and_finished),
		OWN_FILE(what_is_appended_waits_for_its_whole_size),
		OWN_FILE(an_unfinished_size_is_no_size),
		OWN_FILE(a_dead_jvm_leaves_what_it_flushed),
		OWN_FILE(a_chunk_behind_a_dead_one_is_found),
		OWN_FILE(a_long_search_is_done_a_stretch_at_a_time),
		OWN_FILE(a_copy_of_a_header_is_no_chunk),
		OWN_FILE(what_is_no_recording_is_said),
		OWN_FILE(little_of_something_else_is_no_recording),
		OWN_FILE(an_old_version_is_refused),
		OWN_FILE(a_file_that_begins_anew_is_another),
		OWN_FILE(a_header_that_stays_half_written_is_no_header),
		OWN_FILE(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
