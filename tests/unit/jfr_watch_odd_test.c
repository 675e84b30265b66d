// SPDX-License-Identifier: Apache-2.0
/* Files that nobody would make on purpose, and what becomes of them and of those beside them. */
#include "tests/unit/jfr_watch_room.h"

#define NOBODY 65534

static void sh(const char *command)
{
	assert_int_equal(system(command), 0);
}

/* Rounds until files without a writer are settled, all but so many. */
static struct session run_until_growing(uint64_t n)
{
	struct watch_settings settings = quick();
	struct session s;

	settings.stale_ns = 50 * MS_NS;
	s = begin_with(&settings);
	for (int i = 0; i < 60 && watch_counts(s.w)->n_growing > n; i++)
		assert_int_equal(watch_round(s.w, 50), 0);
	run(&s);
	return s;
}

static void a_file_that_grows_a_byte_at_a_time_is_read_when_it_is_whole(void **state)
{
	uint8_t bytes[TOY_HEAD + 20 * TOY_EVENT];
	struct session s = begin();
	int fd = toy_open("whole"), out = toy_open("in/a.jfr");

	(void)state;
	toy_write_chunk(fd, 0, start, 20);
	assert_int_equal(pread(fd, bytes, sizeof(bytes), 0), sizeof(bytes));
	close(fd);
	for (size_t i = 0; i < sizeof(bytes); i++) {
		assert_int_equal(pwrite(out, bytes + i, 1, (off_t)i), 1);
		if (i % 9 == 0 || i == TOY_HEAD)
			assert_int_equal(watch_round(s.w, 0), 0);
		if (i + 1 < sizeof(bytes))
			assert_int_equal(watch_counts(s.w)->n_events, 0);
	}
	run(&s);
	assert_exported(start, 0, 20);
	assert_int_equal(watch_counts(s.w)->n_quarantined, 0);
	end(&s);
	close(out);
}

/* The clock of the second chunk was set back; then both again, and the other way round. */
static void chunks_in_any_order_and_twice_count_once(void **state)
{
	static const uint64_t order[] = { 7, 3, 3, 7, 5 };
	int fd = toy_open("in/a.jfr");
	struct session s;
	uint64_t at = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
		at = toy_write_chunk(fd, at, start + order[i], 30);
	close(fd);
	s = begin();
	run(&s);
	for (uint64_t i = 3; i <= 7; i += 2)
		assert_exported(start + i, 0, 30);
	assert_int_equal(watch_counts(s.w)->n_duplicate_chunks, 2);
	end(&s);
}

static void what_is_packed_and_cut_off_is_read_as_far_as_it_goes(void **state)
{
	struct session s;
	int fd = toy_open("two");

	(void)state;
	toy_write_chunk(fd, toy_write_chunk(fd, 0, start, 2000), start + 1, 2000);
	close(fd);
	sh("gzip -c two > all.gz; head -c $(($(stat -c %s all.gz) * 3 / 4)) all.gz > "
	   "in/cut.jfr.gz");
	write_chunk("in/other.jfr", start + 2, 20);
	s = run_until_growing(0);
	assert_exported(start, 0, 2000);
	assert_exported(start + 2, 0, 20);
	assert_int_equal(watch_counts(s.w)->n_quarantined, 1);
	end(&s);
	/* And is not read again. */
	s = begin();
	run(&s);
	assert_int_equal(watch_counts(s.w)->n_batches, 0);
	assert_int_equal(watch_counts(s.w)->n_quarantined, 1);
	end(&s);
}

static void one_that_takes_the_place_of_another_is_read_beside_it(void **state)
{
	struct toy_header h = toy_live(start, 20);
	int fd = toy_open("in/a.jfr");
	struct session s;
	pid_t jvm;

	(void)state;
	toy_write_events(fd, 0, start, 0, 20);
	toy_write_head(fd, 0, &h);
	jvm = hold();
	s = begin();
	run(&s);
	write_chunk("new", start + 1, 30);
	assert_int_equal(rename("new", "in/a.jfr"), 0);
	run(&s);
	toy_write_chunk(fd, 0, start, 50);
	close(fd);
	let_go(jvm);
	for (int i = 0; i < 40; i++)
		watch_round(s.w, 10);
	run(&s);
	assert_exported(start, 0, 50);
	assert_exported(start + 1, 0, 30);
	end(&s);
}

static void a_directory_that_may_not_be_read_is_counted(void **state)
{
	struct session s;

	(void)state;
	sh("mkdir in/closed in/open && chmod -R a+rwX . && chmod 0 in/closed");
	write_chunk("in/open/a.jfr", start, 20);
	sh("chmod a+r in/open/a.jfr");
	if (!geteuid() && seteuid(NOBODY))
		skip();
	s = begin();
	run(&s);
	assert_int_equal(watch_counts(s.w)->n_unreadable, 1);
	assert_exported(start, 0, 20);
	end(&s);
	assert_int_equal(seteuid(getuid()), 0);
}

