// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <errno.h>

#include "core/array.h"

struct item {
	uint32_t first;
	uint64_t key;
};

static void elements_stay_while_an_array_grows(void **state)
{
	struct item *items = NULL;
	size_t cap = 0;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(ARRAY_RESERVE(items, cap, i), 0);
		assert_true(cap > i);
		items[i].first = i;
	}
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(items[i].first, i);
	/* An index far behind the end. */
	assert_int_equal(ARRAY_RESERVE(items, cap, 100000), 0);
	assert_true(cap > 100000);
	assert_int_equal(items[999].first, 999);
	free(items);
}

static void array_that_cannot_grow_is_as_it_was(void **state)
{
	struct item *items = calloc(1, sizeof(*items)), *before = items;
	size_t cap = 1;

	(void)state;
	assert_int_equal(ARRAY_RESERVE(items, cap, SIZE_MAX / 4), -ENOMEM);
	assert_ptr_equal(items, before);
	assert_int_equal(cap, 1);
	free(items);
}

static void count_up_to_agrees_with_counting(void **state)
{
	struct item items[9];

	(void)state;
	for (size_t n = 0; n <= 9; n++) {
		for (size_t i = 0; i < n; i++)
			items[i].key = UINT64_C(10) * (i - i % 3); /* with equal ones */
		for (uint64_t value = 0; value < 100; value += 5) {
			size_t counted = 0;

			while (counted < n && items[counted].key <= value)
				counted++;
			assert_int_equal(ARRAY_COUNT_UP_TO(items, n, key, value), counted);
		}
		/* Nothing is cut to the width of a field. */
		assert_int_equal(ARRAY_COUNT_UP_TO(items, n, key, UINT64_MAX), n);
	}
}

static int compare_items(const void *a, const void *b, void *n_calls)
{
	const struct item *x = a, *y = b;

	++*(size_t *)n_calls;
	return x->key < y->key ? -1 : x->key > y->key;
}

static void arrays_are_sorted_in_place(void **state)
{
	struct item items[300];
	size_t n_calls;

	(void)state;
	for (size_t n = 0; n <= 300; n++) {
		uint64_t sum = 0;

		for (uint32_t i = 0; i < n; i++) {
			uint64_t key = n % 3 ? i * UINT32_C(2654435761) % (n + 1) : n - i;

			items[i] = (struct item){ (uint32_t)key, key };
			sum += key;
		}
		n_calls = 0;
		array_sort_in_place(items, n, sizeof(*items), compare_items, &n_calls);
		assert_in_range(n_calls, 0, 2 * n * 10);
		for (size_t i = 0; i < n; i++) {
			assert_true(!i || items[i - 1].key <= items[i].key);
			assert_int_equal(items[i].first, items[i].key);
			sum -= items[i].key;
		}
		assert_int_equal(sum, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arrays_are_sorted_in_place),
		cmocka_unit_test(elements_stay_while_an_array_grows),
		cmocka_unit_test(array_that_cannot_grow_is_as_it_was),
		cmocka_unit_test(count_up_to_agrees_with_counting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
