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
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/jfr_batch.h"
#include "core/log.h"
#include "jfr/identity.h"
#include "tests/unit/own_folder.h"

static bool is_stopped(void)
{
	return true;
}

static struct batch_place *open_place(void)
{
	struct batch_place *place = batch_place_open("out", ".json", is_stopped);

	assert_non_null(place);
	return place;
}

/* All that ls shows, hidden names too. */
static const char *names(void)
{
	static char text[1024];
	FILE *f = popen("ls -A out | tr '\\n' ' '", "r");

	text[fread(text, 1, sizeof(text) - 1, f)] = 0;
	pclose(f);
	return text;
}

static void a_batch_appears_when_it_ends(void **state)
{
	struct batch_place *place = open_place();
	FILE *out;

	(void)state;
	assert_int_equal(batch_begin(place, "one", &out), 0);
	fputs("{}\n", out);
	fflush(out);
	assert_string_equal(names(), "");
	assert_int_equal(batch_end(place), 0);
	assert_string_equal(names(), "");
	assert_int_equal(batch_place_sync(place), 0);
	assert_string_equal(names(), "one.json ");
	batch_place_close(place);
}

static void several_appear_together(void **state)
{
	struct batch_place *place = open_place();
	FILE *out;

	(void)state;
	for (int i = 0; i < 3; i++) {
		char name[8] = { (char)('a' + i) };

		assert_int_equal(batch_begin(place, name, &out), 0);
		fputs("{}\n", out);
		assert_int_equal(batch_end(place), 0);
	}
	assert_int_equal(batch_discard(place, "d"), 0);
	assert_int_equal(batch_place_sync(place), 0);
	assert_string_equal(names(), "a.json b.json c.json ");
	assert_int_equal(batch_discard(place, "b"), 0);
	assert_string_equal(names(), "a.json c.json ");
	/* Those that nobody waited for go with the place. */
	assert_int_equal(batch_begin(place, "e", &out), 0);
	assert_int_equal(batch_end(place), 0);
	batch_place_close(place);
	assert_string_equal(names(), "a.json c.json ");
}

static void one_of_the_same_name_takes_its_place(void **state)
{
	struct batch_place *place = open_place();
	char text[8] = "";
	FILE *out;

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(batch_begin(place, "one", &out), 0);
		fputs(i ? "new" : "old..", out);
		assert_int_equal(batch_end(place), 0);
		assert_int_equal(batch_place_sync(place), 0);
	}
	assert_string_equal(names(), "one.json ");
	out = fopen("out/one.json", "r");
	assert_int_equal(fread(text, 1, sizeof(text), out), 3);
	fclose(out);
	assert_string_equal(text, "new");
	batch_place_close(place);
}

static void what_is_abandoned_leaves_nothing(void **state)
{
	struct batch_place *place = open_place();
	FILE *out;

	(void)state;
	assert_int_equal(batch_begin(place, "one", &out), 0);
	fputs("x", out);
	batch_abandon(place);
	batch_abandon(place);
	assert_int_equal(batch_begin(place, "two", &out), 0);
	batch_place_close(place);
	assert_string_equal(names(), "");
}

static int fill_up(void)
{
	struct rlimit limit = { .rlim_cur = 4096, .rlim_max = 4096 };
	struct batch_place *place = open_place();
	FILE *out;

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	if (batch_begin(place, "one", &out))
		return 1;
	for (int i = 0; i < 10000; i++)
		fputs("a line of text\n", out);
	if (!batch_end(place))
		return 2;
	batch_place_close(place);
	return 0;
}

static void a_full_disk_leaves_nothing(void **state)
{
	int status;

	(void)state;
	if (!fork())
		_exit(fill_up());
	wait(&status);
	assert_int_equal(status, 0);
	assert_string_equal(names(), "");
}

static void a_pipe_that_nobody_reads_does_not_keep_it(void **state)
{
	struct batch_place *place;
	int fds[2], saved = dup(STDOUT_FILENO), begun, ended = 0;
	FILE *out;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	fflush(stdout);
	dup2(fds[1], STDOUT_FILENO);
	place = batch_place_open("-", ".json", is_stopped);
	begun = place ? batch_begin(place, "one", &out) : -1;
	for (int i = 0; !begun && i < 100000; i++)
		fputs("a line of text\n", out);
	if (!begun)
		ended = batch_end(place);
	batch_place_close(place);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(fds[0]);
	close(fds[1]);
	assert_int_equal(begun, 0);
	assert_true(ended < 0);
}

static void names_are_those_of_the_chunk_and_the_offset(void **state)
{
	const struct chunk_key key = { UINT64_C(1700000000123456789), 5, 7 };
	struct chunk_key other = key;
	char name[BATCH_NAME_MAX], again[BATCH_NAME_MAX];

	(void)state;
	batch_name(&key, 68, name);
	batch_name(&key, 68, again);
	assert_string_equal(name, again);
	assert_memory_equal(name, "20231114T221320Z-", 17);
	assert_string_equal(name + 33, "-000000000044");
	batch_name(&key, 69, again);
	assert_true(strcmp(name, again) < 0);
	other.fingerprint++;
	batch_name(&other, 68, again);
	assert_true(strcmp(name, again));
	other = (struct chunk_key){ UINT64_MAX, UINT64_MAX, UINT64_MAX };
	batch_name(&other, UINT64_MAX, name);
	assert_in_range(strlen(name), 30, BATCH_NAME_MAX - 1);
	assert_null(strchr(name, '/'));
}

static void a_place_that_is_none_is_said(void **state)
{
	(void)state;
	log_set_level(LOG_QUIET);
	assert_null(batch_place_open("no/where", ".json", is_stopped));
	fclose(fopen("file", "w"));
	assert_null(batch_place_open("file", ".json", is_stopped));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_OWN_FOLDER(a_batch_appears_when_it_ends),
		IN_OWN_FOLDER(several_appear_together),
		IN_OWN_FOLDER(one_of_the_same_name_takes_its_place),
		IN_OWN_FOLDER(what_is_abandoned_leaves_nothing),
		IN_OWN_FOLDER(a_full_disk_leaves_nothing),
		IN_OWN_FOLDER(a_pipe_that_nobody_reads_does_not_keep_it),
		IN_OWN_FOLDER(names_are_those_of_the_chunk_and_the_offset),
		IN_OWN_FOLDER(a_place_that_is_none_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
