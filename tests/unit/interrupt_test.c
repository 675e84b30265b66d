// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/interrupt.h"
#include "core/hurry.h"

/* How a process ends that gets these signals, then exits with their count. */
static int end_of(const int *signals, int n)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		interrupt_catch();
		for (int i = 0; i < n; i++)
			raise(signals[i]);
		_exit(interrupt_count());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void two_interrupts_are_counted(void **state)
{
	static const int signals[] = { SIGINT, SIGTERM };

	(void)state;
	for (int n = 0; n <= 2; n++) {
		int status = end_of(signals, n);

		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), n);
	}
}

static void the_third_ends_the_process_by_its_signal(void **state)
{
	static const int signals[] = { SIGINT, SIGINT, SIGINT },
			 others[] = { SIGINT, SIGHUP, SIGTERM };
	int status = end_of(signals, 3);

	(void)state;
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
	status = end_of(others, 3);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static void the_second_is_heard_by_whoever_is_busy(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	if (!pid) {
		bool is_early;

		interrupt_catch();
		raise(SIGINT);
		is_early = hurry_is_on();
		raise(SIGINT);
		_exit(!is_early && hurry_is_on());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), true);
}

/* As under nohup. */
static void what_was_ignored_stays_ignored(void **state)
{
	static const int signals[] = { SIGHUP, SIGTERM, SIGHUP, SIGHUP };
	int status;

	(void)state;
	signal(SIGHUP, SIG_IGN);
	status = end_of(signals, 4);
	signal(SIGHUP, SIG_DFL);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
}

/* As in the background of a script. */
static void where_interrupts_were_ignored_sent_ones_are_heard(void **state)
{
	static const int signals[] = { SIGINT };
	int status;

	(void)state;
	signal(SIGINT, SIG_IGN);
	status = end_of(signals, 1);
	signal(SIGINT, SIG_DFL);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
}

static void a_signal_of_a_process_was_not_typed(void **state)
{
	(void)state;
	interrupt_catch();
	raise(SIGINT);
	assert_int_equal(interrupt_count(), 1);
	assert_false(interrupt_was_typed());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_interrupts_are_counted),
		cmocka_unit_test(the_third_ends_the_process_by_its_signal),
		cmocka_unit_test(the_second_is_heard_by_whoever_is_busy),
		cmocka_unit_test(what_was_ignored_stays_ignored),
		cmocka_unit_test(where_interrupts_were_ignored_sent_ones_are_heard),
		cmocka_unit_test(a_signal_of_a_process_was_not_typed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
