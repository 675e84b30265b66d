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
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/child.h"
#include "cmd/interrupt.h"

static void start(struct child *c, const char *script)
{
	char *command[] = { "sh", "-c", (char *)script, NULL };

	assert_int_equal(child_start(c, command, STDOUT_FILENO), 0);
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

		assert_int_equal(child_start(&c, command, STDOUT_FILENO), 0);
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

static void its_stdout_can_be_another(void **state)
{
	char *command[] = { "echo", "said", NULL }, text[16] = "";
	struct child c;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(child_start(&c, command, fds[1]), 0);
	assert_int_equal(child_go(&c), 0);
	assert_true(child_wait(&c, false));
	assert_int_equal(read(fds[0], text, sizeof(text) - 1), 5);
	assert_string_equal(text, "said\n");
	close(fds[0]);
	close(fds[1]);
	child_release(&c);
}

/* In a process of its own, as catching lasts. */
static void signals_are_to_it_what_they_were_before(void **state)
{
	static const struct {
		const char *script;
		int status;
	} cases[] = {
		{ "kill -HUP $$; kill -INT $$; exit 7", 7 },
		{ "kill -TERM $$; exit 7", 128 + SIGTERM },
	};
	int status;

	(void)state;
	if (!fork()) {
		signal(SIGHUP, SIG_IGN);
		signal(SIGINT, SIG_IGN);
		interrupt_catch();
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			char *command[] = { "sh", "-c", (char *)cases[i].script, NULL };
			struct child c;

			if (child_start(&c, command, STDOUT_FILENO) || child_go(&c) ||
			    !child_wait(&c, false) || child_exit_status(&c) != cases[i].status)
				_exit(1);
			child_release(&c);
		}
		_exit(0);
	}
	assert_true(wait(&status) > 0);
	assert_int_equal(status, 0);
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
		cmocka_unit_test(its_stdout_can_be_another),
		cmocka_unit_test(signals_are_to_it_what_they_were_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
