// SPDX-License-Identifier: Apache-2.0
/* What is exported of files that come, grow, move and go. */
#include "tests/unit/jfr_watch_room.h"

#include "core/clock.h"

static void a_file_is_exported_once_by_however_many_runs(void **state)
{
	(void)state;
	write_chunk("in/a", start, 100);
	for (int i = 0; i < 3; i++) {
		struct session s = begin();

		run(&s);
		assert_int_equal(watch_counts(s.w)->n_batches, i ? 0 : 1);
		end(&s);
	}
	assert_exported(start, 0, 100);
}

static void a_growing_chunk_is_followed_over_restarts(void **state)
{
	int fd = toy_open("in/a");

	(void)state;
	for (unsigned int n = 20; n <= 200; n += 20) {
		struct session s = begin();
		struct toy_header h = toy_live(start, n);

		toy_write_events(fd, 0, start, 0, n + 3);
		toy_write_head(fd, 0, &h);
		run(&s);
		assert_exported(start, 0, n);
		end(&s);
	}
	close(fd);
}

static void a_renamed_file_is_no_new_one(void **state)
{
	struct session s;

	(void)state;
	write_chunk("in/a", start, 100);
	s = begin();
	run(&s);
	assert_int_equal(rename("in/a", "in/b"), 0);
	run(&s);
	end(&s);
	assert_int_equal(rename("in/b", "in/c"), 0);
	s = begin();
	run(&s);
	assert_int_equal(watch_counts(s.w)->n_duplicate_bytes, 0);
	assert_int_equal(watch_counts(s.w)->n_batches, 0);
	end(&s);
	assert_exported(start, 0, 100);
}

static void a_deleted_file_is_read_to_its_end(void **state)
{
	struct toy_header h = toy_live(start, 20);
	int fd = toy_open("in/a");
	struct session s;
	pid_t jvm;

	(void)state;
	toy_write_events(fd, 0, start, 0, 20);
	toy_write_head(fd, 0, &h);
	jvm = hold();
	s = begin();
	run(&s);
	assert_int_equal(unlink("in/a"), 0);
	run(&s);
	toy_write_chunk(fd, 0, start, 100);
	close(fd);
	let_go(jvm);
	usleep(30000);
	run(&s);
	assert_exported(start, 0, 100);
	assert_int_equal(watch_counts(s.w)->n_open, 0);
	end(&s);
}

static void a_dump_repeats_nothing_of_its_repository(void **state)
{
	struct toy_header h = toy_live(start, 50);
	int fd = toy_open("in/live"), before, dump;
	struct session s;
	uint64_t at;

	(void)state;
	toy_write_events(fd, 0, start, 0, 50);
	toy_write_head(fd, 0, &h);
	write_chunk("in/before", start - 1000, 30);
	s = begin();
	run(&s);
	end(&s);
	/* The JVM ends: the directory goes, the dump has it all. With the inode of what begins as
	   it does it would be that file, which grew. */
	before = open("in/before", O_RDONLY | O_CLOEXEC);
	unlink("in/live");
	unlink("in/before");
	dump = toy_open("in/dump.jfr");
	close(fd);
	close(before);
	at = toy_write_chunk(dump, 0, start - 1000, 30);
	toy_write_chunk(dump, at, start, 90);
	close(dump);
	s = begin();
	run(&s);
	assert_exported(start - 1000, 0, 30);
	assert_exported(start, 0, 90);
	assert_int_equal(watch_counts(s.w)->n_duplicate_bytes, 80 * 16);
	end(&s);
}

static void a_reused_name_and_inode_are_a_new_file(void **state)
{
	struct session s;

	(void)state;
	write_chunk("in/a", start, 50);
	s = begin();
	run(&s);
	unlink("in/a");
	write_chunk("in/a", start + 5, 60);
	run(&s);
	/* Truncated and begun anew: the same inode. */
	assert_int_equal(truncate("in/a", 0), 0);
	write_chunk("in/a", start + 6, 40);
	run(&s);
	end(&s);
	assert_exported(start, 0, 50);
	assert_exported(start + 5, 0, 60);
	assert_exported(start + 6, 0, 40);
}

static void lag_is_of_what_waits(void **state)
{
	uint64_t begun = clock_ns(CLOCK_REALTIME) - 3000 * MS_NS;
	struct toy_header h = toy_live(begun, 20);
	int fd = toy_open("in/a");
	struct session s;

	(void)state;
	toy_write_events(fd, 0, begun, 0, 40);
	toy_write_head(fd, 0, &h);
	s = begin();
	for (int i = 0; i < 100 && !watch_counts(s.w)->n_batches; i++)
		watch_round(s.w, 1);
	assert_true(watch_counts(s.w)->lag_ns >= 3000 * MS_NS);
	/* Nothing is to be exported: weft does not lag behind. */
	usleep(100000);
	run(&s);
	assert_int_equal(watch_counts(s.w)->lag_ns, 0);
	/* Something is, and cannot be. */
	output_err = -ENOSPC;
	h = toy_live(begun, 40);
	toy_write_head(fd, 0, &h);
	usleep(100000);
	for (int i = 0; i < 20; i++)
		watch_round(s.w, 10);
	assert_true(watch_counts(s.w)->lag_ns >= 3200 * MS_NS);
	output_err = 0;
	end(&s);
	close(fd);
}

static void chunks_are_appended_one_by_one(void **state)
{
	struct session s = begin();
	int fd = toy_open("in/a");
	uint64_t at = 0;

	(void)state;
	for (unsigned int i = 0; i < 5; i++) {
		struct toy_header h = toy_final(start + i, 40);

		toy_write_head(fd, at, &h);
		toy_write_events(fd, at, start + i, 0, 20);
		run(&s);
		assert_exported(start + i, 0, 0);
		at = toy_write_chunk(fd, at, start + i, 40);
		if (i == 2)
			usleep(50000); /* it is let go of, and found again */
		run(&s);
		assert_exported(start + i, 0, 40);
	}
	close(fd);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OWN_DIR(a_file_is_exported_once_by_however_many_runs),
		OWN_DIR(a_growing_chunk_is_followed_over_restarts),
		OWN_DIR(a_renamed_file_is_no_new_one),
		OWN_DIR(a_deleted_file_is_read_to_its_end),
		OWN_DIR(a_dump_repeats_nothing_of_its_repository),
		OWN_DIR(a_reused_name_and_inode_are_a_new_file),
		OWN_DIR(lag_is_of_what_waits),
		OWN_DIR(chunks_are_appended_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
