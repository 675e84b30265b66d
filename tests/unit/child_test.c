// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/child.h"

static void start(struct child *c, const char *script)
{
	char *command[] = { "sh", "-c", (char *)script, NULL };

	assert_int_equal(child_start(c, command), 0);
	assert_true(c->pid > 0);
}

static void nothing_runs_before_go(void **state)
{
	char path[] = "/tmp/weft-child-XXXXXX", script[64];
	struct child c;
	int fd = mkstemp(path);

	(void)state;
	close(fd);
	snprintf(script, sizeof(script), "rm %s", path);
	start(&c, script);
	usleep(50000);
	assert_int_equal(access(path, F_OK), 0);
	assert_false(child_has_ended(&c));
	assert_int_equal(child_go(&c), 0);
	assert_true(child_wait(&c, false));
	assert_int_equal(child_exit_status(&c), 0);
	assert_int_equal(access(path, F_OK), -1);
	child_release(&c);
}

static void a_released_child_never_runs(void **state)
{
	char path[] = "/tmp/weft-child-XXXXXX", script[64];
	struct child c;

	(void)state;
	close(mkstemp(path));
	snprintf(script, sizeof(script), "rm %s", path);
	start(&c, script);
	child_release(&c);
	assert_true(child_wait(&c, false));
	assert_int_equal(access(path, F_OK), 0);
	unlink(path);
}

static void exit_status_is_a_shells(void **state)
{
	static const struct {
		const char *script;
		int status;
	} cases[] = {
		{ "exit 0", 0 },       { "exit 3", 3 },		 { "exit 255", 255 },
		{ "kill -9 $$", 137 }, { "kill -TERM $$", 143 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct child c;

		start(&c, cases[i].script);
		assert_int_equal(child_go(&c), 0);
		assert_true(child_wait(&c, false));
		assert_int_equal(child_exit_status(&c), cases[i].status);
		child_release(&c);
	}
}

static void an_exec_that_fails_is_told(void **state)
{
	static const struct {
		const char *path;
		int err, status;
	} cases[] = {
		{ "/no/such/program", -ENOENT, 127 },
		{ "/etc/passwd", -EACCES, 126 },
		{ "/", -EACCES, 126 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *command[] = { (char *)cases[i].path, NULL };
		struct child c;

		assert_int_equal(child_start(&c, command), 0);
		assert_int_equal(child_go(&c), cases[i].err);
		assert_true(child_wait(&c, false));
		assert_int_equal(child_exit_status(&c), cases[i].status);
		child_release(&c);
	}
}

static void a_child_that_still_runs_is_asked_to_end(void **state)
{
	struct child c;

	(void)state;
	start(&c, "exec sleep 60");
	assert_int_equal(child_go(&c), 0);
	assert_false(child_has_ended(&c));
	assert_true(child_wait(&c, true));
	assert_int_equal(child_exit_status(&c), 128 + SIGTERM);
	child_release(&c);
}

static void its_cpu_time_is_known_at_the_end(void **state)
{
	struct child c;

	(void)state;
	start(&c, "i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done");
	assert_int_equal(child_go(&c), 0);
	assert_true(child_wait(&c, false));
	assert_true(c.cpu_ns > 1000000);
	child_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_runs_before_go),
		cmocka_unit_test(a_released_child_never_runs),
		cmocka_unit_test(exit_status_is_a_shells),
		cmocka_unit_test(an_exec_that_fails_is_told),
		cmocka_unit_test(a_child_that_still_runs_is_asked_to_end),
		cmocka_unit_test(its_cpu_time_is_known_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
