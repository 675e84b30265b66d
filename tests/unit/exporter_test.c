// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exporter/exporter.h"
#include "tests/unit/sample_profile.h"

static char dir[64];

static int make_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/weft-exporter-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

/* How many files the directory has. */
static int n_files(void)
{
	DIR *d = opendir(dir);
	int n = -2;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void assert_content(const char *path, const char *want)
{
	char text[64];
	FILE *f = fopen(path, "r");
	size_t len;

	assert_non_null(f);
	len = fread(text, 1, sizeof(text) - 1, f);
	text[len] = 0;
	fclose(f);
	assert_string_equal(text, want);
}

static int write_text(const struct profile *p, FILE *out)
{
	(void)p;
	fputs("complete", out);
	return 0;
}

static int write_half(const struct profile *p, FILE *out)
{
	(void)p;
	fputs("half", out);
	return -ENOMEM;
}

/* As much as it takes to notice that nothing is stored. */
static int write_much(const struct profile *p, FILE *out)
{
	(void)p;
	for (int i = 0; i < 100000; i++)
		if (fprintf(out, "line %d\n", i) < 0)
			return -EIO;
	return 0;
}

static const struct exporter_ops text = { .name = "text",
					  .extension = ".txt",
					  .write = write_text };
static const struct exporter_ops half = { .name = "half",
					  .extension = ".txt",
					  .write = write_half };
static const struct exporter_ops much = { .name = "much",
					  .extension = ".txt",
					  .write = write_much };

static void longest_extension_wins(void **state)
{
	static const struct {
		const char *path, *name;
	} cases[] = {
		{ "weft.pb.gz", "pprof" },
		{ "/tmp/a.b/out.pb.gz", "pprof" },
		{ "out.pb", NULL },
		{ "pb.gz", NULL },
		{ "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct exporter_ops *ops = exporter_by_path(cases[i].path);

		if (!cases[i].name)
			assert_null(ops);
		else
			assert_string_equal(ops ? ops->name : "none", cases[i].name);
	}
}

static void every_exporter_is_found_by_its_name_and_extension(void **state)
{
	(void)state;
	for (size_t i = 0; exporters[i]; i++) {
		assert_ptr_equal(exporter_by_name(exporters[i]->name), exporters[i]);
		assert_ptr_equal(exporter_by_path(exporters[i]->extension), exporters[i]);
		assert_non_null(exporters[i]->help);
	}
	assert_null(exporter_by_name("nothing"));
}

static void complete_file_replaces_the_old_one(void **state)
{
	const char *path = path_of("out.txt");

	(void)state;
	assert_int_equal(exporter_write_file(&text, NULL, path), 0);
	assert_content(path, "complete");
	assert_int_equal(exporter_write_file(&much, NULL, path), 0);
	assert_int_equal(exporter_write_file(&text, NULL, path), 0);
	assert_content(path, "complete");
	assert_int_equal(n_files(), 1);
}

static void failed_export_leaves_nothing_or_the_old_file(void **state)
{
	const char *path = path_of("out.txt");

	(void)state;
	assert_int_equal(exporter_write_file(&half, NULL, path), -ENOMEM);
	assert_int_equal(n_files(), 0);
	assert_int_equal(exporter_write_file(&text, NULL, path), 0);
	assert_int_equal(exporter_write_file(&half, NULL, path), -ENOMEM);
	assert_content(path, "complete");
	assert_int_equal(n_files(), 1);
}

static void full_disk_is_reported_for_small_and_large_profiles(void **state)
{
	(void)state;
	assert_int_equal(exporter_write_file(&text, NULL, "/dev/full"), -ENOSPC);
	assert_int_equal(exporter_write_file(&much, NULL, "/dev/full"), -ENOSPC);
}

static void missing_directory_and_directory_are_errors(void **state)
{
	(void)state;
	assert_int_equal(exporter_write_file(&text, NULL, path_of("none/out.txt")), -ENOENT);
	assert_int_equal(exporter_write_file(&text, NULL, dir), -EISDIR);
	assert_int_equal(n_files(), 0);
}

static void link_keeps_pointing_at_the_file(void **state)
{
	char target[128];
	struct stat st;

	(void)state;
	strcpy(target, path_of("target.txt"));
	fclose(fopen(target, "w"));
	assert_int_equal(symlink("target.txt", path_of("link.txt")), 0);
	assert_int_equal(exporter_write_file(&text, NULL, path_of("link.txt")), 0);
	assert_int_equal(lstat(path_of("link.txt"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_content(target, "complete");
	assert_int_equal(n_files(), 2);
}

static void *read_fifo(void *path)
{
	assert_content(path, "complete");
	return NULL;
}

static void fifo_is_written_to_and_stays(void **state)
{
	char *path = path_of("fifo");
	pthread_t reader;
	struct stat st;

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(pthread_create(&reader, NULL, read_fifo, path), 0);
	assert_int_equal(exporter_write_file(&text, NULL, path), 0);
	pthread_join(reader, NULL);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
}

static void leftovers_of_killed_runs_are_no_obstacle(void **state)
{
	char name[64];

	(void)state;
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), ".weft-%d-%d.tmp", getpid(), i);
		fclose(fopen(path_of(name), "w"));
	}
	assert_int_equal(exporter_write_file(&text, NULL, path_of("out.txt")), 0);
	assert_int_equal(n_files(), 4);
}

static void every_format_reports_a_stream_that_fails(void **state)
{
	struct profile *p = sample_profile();

	(void)state;
	for (size_t i = 0; exporters[i]; i++)
		assert_int_equal(exporter_write_file(exporters[i], p, "/dev/full"), -ENOSPC);
	profile_free(p);
}

static void every_format_takes_an_empty_profile(void **state)
{
	struct profile *p = profile_new();

	(void)state;
	for (size_t i = 0; exporters[i]; i++)
		assert_int_equal(exporter_write_file(exporters[i], p, path_of("out")), 0);
	profile_free(p);
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(longest_extension_wins),
		cmocka_unit_test(every_exporter_is_found_by_its_name_and_extension),
		IN_DIR(complete_file_replaces_the_old_one),
		IN_DIR(failed_export_leaves_nothing_or_the_old_file),
		cmocka_unit_test(full_disk_is_reported_for_small_and_large_profiles),
		IN_DIR(missing_directory_and_directory_are_errors),
		IN_DIR(link_keeps_pointing_at_the_file),
		IN_DIR(fifo_is_written_to_and_stays),
		IN_DIR(leftovers_of_killed_runs_are_no_obstacle),
		cmocka_unit_test(every_format_reports_a_stream_that_fails),
		IN_DIR(every_format_takes_an_empty_profile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
