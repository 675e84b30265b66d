// SPDX-License-Identifier: Apache-2.0
#include "cmd/jfr_paths.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/log.h"
#include "core/options.h"

#define NOBODY 65534

static char dir[64];

static int enter_dir(void **state)
{
	(void)state;
	log_set_level(LOG_QUIET);
	strcpy(dir, "/tmp/weft-paths-XXXXXX");
	return mkdtemp(dir) ? chdir(dir) : -1;
}

static int remove_dir(void **state)
{
	char command[256];

	(void)state;
	snprintf(command, sizeof(command), "cd / && chmod -R u+rwx %s && rm -rf %s", dir, dir);
	return system(command) || chdir("/");
}

static void sh(const char *command)
{
	assert_int_equal(system(command), 0);
}

/* What arguments lead to, found ones with a + before them, as one text. */
static int list(const char *arguments, char *out, size_t size)
{
	struct string_list words = { 0 };
	struct jfr_paths paths;
	int err;

	while (*arguments) {
		size_t len = strcspn(arguments, " ");

		assert_int_equal(string_list_add(&words, arguments, len), 0);
		arguments += len + (arguments[len] == ' ');
	}
	err = jfr_paths_init(&paths, &words);
	*out = 0;
	for (size_t i = 0; i < paths.n; i++)
		snprintf(out + strlen(out), size - strlen(out), "%s%s ",
			 paths.items[i].is_found ? "+" : "", paths.items[i].path);
	jfr_paths_deinit(&paths);
	for (size_t i = 0; i < words.n; i++)
		free((char *)words.items[i]);
	free(words.items);
	return err;
}

static void arguments_lead_to_files(void **state)
{
	static const struct {
		const char *arguments, *files;
	} cases[] = {
		{ "one", "one " },
		{ "two one", "two one " }, /* as they were said */
		{ "one one", "one one " },
		{ "empty", "empty " }, /* somebody wants to know of it */
		{ "tree", "+tree/a/x +tree/a/y.jfr +tree/b +tree/c/d/z " },
		{ "tree/ one", "+tree/a/x +tree/a/y.jfr +tree/b +tree/c/d/z one " },
		{ "link", "+link/x +link/y.jfr " }, /* that was said is followed */
		{ "nothing", "" },
		{ "fifo", "fifo " }, /* who opens it refuses it */
	};
	char files[512];

	(void)state;
	sh("mkdir -p tree/a tree/c/d nothing && touch empty tree/empty");
	sh("echo 1 >one; cp one two; cp one tree/a/y.jfr; cp one tree/a/x; cp one tree/b");
	sh("cp one tree/c/d/z; ln -s tree/a link; mkfifo fifo nothing/fifo");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(list(cases[i].arguments, files, sizeof(files)), 0);
		assert_string_equal(files, cases[i].files);
	}
}

static void links_below_a_directory_lead_nowhere(void **state)
{
	char files[512];

	(void)state;
	sh("mkdir -p tree/a away && echo 1 >away/x && echo 1 >tree/a/y");
	sh("ln -s ../away tree/out; ln -s .. tree/a/up; ln -s self tree/self; ln -s x away/z");
	sh("ln -s ../away/x tree/file; ln -s gone tree/gone; ln -s loop loop");
	assert_int_equal(list("tree", files, sizeof(files)), 0);
	assert_string_equal(files, "+tree/a/y ");
	assert_int_equal(list("loop", files, sizeof(files)), -ELOOP);
}

static void what_is_not_there_ends_it(void **state)
{
	char files[512];

	(void)state;
	sh("echo 1 >one");
	assert_int_equal(list("one gone one", files, sizeof(files)), -ENOENT);
	assert_int_equal(list("one/two", files, sizeof(files)), -ENOTDIR);
}

static void beside_a_directory_that_may_not_be_read_the_others_are(void **state)
{
	char files[512];
	int err;

	(void)state;
	sh("mkdir -p tree/a tree/b tree/c && echo 1 >tree/a/x && cp tree/a/x tree/b && cp tree/a/x "
	   "tree/c && chmod -R a+rX . && chmod 0 tree/b");
	if (!geteuid() && seteuid(NOBODY))
		skip();
	err = list("tree", files, sizeof(files));
	assert_int_equal(seteuid(getuid()), 0);
	assert_int_equal(err, 0);
	assert_string_equal(files, "+tree/a/x +tree/c/x ");
}

#define OWN_DIR(test) cmocka_unit_test_setup_teardown(test, enter_dir, remove_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OWN_DIR(arguments_lead_to_files),
		OWN_DIR(links_below_a_directory_lead_nowhere),
		OWN_DIR(what_is_not_there_ends_it),
		OWN_DIR(beside_a_directory_that_may_not_be_read_the_others_are),
	};

	return cmocka_run_group_tests_name("cmd/jfr_paths", tests, NULL, NULL);
}
