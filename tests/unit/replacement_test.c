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

#include "exporter/replacement.h"
#include "tests/unit/own_folder.h"

static int replace(const char *path)
{
	struct replacement r;
	int err = replacement_open(&r, path, false);

	if (err)
		return err;
	assert_int_equal(write(r.fd, "complete", 8), 8);
	return replacement_finish(&r);
}

static bool is_link(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISLNK(st.st_mode);
}

static bool is_complete(const char *path)
{
	char text[16] = "";
	FILE *f = fopen(path, "r");

	if (!f)
		return false;
	if (!fgets(text, sizeof(text), f))
		*text = 0;
	fclose(f);
	return !strcmp(text, "complete");
}

static void link_keeps_pointing_at_the_file(void **state)
{
	(void)state;
	fclose(fopen("target", "w"));
	assert_int_equal(symlink("target", "link"), 0);
	assert_int_equal(replace("link"), 0);
	assert_true(is_link("link"));
	assert_false(is_link("target"));
	assert_true(is_complete("target"));
}

static void link_to_nothing_yet_leads_to_the_new_file(void **state)
{
	struct replacement r;

	(void)state;
	assert_int_equal(mkdir("folder", 0700), 0);
	assert_int_equal(symlink("folder/two", "one"), 0);
	assert_int_equal(symlink("../three", "folder/two"), 0);
	assert_int_equal(replacement_open(&r, "one", false), 0);
	replacement_abandon(&r);
	assert_int_equal(access("three", F_OK), -1);
	assert_int_equal(replace("one"), 0);
	assert_true(is_link("one"));
	assert_true(is_link("folder/two"));
	assert_true(is_complete("three"));
}

static void link_to_nothing_that_cannot_be_followed_is_an_error(void **state)
{
	static const struct {
		const char *target;
		uid_t owner; /* 0: us */
		int err;
	} cases[] = {
		{ "none/file", 0, -ENOENT },
		{ "link", 0, -ELOOP },
		{ "folder/", 0, -EISDIR },
		{ "planted", 65533, -EACCES },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(symlink(cases[i].target, "link"), 0);
		if (cases[i].owner && lchown("link", cases[i].owner, (gid_t)-1) < 0)
			skip(); /* only root can give it away */
		assert_int_equal(replace("link"), cases[i].err);
		assert_true(is_link("link"));
		assert_int_equal(access("planted", F_OK), -1);
		unlink("link");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_OWN_FOLDER(link_keeps_pointing_at_the_file),
		IN_OWN_FOLDER(link_to_nothing_yet_leads_to_the_new_file),
		IN_OWN_FOLDER(link_to_nothing_that_cannot_be_followed_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
