// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

#include "jfr/ledger.h"
#include "tests/unit/own_folder.h"

static struct ledger *open_ledger(void)
{
	struct ledger *l = NULL;

	assert_int_equal(ledger_open("ledger", &l), 0);
	return l;
}

static const struct chunk_record chunk = {
	.key = { .start_ns = 17, .start_ticks = UINT64_MAX, .fingerprint = UINT64_C(1) << 63 },
	.exported = 4096,
	.size = UINT64_C(3) << 32,
	.batch = "a-batch",
	.seen_ns = 5,
};

static const struct source_record source = {
	.id = { .dev = 1, .ino = UINT64_MAX, .start_ns = 17 },
	.path = "repository/\xff odd\n.jfr",
	.size = 10,
	.mtime_ns = -1,
	.offset = 3,
	.exported = 2,
	.state = SOURCE_QUARANTINED,
	.reason = "no magic",
	.seen_ns = 6,
};

static void rows_are_there_after_it_was_closed(void **state)
{
	struct ledger *l = open_ledger();
	struct chunk_record c;
	struct source_record s;

	(void)state;
	assert_int_equal(ledger_find_chunk(l, &chunk.key, &c), -ENOENT);
	assert_int_equal(ledger_find_source(l, &source.id, &s), -ENOENT);
	assert_int_equal(ledger_put_chunk(l, &chunk), 0);
	assert_int_equal(ledger_put_source(l, &source), 0);
	ledger_close(l);
	l = open_ledger();
	assert_int_equal(ledger_find_chunk(l, &chunk.key, &c), 0);
	assert_int_equal(c.exported, chunk.exported);
	assert_true(c.size == chunk.size);
	assert_true(!memcmp(&c.key, &chunk.key, sizeof(c.key)));
	assert_string_equal(c.batch, "a-batch");
	assert_int_equal(ledger_find_source(l, &source.id, &s), 0);
	assert_true(file_identity_equal(&s.id, &source.id));
	assert_string_equal(s.path, source.path);
	assert_string_equal(s.reason, "no magic");
	assert_int_equal(s.mtime_ns, -1);
	assert_int_equal(s.offset, 3);
	assert_int_equal(s.exported, 2);
	assert_int_equal(s.state, SOURCE_QUARANTINED);
	ledger_close(l);
}

static void another_chunk_of_the_same_nanosecond_is_another(void **state)
{
	struct ledger *l = open_ledger();
	struct chunk_key key = chunk.key;
	struct chunk_record c;

	(void)state;
	assert_int_equal(ledger_put_chunk(l, &chunk), 0);
	key.fingerprint++;
	assert_int_equal(ledger_find_chunk(l, &key, &c), -ENOENT);
	ledger_close(l);
}

static void what_is_rolled_back_was_never_there(void **state)
{
	struct ledger *l = open_ledger();
	struct chunk_record c;

	(void)state;
	assert_int_equal(ledger_begin(l), 0);
	assert_int_equal(ledger_put_chunk(l, &chunk), 0);
	ledger_rollback(l);
	ledger_rollback(l);
	assert_int_equal(ledger_find_chunk(l, &chunk.key, &c), -ENOENT);
	ledger_close(l);
}

static void a_second_one_is_refused_until_the_first_ends(void **state)
{
	struct ledger *l = open_ledger(), *second = NULL;
	int status;

	(void)state;
	/* In a process of its own, as locks are a process's. */
	if (!fork())
		_exit(ledger_open("ledger", &second) == -EBUSY ? 0 : 1);
	wait(&status);
	assert_int_equal(status, 0);
	ledger_close(l);
	ledger_close(open_ledger());
}

static void write_file(const char *path, const void *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
}

static size_t read_file(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, out, size);

	close(fd);
	return n < 0 ? 0 : (size_t)n;
}

