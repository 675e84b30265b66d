// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/log.h"
#include "tests/unit/kernel_fake.h"
#include "unwinders/python_walk.h"

#define N_WORDS 65536

/* The fake knows no map of Python processes: for us it is full. */
static void a_python_that_finds_no_room_is_walked_natively_and_counted(void **state)
{
	static const struct python_process python = { .frame_len = 72 };
	static const struct unwind_mapping mapping = { .start = 0x400000, .len = 0x1000 };
	static const void *const owner = NULL;
	struct process_image image = {
		.pid = 7, .mappings = &mapping, .owners = &owner, .n = 1, .python = &python
	};
	struct unwind_maps *m = fake_maps(N_WORDS);
	struct vector *v = NULL;

	(void)state;
	log_set_level(LOG_QUIET);
	assert_int_equal(unwind_maps_pythons_refused(m), 0);
	assert_int_equal(unwind_maps_set_process(m, &v, &image), 0);
	assert_non_null(v);
	assert_int_equal(unwind_maps_pythons_refused(m), 1);
	assert_int_equal(fake_slot(7)->entry.flags & UNWIND_PROCESS_PYTHON, 0);
	image.python = NULL;
	assert_int_equal(unwind_maps_set_process(m, &v, &image), 0);
	assert_int_equal(unwind_maps_pythons_refused(m), 1);
	unwind_maps_drop_process(m, &v);
	unwind_maps_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_python_that_finds_no_room_is_walked_natively_and_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
