// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/filemap.h"

static int file_of(const void *bytes, size_t len)
{
	int fd = memfd_create("filemap_test", 0);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	return fd;
}

static void bytes_are_the_files_and_a_zero_follows(void **state)
{
	static char page[4096];
	int fd, err = 0;
	struct filemap *m;

	(void)state;
	memset(page, 'x', sizeof(page));
	fd = file_of(page, sizeof(page));
	m = filemap_new(fd, &err);
	assert_non_null(m);
	assert_int_equal(filemap_len(m), sizeof(page));
	assert_memory_equal(filemap_data(m), page, sizeof(page));
	assert_int_equal(((const char *)filemap_data(m))[sizeof(page)], 0);
	assert_false(filemap_is_cut(m));
	filemap_free(m);
	close(fd);
}

static void a_file_cut_while_mapped_reads_as_zeros(void **state)
{
	static char pages[3 * 4096];
	struct filemap *maps[300];
	int fd, err = 0;

	(void)state;
	memset(pages, 'x', sizeof(pages));
	fd = file_of(pages, sizeof(pages));
	/* More than one block of guards, all of them cut. */
	for (size_t i = 0; i < 300; i++)
		assert_non_null(maps[i] = filemap_new(fd, &err));
	assert_int_equal(ftruncate(fd, 4096), 0);
	for (size_t i = 0; i < 300; i++) {
		const volatile char *data = filemap_data(maps[i]);

		assert_int_equal(data[0], 'x');
		assert_false(filemap_is_cut(maps[i]));
		assert_int_equal(data[4096], 0);
		assert_int_equal(data[3 * 4096 - 1], 0);
		assert_true(filemap_is_cut(maps[i]));
		filemap_free(maps[i]);
	}
	close(fd);
}

static void a_sigbus_elsewhere_still_kills(void **state)
{
	int fd = file_of("x", 1), err = 0, status;
	struct filemap *m;
	pid_t pid;

	(void)state;
	/* The guard hands on to what was there before it; the test framework's handler would go on
	   with the next test in the child. */
	signal(SIGBUS, SIG_DFL);
	m = filemap_new(fd, &err);
	assert_non_null(m);
	pid = fork();
	if (!pid) {
		volatile char *other = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, fd, 0);

		signal(SIGBUS, SIG_DFL);
		filemap_free(m);
		(void)other[4096];
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	/* A signal that somebody sent has no address that we could mend. */
	pid = fork();
	if (!pid) {
		raise(SIGBUS);
		raise(SIGBUS);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	filemap_free(m);
	close(fd);
}

static void only_regular_files_with_bytes_are_mapped(void **state)
{
	int empty = memfd_create("empty", 0), dir = open("/", O_RDONLY),
	    null = open("/dev/null", O_RDONLY);
	int pipes[2], err;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	assert_null(filemap_new(empty, &err));
	assert_int_equal(err, -EBADMSG);
	assert_null(filemap_new(dir, &err));
	assert_int_equal(err, -EINVAL);
	assert_null(filemap_new(null, &err));
	assert_int_equal(err, -EINVAL);
	assert_null(filemap_new(pipes[0], &err));
	assert_int_equal(err, -EINVAL);
	assert_null(filemap_new(-1, &err));
	assert_int_equal(err, -EBADF);
	close(empty), close(dir), close(null), close(pipes[0]), close(pipes[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_the_files_and_a_zero_follows),
		cmocka_unit_test(a_file_cut_while_mapped_reads_as_zeros),
		cmocka_unit_test(a_sigbus_elsewhere_still_kills),
		cmocka_unit_test(only_regular_files_with_bytes_are_mapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
