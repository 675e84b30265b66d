// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/privileges.h"

/* Somebody else who has one capability, as by the program's file. */
static void become_user_with_capability(void)
{
	const cap_value_t one = CAP_DAC_READ_SEARCH;
	cap_t caps;

	prctl(PR_SET_KEEPCAPS, 1);
	if (setresuid(65534, 65534, 65534))
		_exit(10);
	caps = cap_init();
	cap_set_flag(caps, CAP_PERMITTED, 1, &one, CAP_SET);
	cap_set_flag(caps, CAP_EFFECTIVE, 1, &one, CAP_SET);
	if (cap_set_proc(caps))
		_exit(11);
	cap_free(caps);
}

static int in_child(int (*fn)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(fn());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WEXITSTATUS(status);
}

static int drop_as_user(void)
{
	become_user_with_capability();
	if (!privileges_any())
		return 1;
	if (privileges_drop())
		return 2;
	return privileges_any() ? 3 : 0;
}

static int drop_as_root(void)
{
	return privileges_drop() || !privileges_any();
}

static void capabilities_of_the_file_are_dropped_for_good(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(in_child(drop_as_user), 0);
}

static void root_stays_root(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(in_child(drop_as_root), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(capabilities_of_the_file_are_dropped_for_good),
		cmocka_unit_test(root_stays_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
