// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "bpf/pid_set.h"

enum { N_PIDS = 3000 };

static void has_what_was_added_and_not_removed(void **state)
{
	static bool is_in[N_PIDS + 1];
	struct pid_set s = { 0 };
	size_t n = 0;

	(void)state;
	srand(1);
	for (int turn = 0; turn < 100000; turn++) {
		pid_t pid = 1 + rand() % N_PIDS;

		if (rand() % 2) {
			n += !is_in[pid];
			is_in[pid] = true;
			assert_int_equal(pid_set_add(&s, pid), 0);
		} else {
			n -= is_in[pid];
			is_in[pid] = false;
			pid_set_remove(&s, pid);
		}
		assert_int_equal(s.n, n);
		if (turn % 1000)
			continue;
		for (pid_t p = 1; p <= N_PIDS; p++)
			assert_int_equal(pid_set_has(&s, p), is_in[p]);
	}
	pid_set_deinit(&s);
}

static void an_empty_set_has_nothing(void **state)
{
	struct pid_set s = { 0 };

	(void)state;
	assert_false(pid_set_has(&s, 1));
	pid_set_remove(&s, 1);
	assert_true(pid_set_add(&s, 0) < 0);
	assert_false(pid_set_has(&s, 0));
	pid_set_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_what_was_added_and_not_removed),
		cmocka_unit_test(an_empty_set_has_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
