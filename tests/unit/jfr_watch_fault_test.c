// SPDX-License-Identifier: Apache-2.0
/* Outputs that fail, writers that die, files that are damaged, and limits. */
#include "tests/unit/jfr_watch_room.h"

static void a_full_output_is_tried_again_and_loses_nothing(void **state)
{
	struct session s;

	(void)state;
	write_chunk("in/a", start, 50);
	s = begin();
	output_err = -ENOSPC;
	for (int i = 0; i < 5; i++)
		assert_int_equal(watch_round(s.w, 0), 0);
	assert_int_equal(watch_counts(s.w)->err, -ENOSPC);
	assert_true(watch_counts(s.w)->n_failures > 0);
	output_err = 0;
	unlink("in/a");
	for (int i = 0; i < 60 && !watch_counts(s.w)->n_batches; i++)
		watch_round(s.w, 50);
	run(&s);
	assert_int_equal(watch_counts(s.w)->n_failures, 0);
	end(&s);
	assert_exported(start, 0, 50);
}

static void a_large_chunk_is_many_batches(void **state)
{
	struct session s;

	(void)state;
	write_chunk("in/a", start, 1000);
	piece_len = 160;
	s = begin();
	run(&s);
	assert_int_equal(watch_counts(s.w)->n_batches, 100);
	end(&s);
	assert_exported(start, 0, 1000);
}

static void dead_writers_are_found_out(void **state)
{
	struct toy_header h = toy_live(start, 50);
	struct watch_settings settings = quick();
	int fd = toy_open("in/dead"), other = toy_open("in/alive");
	struct session s;
	pid_t pid;

	(void)state;
	toy_write_events(fd, 0, start, 0, 60);
	toy_write_head(fd, 0, &h);
	close(fd);
	h = toy_live(start + 1, 50);
	toy_write_events(other, 0, start + 1, 0, 60);
	toy_write_head(other, 0, &h);
	pid = hold();
	close(other);
	settings.stale_ns = 100 * MS_NS;
	s = begin_with(&settings);
	usleep(150000);
	for (int i = 0; i < 50 && !watch_counts(s.w)->n_lost[LOST_UNFLUSHED]; i++) {
		watch_round(s.w, 20);
		usleep(50000);
	}
	run(&s);
	assert_int_equal(watch_counts(s.w)->n_lost[LOST_UNFLUSHED], 1);
	assert_int_equal(watch_counts(s.w)->lost_bytes[LOST_UNFLUSHED], 160);
	assert_int_equal(watch_counts(s.w)->n_growing, 1);
	end(&s);
	let_go(pid);
	assert_exported(start, 0, 50);
	assert_exported(start + 1, 0, 50);
}

static void history_is_what_was_asked_for(void **state)
{
	const uint64_t hour = UINT64_C(3600000000000);
	struct watch_settings settings = quick();
	uint64_t now = (uint64_t)time(NULL) * UINT64_C(1000000000);
	int fd = toy_open("in/dump"), live = toy_open("in/live");
	struct toy_header h = toy_live(now, 50);
	struct session s;
	uint64_t at;

	(void)state;
	at = toy_write_chunk(fd, 0, now - 3 * hour, 20);
	at = toy_write_chunk(fd, at, now - 2 * hour, 30);
	toy_write_chunk(fd, at, now - hour / 2, 40);
	toy_write_events(live, 0, now, 0, 60);
	toy_write_head(live, 0, &h);
	s = begin_with(&settings);
	run(&s);
	/* What comes later is no history, however old it is. */
	write_chunk("in/moved", now - 5 * hour, 20);
	run(&s);
	end(&s);
	s = begin_with(&settings);
	write_chunk("in/moved too", now - 6 * hour, 20);
	run(&s);
	end(&s);
	assert_exported(now - 3 * hour, 0, 0);
	assert_exported(now - 2 * hour, 0, 0);
	assert_exported(now - hour / 2, 0, 40);
	assert_exported(now, 0, 50);
	assert_exported(now - 5 * hour, 0, 20);
	assert_exported(now - 6 * hour, 0, 20);
	close(fd);
	close(live);
}

static void of_no_history_there_is_only_what_comes(void **state)
{
	struct watch_settings settings = quick();
	uint64_t now = ((uint64_t)time(NULL) - 1) * UINT64_C(1000000000);
	int live = toy_open("in/live");
	struct toy_header h = toy_live(now, 50);
	struct session s;

	(void)state;
	settings.history_ns = 0;
	write_chunk("in/old", now, 20);
	toy_write_events(live, 0, now + 1, 0, 80);
	h.start_ns = h.start_ticks = now + 1;
	toy_write_head(live, 0, &h);
	s = begin_with(&settings);
	run(&s);
	h = toy_live(now + 1, 70);
	toy_write_head(live, 0, &h);
	run(&s);
	end(&s);
	s = begin_with(&settings);
	run(&s);
	end(&s);
	assert_exported(now, 0, 0);
	assert_exported(now + 1, 50, 70);
	close(live);
}

