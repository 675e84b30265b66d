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
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/interrupt.h"
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
	assert_int_equal(exporter_write_file(&text, NULL, path, false), 0);
	assert_content(path, "complete");
	assert_int_equal(exporter_write_file(&much, NULL, path, false), 0);
	assert_int_equal(exporter_write_file(&text, NULL, path, false), 0);
	assert_content(path, "complete");
	assert_int_equal(n_files(), 1);
}

static void failed_export_leaves_nothing_or_the_old_file(void **state)
{
	const char *path = path_of("out.txt");

	(void)state;
	assert_int_equal(exporter_write_file(&half, NULL, path, false), -ENOMEM);
	assert_int_equal(n_files(), 0);
	assert_int_equal(exporter_write_file(&text, NULL, path, false), 0);
	assert_int_equal(exporter_write_file(&half, NULL, path, false), -ENOMEM);
	assert_content(path, "complete");
	assert_int_equal(n_files(), 1);
}

static void full_disk_is_reported_for_small_and_large_profiles(void **state)
{
	(void)state;
	assert_int_equal(exporter_write_file(&text, NULL, "/dev/full", false), -ENOSPC);
	assert_int_equal(exporter_write_file(&much, NULL, "/dev/full", false), -ENOSPC);
}

static void missing_directory_and_directory_are_errors(void **state)
{
	(void)state;
	assert_int_equal(exporter_write_file(&text, NULL, path_of("none/out.txt"), false), -ENOENT);
	assert_int_equal(exporter_write_file(&text, NULL, dir, false), -EISDIR);
	assert_int_equal(n_files(), 0);
}

static void write_file(const char *path, const char *content)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(content, f);
	fclose(f);
}

/* Holds a lease on old.txt, which makes others wait who open it, and meanwhile puts a link to
   victim.txt where it was. Says on a pipe that it is ready. */
static void swap_when_opened(int ready)
{
	int fd = open("old.txt", O_RDWR);
	sigset_t set;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (fcntl(fd, F_SETLEASE, F_WRLCK) < 0 || write(ready, "x", 1) != 1)
		_exit(1);
	sigwait(&set, &sig);
	if (rename("old.txt", "moved.txt") < 0 || symlink("victim.txt", "old.txt") < 0)
		_exit(2);
	_exit(0);
}

static void file_that_is_swapped_for_a_link_while_it_is_opened_leads_nowhere_else(void **state)
{
	static const struct {
		const char *output, *written;
	} cases[] = { { "old.txt", "old.txt" }, { "link.txt", "moved.txt" } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int ready[2], status;
		pid_t pid;
		char c;

		write_file(path_of("victim.txt"), "victim");
		unlink(path_of("old.txt"));
		write_file(path_of("old.txt"), "old");
		unlink(path_of("link.txt"));
		assert_int_equal(symlink("old.txt", path_of("link.txt")), 0);
		assert_int_equal(pipe(ready), 0);
		pid = fork();
		if (!pid)
			swap_when_opened(chdir(dir) ? -1 : ready[1]);
		close(ready[1]);
		if (read(ready[0], &c, 1) != 1)
			skip(); /* no leases here */
		close(ready[0]);
		assert_int_equal(exporter_write_file(&text, NULL, path_of(cases[i].output), false),
				 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		assert_content(path_of("victim.txt"), "victim");
		assert_content(path_of(cases[i].written), "complete");
	}
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 0777;
}

static void private_file_is_for_its_owner_only(void **state)
{
	const char *path = path_of("out.txt");
	mode_t before = umask(022);

	(void)state;
	assert_int_equal(exporter_write_file(&text, NULL, path, false), 0);
	assert_int_equal(mode_of(path), 0644);
	assert_int_equal(exporter_write_file(&text, NULL, path, true), 0);
	assert_int_equal(mode_of(path), 0600);
	umask(before);
}

static void private_file_of_sudo_is_its_users(void **state)
{
	static const struct {
		const char *uid;
		bool is_private, is_theirs;
	} cases[] = {
		{ "65533", true, true }, { "65533", false, false }, { "", true, false },
		{ "-1", true, false },	 { "65533x", true, false }, { "4294967295", true, false },
		{ NULL, true, false },
	};
	const char *path = path_of("out.txt");
	struct stat st;

	(void)state;
	if (geteuid())
		skip();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		setenv("SUDO_GID", "65532", 1);
		if (cases[i].uid)
			setenv("SUDO_UID", cases[i].uid, 1);
		else
			unsetenv("SUDO_UID");
		assert_int_equal(exporter_write_file(&text, NULL, path, cases[i].is_private), 0);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_uid, cases[i].is_theirs ? 65533 : 0);
		assert_int_equal(st.st_gid, cases[i].is_theirs ? 65532 : 0);
	}
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
}

