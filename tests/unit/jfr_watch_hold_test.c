// SPDX-License-Identifier: Apache-2.0
/* Events that wait for what their JVM writes later: each comes once, and soon enough. */
#include "tests/unit/jfr_watch_holding.h"

static void what_is_held_comes_with_the_next_flush(void **state)
{
	int fd = toy_open("in/a");
	struct session s;

	(void)state;
	flush(fd, 20);
	s = begin_holding();
	run(&s);
	assert_exported(start, 0, 17);
	flush(fd, 40);
	run(&s);
	assert_exported(start, 0, 37);
	toy_write_last(fd, start, 50);
	run(&s);
	assert_exported(start, 0, 50);
	end(&s);
	close(fd);
}

/* What was held of the 20 events comes when it has been held long enough. */
static void assert_rest_comes(struct session *s)
{
	assert_exported(start, 0, 17);
	for (int i = 0; i < 100 && watch_counts(s->w)->n_events < 20; i++)
		watch_round(s->w, 50);
	assert_exported(start, 0, 20);
}

static void without_another_flush_it_comes_all_the_same(void **state)
{
	int fd = toy_open("in/a");
	struct session s;

	(void)state;
	flush(fd, 20);
	s = begin_holding();
	run(&s);
	assert_rest_comes(&s);
	/* And is over then. */
	flush(fd, 30);
	run(&s);
	assert_exported(start, 0, 27);
	toy_write_last(fd, start, 30);
	run(&s);
	assert_exported(start, 0, 30);
	end(&s);
	close(fd);
}

static void damage_at_the_end_of_a_flush_loses_nothing_that_is_held(void **state)
{
	int fd = toy_open("in/a");
	struct session s;

	(void)state;
	flush(fd, 20);
	s = begin_holding();
	cut_len = TOY_EVENT / 2;
	run(&s);
	assert_rest_comes(&s);
	end(&s);
	close(fd);
}

static void what_is_cut_off_in_one_file_is_taken_from_another(void **state)
{
	struct session s;

	(void)state;
	write_chunk("in/a", start, 20);
	s = begin_holding();
	cut_len = 2 * TOY_EVENT;
	run(&s);
	assert_int_equal(watch_counts(s.w)->n_events, 20);
	cut_len = 0;
	write_chunk("in/b", start, 20);
	run(&s);
	assert_int_equal(watch_counts(s.w)->n_events, 22);
	end(&s);
}

static void a_weft_that_begins_anew_knows_what_was_held(void **state)
{
	int fd = toy_open("in/a");

	(void)state;
	for (unsigned int n = 10; n <= 60; n += 10) {
		struct session s;

		flush(fd, n);
		s = begin_holding();
		for (int i = 0; i < 5; i++)
			watch_round(s.w, 10);
		end(&s);
	}
	toy_write_last(fd, start, 60);
	close(fd);
	for (int i = 0; i < 2; i++) {
		struct session s = begin_holding();

		run(&s);
		end(&s);
		assert_exported(start, 0, 60);
	}
}

/* Whatever came between the output and the ledger, the same event has no two names. */
static void what_was_written_and_not_noted_is_written_again_over_it(void **state)
{
	int fd = toy_open("in/a");
	struct session s;

	(void)state;
	for (int flushes = 0; flushes < 2; flushes++) {
		assert_int_equal(system("rm -rf out/* ledger*"), 0);
		assert_int_equal(ftruncate(fd, 0), 0);
		flush(fd, 20);
		s = begin_holding();
		run(&s);
		is_paused = true;
		/* What was held is written, by itself or with more. */
		if (flushes)
			flush(fd, 40);
		for (int i = 0; i < 100 && !watch_counts(s.w)->n_failures; i++)
			watch_round(s.w, 50);
		assert_int_equal(watch_counts(s.w)->err, -ENOSPC);
		end(&s);
		toy_write_last(fd, start, 60);
		s = begin_holding();
		run(&s);
		end(&s);
		assert_exported(start, 0, 60);
	}
	close(fd);
}

