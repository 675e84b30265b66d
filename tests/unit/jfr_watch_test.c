// SPDX-License-Identifier: Apache-2.0
/* A watch whose output is a folder of files of toy events: each has to be there once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "core/log.h"
#include "jfr/ledger.h"
#include "jfr/watch.h"
#include "tests/unit/jfr_toy.h"

#define NOW_S UINT64_C(4000000000) /* chunks of the future are never history */
#define MS_NS UINT64_C(1000000)

static char dir[64];
static int output_err;	   /* what the output says to everything */
static uint64_t piece_len; /* it takes no more at a time; 0: all */

static int enter_dir(void **state)
{
	(void)state;
	log_set_level(LOG_QUIET);
	strcpy(dir, "/tmp/weft-watch-XXXXXX");
	output_err = 0;
	piece_len = 0;
	return mkdtemp(dir) ? chdir(dir) || mkdir("in", 0700) || mkdir("out", 0700) : -1;
}

static int remove_dir(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "cd / && rm -rf %s", dir);
	return system(command) || chdir("/");
}

static int export_toys(void *ctx, const struct export_job *job, struct export_result *result)
{
	char path[256];
	uint64_t to = job->to;
	FILE *out;

	(void)ctx;
	if (output_err)
		return output_err;
	if (piece_len && to - job->from > piece_len)
		to = job->from + piece_len;
	out = fopen("out/.new", "w");
	for (uint64_t at = job->from; at + TOY_EVENT <= to; at += TOY_EVENT) {
		uint8_t bytes[TOY_EVENT];

		if (pread(job->fd, bytes, sizeof(bytes), (off_t)(job->at + at)) != TOY_EVENT)
			abort();
		fwrite(bytes, 1, sizeof(bytes), out);
		result->n_events++;
	}
	fclose(out);
	snprintf(path, sizeof(path), "out/%s", job->name);
	rename("out/.new", path);
	result->to = to;
	return 0;
}

static int sync_nothing(void *ctx)
{
	(void)ctx;
	return output_err;
}

static void release_nothing(void *ctx, void *chunk)
{
	(void)ctx;
	(void)chunk;
}

static bool never(void)
{
	return false;
}

static const struct watch_ops ops = {
	.export_piece = export_toys,
	.sync = sync_nothing,
	.release = release_nothing,
	.is_stopped = never,
};

struct session {
	struct ledger *ledger;
	struct watch *w;
};

static struct watch_settings quick(void)
{
	struct watch_settings s = watch_settings_default;

	s.look_ns = s.linger_ns = 20 * MS_NS;
	s.rotate_age_ns = 0;
	s.rescan_ns = 200 * MS_NS;
	s.stale_ns = 3600 * UINT64_C(1000) * MS_NS;
	return s;
}

static struct session begin_with(const struct watch_settings *settings)
{
	struct session s = { 0 };

	if (ledger_open("ledger", &s.ledger))
		abort();
	s.w = watch_new(settings, s.ledger, &ops, NULL);
	if (!s.w || watch_add_root(s.w, "in") || watch_start(s.w))
		abort();
	return s;
}

static struct session begin(void)
{
	struct watch_settings settings = quick();

	return begin_with(&settings);
}

static void end(struct session *s)
{
	watch_free(s->w);
	ledger_close(s->ledger);
}

/* Rounds until nothing happens any more. */
static void run(struct session *s)
{
	int quiet = 0;

	for (int i = 0; i < 2000 && quiet < 3; i++) {
		assert_int_equal(watch_round(s->w, 10), 0);
		quiet = watch_is_idle(s->w) ? quiet + 1 : 0;
		if (quiet)
			usleep(25000);
	}
}

/* How often each event of a chunk was exported, for n of them. */
static void count_events(uint64_t start_ns, unsigned int *counts, unsigned int n)
{
	DIR *d = opendir("out");
	const struct dirent *e;

	while ((e = readdir(d))) {
		char path[300];
		uint8_t bytes[TOY_EVENT];
		FILE *f;

		if (*e->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "out/%s", e->d_name);
		f = fopen(path, "r");
		while (fread(bytes, TOY_EVENT, 1, f) == 1) {
			uint64_t start = 0, i = 0;

			for (int b = 0; b < 8; b++) {
				start = start << 8 | bytes[b];
				i = i << 8 | bytes[8 + b];
			}
			if (start == start_ns && i < n)
				counts[i]++;
		}
		fclose(f);
	}
	closedir(d);
}

/* Of a chunk's events from `from` to `to` each was exported once, the others never. */
static void assert_exported(uint64_t start_ns, unsigned int from, unsigned int to)
{
	unsigned int counts[4096] = { 0 };

	count_events(start_ns, counts, 4096);
	for (unsigned int i = 0; i < 4096; i++)
		assert_int_equal(counts[i], i >= from && i < to ? 1 : 0);
}

static const uint64_t start = NOW_S * UINT64_C(1000000000);

static void write_chunk(const char *path, uint64_t start_ns, unsigned int n)
{
	int fd = toy_open(path);

	toy_write_chunk(fd, 0, start_ns, n);
	close(fd);
}

/* A JVM that has open what is open now: what this process has open does not count. */
static pid_t hold(void)
{
	pid_t pid = fork();

	if (!pid)
		for (;;)
			pause();
	return pid;
}