static int write_and_be_killed(const struct profile *p, FILE *out)
{
	write_text(p, out);
	fflush(out);
	return raise(SIGKILL);
}

static int write_and_be_interrupted(const struct profile *p, FILE *out)
{
	write_text(p, out);
	fflush(out);
	interrupt_catch();
	for (int i = 0; i < 3; i++)
		raise(SIGINT);
	return 0;
}

static int write_and_be_ended(const struct profile *p, FILE *out)
{
	write_text(p, out);
	fflush(out);
	interrupt_clean_up();
	return raise(SIGTERM);
}

/* Writes out.txt in a child, which has no /proc if it is put into dir: then its file has a name
   from the beginning. */
static int status_of_writing(int (*write_profile)(const struct profile *p, FILE *out),
			     bool is_in_chroot)
{
	const struct exporter_ops ops = { .name = "x",
					  .extension = ".txt",
					  .write = write_profile };
	pid_t pid = fork();
	int status;

	if (!pid) {
		if (chdir(dir) || (is_in_chroot && chroot(".")))
			_exit(99);
		_exit(exporter_write_file(&ops, NULL, "out.txt", false) ? 1 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void killed_run_leaves_nothing(void **state)
{
	int fd = open(dir, O_TMPFILE | O_WRONLY, 0600);

	(void)state;
	if (fd < 0)
		skip(); /* here it has to have a name */
	close(fd);
	assert_int_equal(WTERMSIG(status_of_writing(write_and_be_killed, false)), SIGKILL);
	assert_int_equal(n_files(), 0);
	assert_int_equal(status_of_writing(write_text, false), 0);
	assert_int_equal(WTERMSIG(status_of_writing(write_and_be_killed, false)), SIGKILL);
	assert_content(path_of("out.txt"), "complete");
	assert_int_equal(n_files(), 1);
}

static void named_temporary_is_renamed_or_goes_with_the_signal(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(WTERMSIG(status_of_writing(write_and_be_interrupted, true)), SIGINT);
	assert_int_equal(n_files(), 0);
	assert_int_equal(WTERMSIG(status_of_writing(write_and_be_ended, true)), SIGTERM);
	assert_int_equal(n_files(), 0);
	assert_int_equal(WEXITSTATUS(status_of_writing(write_half, true)), 1);
	assert_int_equal(n_files(), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(status_of_writing(write_text, true), 0);
		assert_content(path_of("out.txt"), "complete");
		assert_int_equal(n_files(), 1);
	}
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
	assert_int_equal(exporter_write_file(&text, NULL, path, false), 0);
	pthread_join(reader, NULL);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
}

static void leftovers_of_killed_runs_are_no_obstacle(void **state)
{
	char name[64];

	(void)state;
	/* Only what is there already needs such a name for a moment. */
	fclose(fopen(path_of("out.txt"), "w"));
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), ".weft-%d-%d.tmp", getpid(), i);
		fclose(fopen(path_of(name), "w"));
	}
	assert_int_equal(exporter_write_file(&text, NULL, path_of("out.txt"), false), 0);
	assert_int_equal(n_files(), 4);
}

static void every_format_reports_a_stream_that_fails(void **state)
{
	struct profile *p = sample_profile();

	(void)state;
	for (size_t i = 0; exporters[i]; i++)
		assert_int_equal(exporter_write_file(exporters[i], p, "/dev/full", false), -ENOSPC);
	profile_free(p);
}

static void every_format_takes_an_empty_profile(void **state)
{
	struct profile *p = profile_new();

	(void)state;
	for (size_t i = 0; exporters[i]; i++)
		assert_int_equal(exporter_write_file(exporters[i], p, path_of("out"), false), 0);
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
		IN_DIR(file_that_is_swapped_for_a_link_while_it_is_opened_leads_nowhere_else),
		IN_DIR(private_file_is_for_its_owner_only),
		IN_DIR(private_file_of_sudo_is_its_users),
		IN_DIR(killed_run_leaves_nothing),
		IN_DIR(named_temporary_is_renamed_or_goes_with_the_signal),
		IN_DIR(fifo_is_written_to_and_stays),
		IN_DIR(leftovers_of_killed_runs_are_no_obstacle),
		cmocka_unit_test(every_format_reports_a_stream_that_fails),
		IN_DIR(every_format_takes_an_empty_profile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
