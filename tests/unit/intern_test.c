// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/intern.h"

static void same_bytes_get_the_same_id(void **state)
{
	struct intern *in = intern_new();

	(void)state;
	for (uint32_t i = 0; i < 10000; i++)
		assert_int_equal(intern_add(in, &i, sizeof(i)), i + 1);
	for (uint32_t i = 0; i < 10000; i++) {
		size_t len;

		assert_int_equal(intern_add(in, &i, sizeof(i)), i + 1);
		assert_memory_equal(intern_get(in, i + 1, &len), &i, sizeof(i));
		assert_int_equal(len, sizeof(i));
	}
	assert_int_equal(intern_count(in), 10000);
	assert_null(intern_get(in, 0, NULL));
	assert_null(intern_get(in, 10001, NULL));
	intern_free(in);
}

static void large_and_empty_entries_are_kept(void **state)
{
	static char large[200000];
	struct intern *in = intern_new();
	uint32_t small, empty, big;

	(void)state;
	large[7] = 1;
	small = intern_add(in, "a", 1);
	big = intern_add(in, large, sizeof(large));
	empty = intern_add(in, "", 0);
	assert_int_equal(intern_add(in, large, sizeof(large)), big);
	assert_int_equal(intern_add(in, "", 0), empty);
	assert_int_equal(intern_find(in, "a", 1), small);
	assert_int_equal(intern_find(in, "b", 1), 0);
	assert_true(intern_memory(in) >= sizeof(large));
	intern_free(in);
}

static void no_bytes_are_an_entry_too(void **state)
{
	struct intern *in = intern_new();
	uint32_t id;
	size_t len = 1;

	(void)state;
	assert_int_equal(intern_find(in, NULL, 0), 0);
	id = intern_add(in, NULL, 0);
	assert_int_equal(intern_add(in, NULL, 0), id);
	assert_int_equal(intern_find(in, "", 0), id);
	assert_string_equal(intern_get(in, id, &len), "");
	assert_int_equal(len, 0);
	intern_free(in);
	intern_free(NULL);
}

static void bytes_do_not_move_and_are_aligned(void **state)
{
	struct intern *in = intern_new();
	const char *first;

	(void)state;
	intern_add(in, "abc", 3);
	first = intern_get(in, 1, NULL);
	for (uint32_t i = 0; i < 5000; i++) {
		uint32_t id = intern_add(in, &i, 1 + i % 4);

		assert_int_equal((uintptr_t)intern_get(in, id, NULL) % 8, 0);
	}
	assert_ptr_equal(intern_get(in, 1, NULL), first);
	assert_string_equal(first, "abc");
	intern_free(in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_bytes_get_the_same_id),
		cmocka_unit_test(large_and_empty_entries_are_kept),
		cmocka_unit_test(no_bytes_are_an_entry_too),
		cmocka_unit_test(bytes_do_not_move_and_are_aligned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
