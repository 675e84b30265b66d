// SPDX-License-Identifier: Apache-2.0
/* A copy of what is known of a process, while that becomes something else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "unwinders/python_walk.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

static struct python_process places[2];
static struct python_process *found[2]; /* the first time, and the second */
static void (*meanwhile)(void);
static int n_found;

static struct python_process *python_process_find(__u32 pid)
{
	assert_int_equal(pid, 7);
	if (n_found && meanwhile)
		meanwhile();
	return found[n_found++ & 1];
}

#include "bpf/python_known.bpf.h"

static int copies(void (*fn)(void))
{
	static struct python_process out;

	meanwhile = fn;
	n_found = 0;
	return python_process_copy(&out, 7);
}

static int set_up(void **state)
{
	(void)state;
	memset(places, 0, sizeof(places));
	places[0].serial = 1;
	places[1].serial = 2;
	found[0] = found[1] = &places[0];
	return 0;
}

static void change(void)
{
	places[0].serial = 3;
}

static void what_stays_is_copied(void **state)
{
	(void)state;
	assert_true(copies(NULL));
	found[0] = found[1] = NULL;
	assert_false(copies(NULL));
}

static void what_was_said_anew_meanwhile_is_not(void **state)
{
	(void)state;
	found[1] = &places[1];
	assert_false(copies(NULL));
	found[1] = NULL;
	assert_false(copies(NULL));
}

/* The same place was another process's in between. */
static void what_came_back_to_its_place_is_not(void **state)
{
	(void)state;
	assert_false(copies(change));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_stays_is_copied, set_up),
		cmocka_unit_test_setup(what_was_said_anew_meanwhile_is_not, set_up),
		cmocka_unit_test_setup(what_came_back_to_its_place_is_not, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
