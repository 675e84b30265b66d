// SPDX-License-Identifier: Apache-2.0
/* Events at the end of a chunk wait for the first flush of their JVM's next one: each comes once.
 */
#include "tests/unit/jfr_watch_holding.h"

#define LONG_MS 50000 /* between two flushes: nobody waits so long */
#define NEXT (start + 1000)

/* A chunk of 30 events that was followed: the last three are held. */
static struct session follow_with(int fd, int64_t flush_ms, const struct watch_settings *settings)
{
	struct session s;

	flush_at(fd, 20, now_ns() - flush_ms * (int64_t)MS_NS);
	s = begin_holding_with(settings);
	run(&s);
	flush(fd, 30);
	run(&s);
	assert_exported(start, 0, 27);
	return s;
}

static struct session follow(int fd, int64_t flush_ms)
{
	struct watch_settings settings = quick();

	return follow_with(fd, flush_ms, &settings);
}

/* And then it ends with 50. */
static struct session end_followed(int fd, int64_t flush_ms)
{
	struct session s = follow(fd, flush_ms);

	toy_write_chunk(fd, 0, start, 50);
	run(&s);
	assert_exported(start, 0, 47);
	return s;
}

/* The next chunk, as its JVM makes it and when it has flushed it. */
static int begin_next_within(const char *path, uint64_t start_ns, unsigned int n, int64_t ms)
{
	struct toy_header h = toy_live(start_ns, n);
	int fd = toy_open(path);

	h.duration_ns = (uint64_t)(ms * (int64_t)MS_NS);
	toy_write_events(fd, 0, start_ns, 0, n);
	toy_write_head(fd, 0, &h);
	return fd;
}

static int begin_next(const char *path, uint64_t start_ns, unsigned int n)
{
	return begin_next_within(path, start_ns, n, 1000);
}

static void what_is_held_at_a_chunks_end_comes_with_the_first_flush_of_the_next(void **state)
{
	int fd = toy_open("in/a"), next;
	struct session s = end_followed(fd, LONG_MS);

	(void)state;
	close(begin_next("in/b", NEXT, 0));
	run(&s);
	assert_exported(start, 0, 47);
	next = begin_next("in/b", NEXT, 20);
	run(&s);
	assert_exported(start, 0, 50);
	assert_exported(NEXT, 0, 17);
	assert_true(n_exported > 1 && exported_starts[n_exported - 2] == start);
	assert_true(exported_starts[n_exported - 1] == NEXT);
	assert_int_equal(watch_counts(s.w)->n_growing, 1);
	end(&s);
	close(next);
	close(fd);
}

/* Of what was open at the chunk's end it can say nothing. */
static void a_flush_that_came_too_soon_is_not_the_one_that_is_waited_for(void **state)
{
	int fd = toy_open("in/a");
	struct session s = end_followed(fd, LONG_MS);

	(void)state;
	close(begin_next_within("in/b", NEXT, 10, 100));
	run(&s);
	assert_exported(start, 0, 47);
	assert_exported(NEXT, 0, 0);
	close(begin_next_within("in/b", NEXT, 20, 440));
	run(&s);
	assert_exported(start, 0, 47);
	close(begin_next_within("in/b", NEXT, 30, 1100));
	run(&s);
	assert_exported(start, 0, 50);
	assert_exported(NEXT, 0, 27);
	end(&s);
	close(fd);
}

static void a_chunk_that_ended_soon_has_no_other_flush(void **state)
{
	int fd = toy_open("in/a"), next = toy_open("in/b");
	struct session s = end_followed(fd, LONG_MS);

	(void)state;
	close(begin_next_within("in/b", NEXT, 10, 100));
	run(&s);
	assert_exported(start, 0, 47);
	toy_write_last(next, NEXT, 20);
	run(&s);
	assert_exported(start, 0, 50);
	assert_exported(NEXT, 0, 20);
	end(&s);
	close(next);
	close(fd);
}

/* A weft that had no CPU finds both at once. */
static void what_ended_and_what_was_flushed_meanwhile_wait_for_no_look(void **state)
{
	struct watch_settings settings = quick();
	int fd = toy_open("in/a"), next;
	struct session s;

	(void)state;
	settings.look_ns = LONG_MS * (int64_t)MS_NS;
	s = follow_with(fd, LONG_MS, &settings);
	toy_write_chunk(fd, 0, start, 50);
	next = begin_next("in/b", NEXT, 20);
	run(&s);
	assert_exported(start, 0, 50);
	assert_exported(NEXT, 0, 17);
	end(&s);
	close(next);
	close(fd);
}

static void without_a_next_chunk_it_comes_all_the_same(void **state)
{
	int fd = toy_open("in/a");
	struct session s = end_followed(fd, 100);

	(void)state;
	for (int i = 0; i < 100 && watch_counts(s.w)->n_growing; i++)
		watch_round(s.w, 50);
	assert_exported(start, 0, 50);
	assert_int_equal(watch_counts(s.w)->n_growing, 0);
	end(&s);
	close(fd);
}