static void let_go(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

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
	int fd = toy_open("in/live"), dump;
	struct session s;
	uint64_t at;

	(void)state;
	toy_write_events(fd, 0, start, 0, 50);
	toy_write_head(fd, 0, &h);
	write_chunk("in/before", start - 1000, 30);
	s = begin();
	run(&s);
	end(&s);
	/* The JVM ends: the directory goes, the dump has it all. */
	unlink("in/live");
	unlink("in/before");
	close(fd);
	dump = toy_open("in/dump.jfr");
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
	assert_int_equal(system("yes | head -c 1000 > in/log; cp in/log in/b.txt; : > in/empty"),
			 0);
	s = begin();
	run(&s);
	assert_int_equal(watch_counts(s.w)->n_foreign, 2);
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

#define N_FILES 1000
#define N_EVENTS 40

static void watch_for_ever(void)
{
	struct session s = begin();

	for (;;)
		if (watch_round(s.w, 10))
			_exit(1);
}

/* One step of all the JVMs: files appear, grow, are renamed and deleted when they are done. */
static void step(unsigned int now, uint8_t *deleted)
{
	char path[64], other[64];

	for (unsigned int i = 0; i < N_FILES; i++) {
		unsigned int age = now - i / 40, n = age * 20;
		struct toy_header h = toy_live(start + i, n);
		int fd;

		if (i / 40 > now || age > 5)
			continue;
		snprintf(path, sizeof(path), "in/%u/%u.jfr", i % 7, i);
		snprintf(other, sizeof(other), "in/%u/done-%u", i % 7, i);
		if (age == 3 && i % 3 == 0)
			rename(path, other);
		if (age == 5 && i % 5 == 0)
			deleted[i] = !unlink(i % 3 ? path : other);
		if (age > 2)
			continue;
		fd = toy_open(path);
		toy_write_events(fd, 0, start + i, 0, age == 2 ? n : n + 1);
		if (age == 2)
			h.state = 0;
		toy_write_head(fd, 0, &h);
		close(fd);
	}
}

static uint64_t lost_bytes;

static int add_lost(void *ctx, const char *reason, uint64_t n, uint64_t bytes)
{
	(void)ctx;
	(void)n;
	assert_string_equal(reason, "vanished");
	lost_bytes += bytes;
	return 0;
}

static void killed_at_any_moment_each_event_is_there_once(void **state)
{
	static uint8_t deleted[N_FILES];
	static unsigned int counts[N_FILES][N_EVENTS];
	uint64_t missing = 0;
	struct session s;
	pid_t pid = 0;

	(void)state;
	for (int i = 0; i < 7; i++) {
		char path[16];

		snprintf(path, sizeof(path), "in/%d", i);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	srand(7);
	for (unsigned int now = 0; now < N_FILES / 40 + 6; now++) {
		if (!pid && !(pid = fork()))
			watch_for_ever();
		step(now, deleted);
		usleep((useconds_t)(50000 + rand() % 100000));
		if (now % 3) {
			let_go(pid);
			pid = 0;
		}
	}
	if (pid)
		let_go(pid);
	s = begin();
	run(&s);
	lost_bytes = 0;
	assert_int_equal(ledger_each_lost(s.ledger, add_lost, NULL), 0);
	end(&s);
	for (unsigned int i = 0; i < N_FILES; i++)
		count_events(start + i, counts[i], N_EVENTS);
	for (unsigned int i = 0; i < N_FILES; i++)
		for (unsigned int j = 0; j < N_EVENTS; j++) {
			assert_in_range(counts[i][j], deleted[i] ? 0 : 1, 1);
			missing += TOY_EVENT * !counts[i][j];
		}
	/* Of files that came and went while nobody watched nothing can be said. */
	assert_true(lost_bytes <= missing + N_FILES * TOY_HEAD);
	printf("# %llu bytes of deleted files missing, %llu counted as lost\n",
	       (unsigned long long)missing, (unsigned long long)lost_bytes);
}

#define OWN_DIR(test) cmocka_unit_test_setup_teardown(test, enter_dir, remove_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OWN_DIR(a_file_is_exported_once_by_however_many_runs),
		OWN_DIR(a_growing_chunk_is_followed_over_restarts),
		OWN_DIR(a_renamed_file_is_no_new_one),
		OWN_DIR(a_deleted_file_is_read_to_its_end),
		OWN_DIR(a_dump_repeats_nothing_of_its_repository),
		OWN_DIR(a_reused_name_and_inode_are_a_new_file),
		OWN_DIR(chunks_are_appended_one_by_one),
		OWN_DIR(a_full_output_is_tried_again_and_loses_nothing),
		OWN_DIR(a_large_chunk_is_many_batches),
		OWN_DIR(dead_writers_are_found_out),
		OWN_DIR(history_is_what_was_asked_for),
		OWN_DIR(of_no_history_there_is_only_what_comes),
		OWN_DIR(what_went_unread_while_nobody_watched_is_counted),
		OWN_DIR(what_is_damaged_is_quarantined_until_it_changes),
		OWN_DIR(other_files_are_left_alone),
		OWN_DIR(more_files_than_descriptors_are_read),
		OWN_DIR(killed_at_any_moment_each_event_is_there_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