static void one_that_goes_before_it_may_be_read_is_counted(void **state)
{
	struct session s;

	(void)state;
	sh("chmod -R a+rwX .");
	write_chunk("in/secret.jfr", start, 20);
	sh("chmod 0 in/secret.jfr");
	if (!geteuid() && seteuid(NOBODY))
		skip();
	s = begin();
	for (int i = 0; i < 5; i++)
		watch_round(s.w, 10);
	assert_int_equal(unlink("in/secret.jfr"), 0);
	for (int i = 0; i < 60 && !watch_counts(s.w)->n_lost[LOST_VANISHED]; i++)
		watch_round(s.w, 20);
	assert_int_equal(watch_counts(s.w)->lost_bytes[LOST_VANISHED], TOY_HEAD + 20 * TOY_EVENT);
	end(&s);
	assert_int_equal(seteuid(getuid()), 0);
}

/* As HotSpot before 14 has it: but for version, frequency and flags nothing is written until the
   chunk ends. */
static void a_header_that_says_nothing_is_waited_for(void **state)
{
	struct toy_header h = { 0 };
	int fd = toy_open("in/a.jfr");
	struct session s;

	(void)state;
	toy_write_head(fd, 0, &h);
	toy_write_events(fd, 0, start, 0, 40);
	s = begin();
	run(&s);
	end(&s);
	s = begin();
	run(&s);
	assert_int_equal(watch_counts(s.w)->n_growing, 1);
	assert_int_equal(watch_counts(s.w)->n_batches, 0);
	/* Its JVM ends: directory and all. */
	unlink("in/a.jfr");
	toy_write_chunk(fd, 0, start, 60);
	run(&s);
	assert_exported(start, 0, 60);
	for (int i = 0; i < N_LOST_REASONS; i++)
		assert_int_equal(watch_counts(s.w)->n_lost[i], 0);
	end(&s);
	close(fd);
}

static void a_header_that_is_never_finished_is_damage_in_the_end(void **state)
{
	struct toy_header h = toy_live(start, 20);
	int fd = toy_open("in/a.jfr");
	struct session s;

	(void)state;
	h.state = 255;
	toy_write_events(fd, 0, start, 0, 20);
	toy_write_head(fd, 0, &h);
	close(fd);
	write_chunk("in/b.jfr", start + 1, 20);
	s = run_until_growing(0);
	assert_int_equal(watch_counts(s.w)->n_quarantined, 1);
	assert_int_equal(watch_counts(s.w)->n_growing, 0);
	assert_exported(start + 1, 0, 20);
	end(&s);
}

static void what_makes_no_sense_costs_no_other_file(void **state)
{
	static const struct {
		const char *name;
		uint64_t size, offsets;
		uint8_t state;
	} cases[] = {
		{ "size-0", 0, TOY_HEAD, 0 },
		{ "size-67", 67, TOY_HEAD, 0 },
		{ "size-68", 68, TOY_HEAD, 0 },
		{ "size-max", UINT64_MAX, TOY_HEAD, 0 },
		{ "size-int64", INT64_MAX, TOY_HEAD, 1 },
		{ "size-beyond", 1 << 20, TOY_HEAD, 1 },
		{ "offsets-beyond", TOY_HEAD + 20 * TOY_EVENT, 1 << 20, 1 },
		{ "offsets-0", TOY_HEAD + 20 * TOY_EVENT, 0, 0 },
		{ "offsets-max", TOY_HEAD + 20 * TOY_EVENT, UINT64_MAX, 0 },
	};
	struct session s;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct toy_header h = toy_final(start + 10 + i, 20);
		char path[64];
		int fd;

		snprintf(path, sizeof(path), "in/%s.jfr", cases[i].name);
		fd = toy_open(path);
		h.size = cases[i].size;
		h.constants_at = h.metadata_at = cases[i].offsets;
		h.state = cases[i].state;
		toy_write_events(fd, 0, start + 10 + i, 0, 20);
		toy_write_head(fd, 0, &h);
		close(fd);
	}
	sh("head -c 40 in/size-0.jfr >in/short.jfr; printf flr >in/lower.jfr; : >in/empty.jfr");
	write_chunk("in/good.jfr", start, 20);
	s = run_until_growing(1);
	assert_exported(start, 0, 20);
	/* Only the one that is empty may still become something. */
	assert_int_equal(watch_counts(s.w)->n_growing, 1);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OWN_DIR(a_file_that_grows_a_byte_at_a_time_is_read_when_it_is_whole),
		OWN_DIR(chunks_in_any_order_and_twice_count_once),
		OWN_DIR(what_is_packed_and_cut_off_is_read_as_far_as_it_goes),
		OWN_DIR(one_that_takes_the_place_of_another_is_read_beside_it),
		OWN_DIR(a_directory_that_may_not_be_read_is_counted),
		OWN_DIR(one_that_goes_before_it_may_be_read_is_counted),
		OWN_DIR(a_header_that_says_nothing_is_waited_for),
		OWN_DIR(a_header_that_is_never_finished_is_damage_in_the_end),
		OWN_DIR(what_makes_no_sense_costs_no_other_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