static void what_is_no_ledger_stays_as_it_is(void **state)
{
	static const char *const contents[] = { "x", "SQLite format 3", "chunk,offset\n1,2\n" };
	struct ledger *l = NULL;
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(contents) / sizeof(*contents); i++) {
		size_t len = strlen(contents[i]);

		write_file("ledger", contents[i], len);
		assert_int_equal(ledger_open("ledger", &l), -EMEDIUMTYPE);
		assert_int_equal(read_file("ledger", text, sizeof(text)), len);
		assert_memory_equal(text, contents[i], len);
	}
	assert_int_equal(unlink("ledger"), 0);
	assert_int_equal(mkfifo("ledger", 0600), 0);
	assert_true(ledger_open("ledger", &l) < 0);
	assert_int_equal(ledger_open("no/where", &l), -ENOENT);
}

static void another_programs_database_stays_as_it_is(void **state)
{
	char before[16384], after[16384];
	struct ledger *l = NULL;
	sqlite3 *db;
	size_t len;

	(void)state;
	assert_int_equal(sqlite3_open("ledger", &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "CREATE TABLE chunk (a)", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	len = read_file("ledger", before, sizeof(before));
	assert_int_equal(ledger_open("ledger", &l), -EMEDIUMTYPE);
	assert_int_equal(read_file("ledger", after, sizeof(after)), len);
	assert_memory_equal(before, after, len);
}

static void change(const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open("ledger", &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void one_of_a_newer_weft_is_refused(void **state)
{
	struct ledger *l = NULL;

	(void)state;
	ledger_close(open_ledger());
	change("PRAGMA user_version = 4");
	assert_int_equal(ledger_open("ledger", &l), -ENOTSUP);
}

static void one_of_an_older_weft_goes_on(void **state)
{
	static const char *const older[] = {
		"ALTER TABLE chunk DROP COLUMN seen; PRAGMA user_version = 2",
		"ALTER TABLE chunk DROP COLUMN seen; ALTER TABLE chunk DROP COLUMN held;"
		"PRAGMA user_version = 1",
	};

	(void)state;
	for (size_t version = 0; version < 2; version++) {
		struct chunk_record c;
		struct ledger *l = open_ledger();

		assert_int_equal(ledger_put_chunk(l, &chunk), 0);
		ledger_close(l);
		change(older[version]);
		for (int i = 0; i < 2; i++) {
			l = open_ledger();
			assert_int_equal(ledger_find_chunk(l, &chunk.key, &c), 0);
			assert_int_equal(c.exported, chunk.exported);
			assert_int_equal(c.held.n, 0);
			assert_int_equal(c.seen, 0);
			ledger_close(l);
		}
	}
}

static void what_is_held_is_there_after_it_was_closed(void **state)
{
	uint64_t at[] = { 68, 5000, UINT64_C(1) << 40 };
	struct chunk_record c = chunk;
	struct ledger *l = open_ledger();

	(void)state;
	c.held = (struct held){ .at = at, .n = 3 };
	assert_int_equal(ledger_put_chunk(l, &c), 0);
	ledger_close(l);
	l = open_ledger();
	assert_int_equal(ledger_find_chunk(l, &chunk.key, &c), 0);
	assert_int_equal(c.held.n, 3);
	assert_memory_equal(c.held.at, at, sizeof(at));
	held_deinit(&c.held);
	assert_int_equal(ledger_put_chunk(l, &chunk), 0);
	assert_int_equal(ledger_find_chunk(l, &chunk.key, &c), 0);
	assert_int_equal(c.held.n, 0);
	ledger_close(l);
}

static void held_bytes_that_are_none_are_damage(void **state)
{
	struct chunk_record c;
	struct ledger *l = open_ledger();

	(void)state;
	assert_int_equal(ledger_put_chunk(l, &chunk), 0);
	ledger_close(l);
	change("UPDATE chunk SET held = 'odd'");
	l = open_ledger();
	assert_int_equal(ledger_find_chunk(l, &chunk.key, &c), -EBADMSG);
	ledger_close(l);
}

static void a_missing_table_is_damage(void **state)
{
	struct ledger *l = NULL;

	(void)state;
	ledger_close(open_ledger());
	change("DROP TABLE chunk");
	assert_int_equal(ledger_open("ledger", &l), -EBADMSG);
}

/* Any page may be gone: it is refused or works, and never crashes. */
static void survives_damage(void **state)
{
	static char good[1 << 17], bad[1 << 17];
	struct ledger *l = open_ledger();
	size_t len;

	(void)state;
	assert_int_equal(ledger_put_chunk(l, &chunk), 0);
	assert_int_equal(ledger_put_source(l, &source), 0);
	ledger_close(l);
	len = read_file("ledger", good, sizeof(good));
	assert_in_range(len, 8192, sizeof(good) - 1);
	for (size_t at = 0; at < len; at += at < 100 ? 3 : 509) {
		struct chunk_record c = { 0 };
		struct source_record s;

		memcpy(bad, good, len);
		bad[at] = (char)(bad[at] ^ 0x55);
		write_file("ledger", bad, len);
		unlink("ledger-wal");
		l = NULL;
		if (ledger_open("ledger", &l))
			continue;
		ledger_find_chunk(l, &chunk.key, &c);
		held_deinit(&c.held);
		ledger_find_source(l, &source.id, &s);
		ledger_put_chunk(l, &chunk);
		ledger_prune(l, 100, 1);
		ledger_close(l);
	}
}

/* Reports each commit on a pipe, for ever. */
static void commit_on(int out)
{
	struct chunk_record c = chunk;
	struct ledger *l = open_ledger();

	if (ledger_find_chunk(l, &c.key, &c))
		c.exported = 0;
	for (;;) {
		c.exported++;
		if (ledger_begin(l) || ledger_put_chunk(l, &c) || ledger_commit(l))
			_exit(1);
		if (write(out, &c.exported, sizeof(c.exported)) < 0)
			_exit(1);
	}
}

static void a_killed_one_has_all_that_was_committed(void **state)
{
	uint64_t said = 0;

	(void)state;
	for (int i = 0; i < 10; i++) {
		struct chunk_record c;
		struct ledger *l;
		int fds[2];
		pid_t pid;

		assert_int_equal(pipe(fds), 0);
		pid = fork();
		if (!pid)
			commit_on(fds[1]);
		close(fds[1]);
		assert_int_equal(read(fds[0], &said, sizeof(said)), sizeof(said));
		usleep((useconds_t)(1000 * i));
		kill(pid, SIGKILL);
		while (read(fds[0], &said, sizeof(said)) > 0)
			;
		waitpid(pid, NULL, 0);
		close(fds[0]);
		l = open_ledger();
		assert_int_equal(ledger_find_chunk(l, &chunk.key, &c), 0);
		assert_in_range(c.exported, said, said + 1);
		ledger_close(l);
	}
}

/* A file may grow no more: what a full disk is too. */
static int fill_up(void)
{
	struct rlimit limit = { .rlim_cur = 1 << 16, .rlim_max = 1 << 16 };
	struct chunk_record c = chunk;
	struct ledger *l = open_ledger();
	int err = 0;

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	for (int i = 0; !err && i < 10000; i++) {
		c.key.start_ns = (uint64_t)i;
		err = ledger_begin(l);
		if (!err)
			err = ledger_put_chunk(l, &c);
		if (!err)
			err = ledger_commit(l);
	}
	ledger_rollback(l);
	/* What was there before is there. */
	if (!err ||
	    ledger_find_chunk(
		    l, &(struct chunk_key){ 0, chunk.key.start_ticks, chunk.key.fingerprint }, &c))
		return 1;
	ledger_close(l);
	return 0;
}

static void a_full_disk_is_said_and_costs_nothing_that_was_there(void **state)
{
	int status;

	(void)state;
	if (!fork())
		_exit(fill_up());
	wait(&status);
	assert_int_equal(status, 0);
	ledger_close(open_ledger());
}

static void a_root_is_known_once_it_was_added(void **state)
{
	struct ledger *l = open_ledger();

	(void)state;
	assert_int_equal(ledger_find_root(l, "/var/log/jfr"), -ENOENT);
	assert_int_equal(ledger_add_root(l, "/var/log/jfr", 5), 0);
	assert_int_equal(ledger_add_root(l, "/var/log/jfr", 6), 0);
	assert_int_equal(ledger_find_root(l, "/var/log/jfr"), 0);
	assert_int_equal(ledger_find_root(l, "/var/log/jfr/"), -ENOENT);
	ledger_close(l);
}

static int sum_lost(void *ctx, const char *reason, uint64_t n, uint64_t bytes)
{
	assert_string_equal(reason, "vanished");
	*(uint64_t *)ctx += n * 1000 + bytes;
	return 0;
}

static void losses_add_up(void **state)
{
	struct ledger *l = open_ledger();
	uint64_t sum = 0;

	(void)state;
	assert_int_equal(ledger_add_lost(l, "vanished", 1, 10), 0);
	assert_int_equal(ledger_add_lost(l, "vanished", 2, 5), 0);
	assert_int_equal(ledger_each_lost(l, sum_lost, &sum), 0);
	assert_int_equal(sum, 3015);
	ledger_close(l);
}

static void old_rows_go_but_what_still_grows_stays(void **state)
{
	struct ledger *l = open_ledger();
	struct chunk_record c = chunk;
	struct source_record s = source;

	(void)state;
	for (uint64_t i = 0; i < 10; i++) {
		c.key.start_ns = c.seen_ns = i;
		assert_int_equal(ledger_put_chunk(l, &c), 0);
	}
	assert_int_equal(ledger_put_source(l, &source), 0);
	s.id.ino = 1;
	s.state = SOURCE_GROWING;
	assert_int_equal(ledger_put_source(l, &s), 0);
	assert_int_equal(ledger_prune(l, 7, 2), 0);
	for (uint64_t i = 0; i < 10; i++) {
		c.key.start_ns = i;
		assert_int_equal(ledger_find_chunk(l, &c.key, &c), i < 8 ? -ENOENT : 0);
	}
	assert_int_equal(ledger_find_source(l, &source.id, &s), -ENOENT);
	s.id = (struct file_identity){ 1, 1, 17 };
	assert_int_equal(ledger_find_source(l, &s.id, &s), 0);
	ledger_close(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_OWN_FOLDER(rows_are_there_after_it_was_closed),
		IN_OWN_FOLDER(another_chunk_of_the_same_nanosecond_is_another),
		IN_OWN_FOLDER(what_is_rolled_back_was_never_there),
		IN_OWN_FOLDER(a_second_one_is_refused_until_the_first_ends),
		IN_OWN_FOLDER(what_is_no_ledger_stays_as_it_is),
		IN_OWN_FOLDER(another_programs_database_stays_as_it_is),
		IN_OWN_FOLDER(one_of_a_newer_weft_is_refused),
		IN_OWN_FOLDER(one_of_an_older_weft_goes_on),
		IN_OWN_FOLDER(what_is_held_is_there_after_it_was_closed),
		IN_OWN_FOLDER(held_bytes_that_are_none_are_damage),
		IN_OWN_FOLDER(a_missing_table_is_damage),
		IN_OWN_FOLDER(survives_damage),
		IN_OWN_FOLDER(a_killed_one_has_all_that_was_committed),
		IN_OWN_FOLDER(a_full_disk_is_said_and_costs_nothing_that_was_there),
		IN_OWN_FOLDER(a_root_is_known_once_it_was_added),
		IN_OWN_FOLDER(losses_add_up),
		IN_OWN_FOLDER(old_rows_go_but_what_still_grows_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
