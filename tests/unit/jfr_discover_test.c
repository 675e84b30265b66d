// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jfr/discover.h"

static char dir[64];

static int enter_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/weft-discover-XXXXXX");
	return mkdtemp(dir) ? chdir(dir) || mkdir("root", 0700) : -1;
}

static int remove_dir(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "cd / && rm -rf %s", dir);
	return system(command) || chdir("/");
}

static void sh(const char *command)
{
	assert_int_equal(system(command), 0);
}

static const struct discover_limits limits = { .depth = 3, .dirs = 20, .files = 20 };

static struct discover *discover_here(const struct discover_limits *with)
{
	struct discover *d = discover_new(with);

	assert_non_null(d);
	assert_int_equal(discover_add_root(d, "root"), 0);
	return d;
}

static char seen[4096];

/* Names in the order of their sight; each once. */
static void see(void *ctx, const struct found *found)
{
	char word[256];

	(void)ctx;
	snprintf(word, sizeof(word), "%s%s ", found->root ? "second:" : "", found->path);
	assert_true(S_ISREG(found->st.st_mode));
	if (!strstr(seen, word))
		strncat(seen, word, sizeof(seen) - strlen(seen) - 1);
}

static const char *scan(struct discover *d)
{
	*seen = 0;
	assert_int_equal(discover_scan(d, see, NULL), 0);
	return seen;
}

static const char *pump(struct discover *d)
{
	*seen = 0;
	assert_int_equal(discover_pump(d, see, NULL), 0);
	return seen;
}

static void a_scan_finds_files_below_its_roots(void **state)
{
	struct discover *d = discover_here(&limits);

	(void)state;
	sh("mkdir -p root/a/b other && touch root/x.jfr root/a/b/y && touch other/z");
	assert_int_equal(discover_add_root(d, "other"), 0);
	scan(d);
	assert_non_null(strstr(seen, "x.jfr "));
	assert_non_null(strstr(seen, "a/b/y "));
	assert_non_null(strstr(seen, "second:z "));
	assert_int_equal(discover_counts(d).files, 3);
	assert_int_equal(discover_counts(d).dirs, 4);
	assert_int_equal(discover_add_root(d, "nowhere"), -ENOENT);
	discover_free(d);
}

static void what_is_no_file_of_ours_is_passed_over(void **state)
{
	struct discover *d = discover_here(&limits);
	struct stat st;

	(void)state;
	sh("touch secret .hidden && mkdir root/.git && touch root/.git/a root/.b");
	sh("ln -s ../secret root/link && ln -s .. root/up && ln -s . root/loop && mkfifo "
	   "root/fifo");
	assert_string_equal(scan(d), "");
	assert_int_equal(discover_open(d, 0, "link", &st), -ENOTSUP);
	assert_int_equal(discover_open(d, 0, "up/secret", &st), -ELOOP);
	assert_int_equal(discover_open(d, 0, "../secret", &st), -EXDEV);
	assert_int_equal(discover_open(d, 0, "/etc/passwd", &st), -EXDEV);
	assert_int_equal(discover_open(d, 0, "fifo", &st), -ENOTSUP);
	assert_int_equal(discover_open(d, 0, "none", &st), -ENOENT);
	assert_int_equal(discover_open(d, 1, "none", &st), -ENOENT);
	discover_free(d);
}

static void changes_are_heard_of(void **state)
{
	static const struct {
		const char *command, *heard;
	} cases[] = {
		{ "touch root/a", "a " },
		{ "echo x >> root/a", "a " },
		{ "mv root/a root/b", "b " },
		{ "echo x > new && mv new root/c", "c " },
		{ "rm root/b", "" },
		{ "mkdir root/d", "" },
		{ "touch root/d/e", "d/e " },
		{ "mkdir -p root/f/g && touch root/f/g/h", "f/g/h " },
		{ "mkdir -p tree/t && touch tree/t/u && mv tree root/", "tree/t/u " },
		{ "ln -s /etc/passwd root/l; mkfifo root/p", "" },
	};
	struct discover *d = discover_here(&limits);

	(void)state;
	scan(d);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		sh(cases[i].command);
		assert_string_equal(pump(d), cases[i].heard);
	}
	discover_free(d);
}