static void the_last_chunk_of_a_jvm_and_one_that_was_not_followed_wait_for_nothing(void **state)
{
	int fd = toy_open("in/a");
	struct session s = follow(fd, LONG_MS);

	(void)state;
	toy_write_last(fd, start, 50);
	write_chunk("in/b", start + 1, 50);
	run(&s);
	assert_exported(start, 0, 50);
	assert_exported(start + 1, 0, 50);
	end(&s);
	close(fd);
}

static void a_chunk_of_another_jvm_ends_no_wait(void **state)
{
	int fd = toy_open("in/a"), later, elsewhere;
	struct session s = end_followed(fd, LONG_MS);

	(void)state;
	assert_int_equal(mkdir("in/c", 0700), 0);
	later = begin_next("in/b", start + 1000 * MS_NS, 20);
	elsewhere = begin_next("in/c/b", NEXT, 20);
	run(&s);
	assert_exported(start + 1000 * MS_NS, 0, 17);
	assert_exported(NEXT, 0, 17);
	assert_exported(start, 0, 47);
	end(&s);
	close(elsewhere);
	close(later);
	close(fd);
}

static void it_is_read_from_a_file_that_is_deleted_meanwhile(void **state)
{
	int fd = toy_open("in/a"), next;
	struct session s = end_followed(fd, LONG_MS);

	(void)state;
	unlink("in/a");
	close(fd);
	run(&s);
	assert_exported(start, 0, 47);
	next = begin_next("in/b", NEXT, 20);
	run(&s);
	assert_exported(start, 0, 50);
	end(&s);
	close(next);
}

/* It knows less of what comes: the first file goes before it, as long as there is hope. */
static void a_copy_of_the_chunk_does_not_export_it_before(void **state)
{
	int fd = toy_open("in/b"), next;
	struct session s = follow(fd, LONG_MS);

	(void)state;
	/* Looked at before the other one. */
	write_chunk("in/a.jfr", start, 50);
	run(&s);
	assert_exported(start, 0, 27);
	toy_write_chunk(fd, 0, start, 50);
	run(&s);
	assert_exported(start, 0, 47);
	next = begin_next("in/c", NEXT, 20);
	run(&s);
	for (int i = 0; i < 100 && watch_counts(s.w)->n_growing > 1; i++)
		watch_round(s.w, 20);
	assert_exported(start, 0, 50);
	assert_int_equal(watch_counts(s.w)->n_duplicate_chunks, 1);
	end(&s);
	close(next);
	close(fd);
}

static void a_weft_that_begins_anew_exports_it_once(void **state)
{
	(void)state;
	for (int is_flushed = 0; is_flushed < 2; is_flushed++) {
		int fd = toy_open("in/a"), next = -1;
		struct session s = end_followed(fd, LONG_MS);

		end(&s);
		if (is_flushed)
			next = begin_next("in/b", NEXT, 20);
		for (int i = 0; i < 2; i++) {
			s = begin_holding();
			run(&s);
			end(&s);
			assert_exported(start, 0, 50);
		}
		assert_int_equal(system("rm -rf in/* out/* ledger*"), 0);
		scoped_close(&next);
		close(fd);
	}
}

/* Whether the ledger's disk takes it again, or another weft does. */
static void what_was_written_and_not_noted_is_written_again_over_it(void **state)
{
	(void)state;
	for (int is_killed = 0; is_killed < 2; is_killed++) {
		int fd = toy_open("in/a"), next;
		struct session s = end_followed(fd, LONG_MS);

		is_paused = true;
		next = begin_next("in/b", NEXT, 20);
		for (int i = 0; i < 100 && !watch_counts(s.w)->n_failures; i++)
			watch_round(s.w, 50);
		assert_int_equal(watch_counts(s.w)->err, -ENOSPC);
		assert_exported(start, 0, 50);
		is_paused = false;
		if (is_killed) {
			end(&s);
			s = begin_holding();
		}
		for (int i = 0; i < 60 && watch_counts(s.w)->n_failures; i++)
			watch_round(s.w, 50);
		run(&s);
		end(&s);
		assert_exported(start, 0, 50);
		assert_exported(NEXT, 0, 17);
		assert_int_equal(system("rm -rf in/* out/* ledger*"), 0);
		close(next);
		close(fd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OWN_DIR(what_is_held_at_a_chunks_end_comes_with_the_first_flush_of_the_next),
		OWN_DIR(a_flush_that_came_too_soon_is_not_the_one_that_is_waited_for),
		OWN_DIR(a_chunk_that_ended_soon_has_no_other_flush),
		OWN_DIR(what_ended_and_what_was_flushed_meanwhile_wait_for_no_look),
		OWN_DIR(without_a_next_chunk_it_comes_all_the_same),
		OWN_DIR(the_last_chunk_of_a_jvm_and_one_that_was_not_followed_wait_for_nothing),
		OWN_DIR(a_chunk_of_another_jvm_ends_no_wait),
		OWN_DIR(it_is_read_from_a_file_that_is_deleted_meanwhile),
		OWN_DIR(a_copy_of_the_chunk_does_not_export_it_before),
		OWN_DIR(a_weft_that_begins_anew_exports_it_once),
		OWN_DIR(what_was_written_and_not_noted_is_written_again_over_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