static void what_went_unread_while_nobody_watched_is_counted(void **state)
{
	struct toy_header h = toy_live(start, 50);
	int fd = toy_open("in/a");
	struct session s;

	(void)state;
	toy_write_events(fd, 0, start, 0, 60);
	toy_write_head(fd, 0, &h);
	s = begin();
	run(&s);
	end(&s);
	unlink("in/a");
	s = begin();
	run(&s);
	assert_int_equal(watch_counts(s.w)->n_lost[LOST_VANISHED], 1);
	assert_int_equal(watch_counts(s.w)->lost_bytes[LOST_VANISHED], 160);
	end(&s);
	s = begin();
	run(&s);
	assert_int_equal(watch_counts(s.w)->n_lost[LOST_VANISHED], 0);
	end(&s);
	close(fd);
}

static void what_was_gone_and_comes_back_is_read_on(void **state)
{
	struct toy_header h = toy_live(start, 50);
	int fd = toy_open("in/a");
	struct session s;

	(void)state;
	toy_write_events(fd, 0, start, 0, 60);
	toy_write_head(fd, 0, &h);
	s = begin();
	run(&s);
	end(&s);
	assert_int_equal(rename("in/a", "away"), 0);
	s = begin();
	run(&s);
	end(&s);
	h = toy_final(start, 60); /* as large as it was */
	toy_write_head(fd, 0, &h);
	assert_int_equal(rename("away", "in/a"), 0);
	s = begin();
	run(&s);
	end(&s);
	close(fd);
	assert_exported(start, 0, 60);
}

static void what_is_damaged_is_quarantined_until_it_changes(void **state)
{
	struct watch_settings settings = quick();
	struct session s;
	int fd;

	(void)state;
	settings.stale_ns = 50 * MS_NS;
	write_chunk("in/old.jfr", start, 20);
	fd = toy_open("in/old.jfr");
	assert_int_equal(pwrite(fd, "\0\0\0\11", 4, 4), 4);
	for (int i = 0; i < 2; i++) {
		s = begin_with(&settings);
		run(&s);
		assert_int_equal(watch_counts(s.w)->n_quarantined, 1);
		assert_int_equal(watch_counts(s.w)->n_lost[LOST_UNREADABLE], i ? 0 : 1);
		end(&s);
	}
	assert_int_equal(pwrite(fd, "\0\2\0\1", 4, 4), 4);
	close(fd);
	s = begin_with(&settings);
	run(&s);
	end(&s);
	assert_exported(start, 0, 20);
}

static void other_files_are_left_alone(void **state)
{
	struct session s;

	(void)state;
	assert_int_equal(system("yes | head -c 1000 > in/log; cp in/log in/b.txt; : > in/empty; "
				"echo 4711 > in/pid"),
			 0);
	s = begin();
	run(&s);
	assert_int_equal(watch_counts(s.w)->n_foreign, 3);
	assert_int_equal(watch_counts(s.w)->n_quarantined, 0);
	end(&s);
}

static void more_files_than_descriptors_are_read(void **state)
{
	struct watch_settings settings = quick();
	struct session s;
	int fds[30];

	(void)state;
	settings.max_open = 8;
	for (unsigned int i = 0; i < 30; i++) {
		struct toy_header h = toy_live(start + i, 20);
		char path[32];

		snprintf(path, sizeof(path), "in/%u", i);
		fds[i] = toy_open(path);
		toy_write_events(fds[i], 0, start + i, 0, 20);
		toy_write_head(fds[i], 0, &h);
	}
	s = begin_with(&settings);
	run(&s);
	assert_in_range(watch_counts(s.w)->n_open, 1, 8);
	for (unsigned int i = 0; i < 30; i++) {
		toy_write_chunk(fds[i], 0, start + i, 40);
		close(fds[i]);
	}
	for (int i = 0; i < 10; i++) {
		run(&s);
		usleep(20000);
	}
	end(&s);
	for (unsigned int i = 0; i < 30; i++)
		assert_exported(start + i, 0, 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OWN_DIR(a_full_output_is_tried_again_and_loses_nothing),
		OWN_DIR(a_large_chunk_is_many_batches),
		OWN_DIR(dead_writers_are_found_out),
		OWN_DIR(history_is_what_was_asked_for),
		OWN_DIR(of_no_history_there_is_only_what_comes),
		OWN_DIR(what_went_unread_while_nobody_watched_is_counted),
		OWN_DIR(what_was_gone_and_comes_back_is_read_on),
		OWN_DIR(what_is_damaged_is_quarantined_until_it_changes),
		OWN_DIR(other_files_are_left_alone),
		OWN_DIR(more_files_than_descriptors_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