static void a_directory_that_moves_is_scanned_again(void **state)
{
	struct discover *d = discover_here(&limits);

	(void)state;
	sh("mkdir root/a");
	scan(d);
	sh("mv root/a root/b");
	*seen = 0;
	assert_int_equal(discover_pump(d, see, NULL), 1);
	scan(d);
	sh("touch root/b/x");
	assert_string_equal(pump(d), "b/x ");
	sh("mv root/b .");
	assert_int_equal(discover_pump(d, see, NULL), 1);
	scan(d);
	sh("touch b/y");
	assert_string_equal(pump(d), "");
	discover_free(d);
}

static void a_root_may_go_and_come(void **state)
{
	struct discover *d = discover_here(&limits);

	(void)state;
	sh("touch root/a");
	assert_string_equal(scan(d), "a ");
	sh("rm -r root");
	discover_pump(d, see, NULL);
	assert_string_equal(scan(d), "");
	sh("mkdir root && touch root/b");
	assert_string_equal(scan(d), "b ");
	sh("touch root/c");
	assert_string_equal(pump(d), "c ");
	discover_free(d);
}

static void limits_hold_and_are_counted(void **state)
{
	struct discover_limits small = { .depth = 1, .dirs = 2, .files = 3 };
	struct discover *d = discover_here(&small);

	(void)state;
	sh("mkdir -p root/a/deep root/b && touch root/1 root/2 root/3 root/4 root/a/deep/x");
	scan(d);
	assert_int_equal(discover_counts(d).files, 3);
	assert_int_equal(discover_counts(d).dirs, 2);
	assert_in_range(discover_counts(d).over_limit, 2, 3);
	/* A file that changes is no new one. */
	for (int i = 0; i < 10; i++) {
		sh("echo x >> root/1");
		assert_string_equal(pump(d), "1 ");
	}
	discover_free(d);
}

static void the_output_below_a_root_is_no_input(void **state)
{
	struct discover *d = discover_here(&limits);
	struct stat st;

	(void)state;
	sh("mkdir root/out && touch root/out/x root/in");
	assert_int_equal(stat("root/out", &st), 0);
	discover_exclude(d, &st);
	assert_string_equal(scan(d), "in ");
	sh("touch root/out/y");
	assert_string_equal(pump(d), "");
	discover_free(d);
}

static void a_queue_that_ran_over_asks_for_a_scan(void **state)
{
	struct discover *d = discover_here(&limits);

	(void)state;
	scan(d);
	/* The kernel keeps 16384 events by default, and one of each run of equal ones. */
	sh("n=$(cat /proc/sys/fs/inotify/max_queued_events); cd root; "
	   "[ $n -gt 20000 ] || python3 -c 'import os\nfor i in range('$n'//2+10):\n"
	   " os.close(os.open(str(i % 9), os.O_CREAT|os.O_WRONLY))\n"
	   " os.rename(str(i % 9), \"m\"+str(i % 9))\n'");
	for (int i = 0; i < 1000; i++)
		if (discover_pump(d, see, NULL))
			break;
	/* Where the kernel's queue is longer than that there is nothing to see. */
	if (discover_counts(d).overflows)
		assert_non_null(strstr(scan(d), "m8 "));
	discover_free(d);
}

#define OWN_DIR(test) cmocka_unit_test_setup_teardown(test, enter_dir, remove_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OWN_DIR(a_scan_finds_files_below_its_roots),
		OWN_DIR(what_is_no_file_of_ours_is_passed_over),
		OWN_DIR(changes_are_heard_of),
		OWN_DIR(a_directory_that_moves_is_scanned_again),
		OWN_DIR(a_root_may_go_and_come),
		OWN_DIR(limits_hold_and_are_counted),
		OWN_DIR(the_output_below_a_root_is_no_input),
		OWN_DIR(a_queue_that_ran_over_asks_for_a_scan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