/* It does not wait for a flush that never comes. */
static void what_a_full_disk_did_not_take_comes_when_there_is_room(void **state)
{
	int fd = toy_open("in/a");
	struct session s;

	(void)state;
	for (int is_output = 0; is_output < 2; is_output++) {
		assert_int_equal(system("rm -rf out/* ledger*"), 0);
		flush(fd, 20);
		s = begin_holding();
		run(&s);
		assert_exported(start, 0, 17);
		output_err = is_output ? -ENOSPC : 0;
		is_paused = !is_output;
		for (int i = 0; i < 100 && !watch_counts(s.w)->n_failures; i++)
			watch_round(s.w, 50);
		assert_int_equal(watch_counts(s.w)->err, -ENOSPC);
		output_err = 0;
		is_paused = false;
		for (int i = 0; i < 60 && watch_counts(s.w)->n_events < 20; i++)
			watch_round(s.w, 50);
		assert_int_equal(watch_counts(s.w)->n_events, 20);
		end(&s);
		assert_exported(start, 0, 20);
	}
	close(fd);
}

static void a_copy_of_the_chunk_has_what_was_held_too(void **state)
{
	int fd = toy_open("in/live");
	struct session s;

	(void)state;
	flush(fd, 20);
	s = begin_holding();
	run(&s);
	end(&s);
	unlink("in/live");
	close(fd);
	write_chunk("in/dump.jfr", start, 50);
	s = begin_holding();
	run(&s);
	end(&s);
	assert_exported(start, 0, 50);
}

static void what_was_held_and_is_gone_is_counted(void **state)
{
	int fd = toy_open("in/a");
	struct session s;

	(void)state;
	flush(fd, 20);
	s = begin_holding();
	run(&s);
	end(&s);
	unlink("in/a");
	close(fd);
	s = begin_holding();
	run(&s);
	assert_int_equal(watch_counts(s.w)->n_lost[LOST_VANISHED], 1);
	assert_int_equal(watch_counts(s.w)->lost_bytes[LOST_VANISHED], 3 * TOY_EVENT);
	end(&s);
	assert_exported(start, 0, 17);
}

/* What is held comes a flush later: it must not be older than 1.5 s by then. When this process sees
   the flush says nothing about that. */
static void how_long_events_wait_depends_on_how_often_their_jvm_flushes(void **state)
{
	static const int64_t flush_ms[] = { 1000, 200, 5000 }, late_ms[] = { 0, 800, 60000 };
	struct session s;

	(void)state;
	for (size_t i = 0; i < 9; i++) {
		int64_t ms = flush_ms[i / 3];
		int64_t flushed = now_ns() - late_ms[i % 3] * (int64_t)MS_NS;
		int fd = toy_open("in/a");

		assert_int_equal(system("rm -rf out/* ledger*"), 0);
		flush_at(fd, 20, flushed - ms * (int64_t)MS_NS);
		s = begin_holding();
		run(&s);
		flush_at(fd, 40, flushed);
		run(&s);
		assert_true(hold_from_ns == flushed + (ms - 1500) * (int64_t)MS_NS);
		end(&s);
		close(fd);
		unlink("in/a");
	}
}

/* Flushes at so many milliseconds before now are read, the last one in pieces. */
static void assert_held_from(const int64_t *flush_ms, size_t n, int64_t want_ms)
{
	const int64_t now = now_ns();
	int fd = toy_open("in/a");
	struct session s = { 0 };

	for (size_t i = 0; i < n; i++) {
		piece_len = i + 1 < n ? 0 : 16 * TOY_EVENT;
		flush_at(fd, 40 * (unsigned int)(i + 1), now - flush_ms[i] * (int64_t)MS_NS);
		if (!i)
			s = begin_holding();
		run(&s);
	}
	assert_true(hold_from_ns == now + want_ms * (int64_t)MS_NS);
	end(&s);
	close(fd);
}

