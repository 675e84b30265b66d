// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jfr/openers.h"

static struct open_question ask_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return (struct open_question){ .dev = st.st_dev, .ino = st.st_ino };
}

static int make_file(void)
{
	char path[] = "/tmp/weft-openers-XXXXXX";
	int fd = mkstemp(path);

	unlink(path);
	return fd;
}

static void who_has_a_file_open_is_seen_until_it_ends(void **state)
{
	int fd = make_file();
	struct open_question q = ask_of(fd);
	pid_t pid = fork();

	(void)state;
	if (!pid)
		for (;;)
			pause();
	assert_true(openers_find("/proc", &q, 1) >= 0);
	assert_true(q.is_open);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_true(openers_find("/proc", &q, 1) >= 0);
	assert_false(q.is_open);
	close(fd);
}

static void what_this_process_has_open_does_not_count(void **state)
{
	int fd = make_file();
	struct open_question q = ask_of(fd);

	(void)state;
	assert_true(openers_find("/proc", &q, 1) >= 0);
	assert_false(q.is_open);
	close(fd);
}

static void where_there_is_no_proc_nothing_is_known(void **state)
{
	struct open_question q = { 0 };

	(void)state;
	assert_int_equal(openers_find("/nowhere", &q, 1), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_has_a_file_open_is_seen_until_it_ends),
		cmocka_unit_test(what_this_process_has_open_does_not_count),
		cmocka_unit_test(where_there_is_no_proc_nothing_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