static void a_flush_that_was_not_seen_makes_nothing_wait_less(void **state)
{
	static const int64_t flush_ms[] = { 3000, 2000, 0 };

	(void)state;
	assert_held_from(flush_ms, 3, -500);
}

static void pieces_of_one_flush_wait_as_long_as_one_piece(void **state)
{
	static const int64_t flush_ms[] = { 1200, 0 };

	(void)state;
	assert_held_from(flush_ms, 2, -300);
}

static void what_waited_too_long_is_not_held_again(void **state)
{
	int fd = toy_open("in/a");
	struct session s;

	(void)state;
	flush(fd, 20);
	s = begin_holding();
	holds_again = true;
	run(&s);
	assert_rest_comes(&s);
	end(&s);
	close(fd);
}

static void a_finished_chunk_of_many_pieces_ends_with_what_they_held(void **state)
{
	struct session s;

	(void)state;
	piece_len = 10 * TOY_EVENT;
	write_chunk("in/a", start, 100);
	s = begin_holding();
	run(&s);
	assert_exported(start, 0, 100);
	assert_int_equal(watch_counts(s.w)->n_events, 100);
	assert_int_equal(watch_counts(s.w)->n_growing, 0);
	end(&s);
}

static void what_was_held_of_a_file_that_begins_anew_is_lost_and_counted(void **state)
{
	int fd = toy_open("in/a");
	struct session s;

	(void)state;
	flush(fd, 20);
	s = begin_holding();
	run(&s);
	assert_int_equal(ftruncate(fd, 0), 0);
	toy_write_chunk(fd, 0, start + 1, 10);
	run(&s);
	assert_exported(start, 0, 17);
	assert_exported(start + 1, 0, 10);
	assert_int_equal(watch_counts(s.w)->lost_bytes[LOST_REPLACED], 3 * TOY_EVENT);
	end(&s);
	close(fd);
}

static void a_clock_that_is_ahead_makes_nothing_wait_longer(void **state)
{
	const int64_t begin_ns = now_ns() + 3600 * 1000 * (int64_t)MS_NS;
	int fd = toy_open("in/a");
	struct session s;

	(void)state;
	for (unsigned int i = 1; i <= 3; i++) {
		int64_t time_ns = begin_ns + i * 1000 * (int64_t)MS_NS;

		flush_at(fd, 20 * i, time_ns);
		if (i == 1)
			s = begin_holding();
		run(&s);
		assert_true(hold_from_ns == time_ns - 500 * (int64_t)MS_NS);
	}
	end(&s);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OWN_DIR(what_is_held_comes_with_the_next_flush),
		OWN_DIR(without_another_flush_it_comes_all_the_same),
		OWN_DIR(damage_at_the_end_of_a_flush_loses_nothing_that_is_held),
		OWN_DIR(what_is_cut_off_in_one_file_is_taken_from_another),
		OWN_DIR(a_weft_that_begins_anew_knows_what_was_held),
		OWN_DIR(what_was_written_and_not_noted_is_written_again_over_it),
		OWN_DIR(what_a_full_disk_did_not_take_comes_when_there_is_room),
		OWN_DIR(a_copy_of_the_chunk_has_what_was_held_too),
		OWN_DIR(what_was_held_and_is_gone_is_counted),
		OWN_DIR(what_waited_too_long_is_not_held_again),
		OWN_DIR(a_finished_chunk_of_many_pieces_ends_with_what_they_held),
		OWN_DIR(what_was_held_of_a_file_that_begins_anew_is_lost_and_counted),
		OWN_DIR(a_clock_that_is_ahead_makes_nothing_wait_longer),
		OWN_DIR(a_flush_that_was_not_seen_makes_nothing_wait_less),
		OWN_DIR(pieces_of_one_flush_wait_as_long_as_one_piece),
		OWN_DIR(how_long_events_wait_depends_on_how_often_their_jvm_flushes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
