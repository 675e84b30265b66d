// SPDX-License-Identifier: Apache-2.0
/* The files of a watch: found by what they are, sorted by what they are called. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "jfr/files.h"

static void sorted_files_are_in_the_order_of_their_roots_and_names(void **state)
{
	static const struct {
		unsigned int root;
		const char *path;
	} given[] = { { 1, "2026_11_22_10_00_00_7/a.jfr" },
		      { 0, "2026_11_22_10_00_02_7/a.jfr" },
		      { 1, "2026_11_21_10_00_00_7/a.jfr" },
		      { 0, "2026_11_22_10_00_01_7/b.jfr" },
		      { 0, "2026_11_22_10_00_01_7/a.jfr" } };
	static const size_t sorted[] = { 4, 3, 1, 2, 0 };
	struct files f = { 0 };

	(void)state;
	files_sort(&f);
	for (size_t i = 0; i < 5; i++)
		assert_non_null(files_add(&f, 1, i, given[i].root, given[i].path));
	files_sort(&f);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(f.items[i]->ino, sorted[i]);
		assert_ptr_equal(files_find(&f, 1, sorted[i]), f.items[i]);
	}
	files_deinit(&f);
}

static void files_are_found_until_they_are_removed(void **state)
{
	struct files f = { 0 };
	char name[32];

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "%d.jfr", (int)(i * 7 % 1000));
		assert_non_null(files_add(&f, i % 3, i, 0, name));
	}
	files_sort(&f);
	while (f.n) {
		struct file *file = f.items[f.n / 2];
		uint64_t dev = file->dev, ino = file->ino;

		assert_ptr_equal(files_find(&f, dev, ino), file);
		files_remove(&f, f.n / 2);
		assert_null(files_find(&f, dev, ino));
	}
	assert_null(files_find(&f, 0, 0));
	files_deinit(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sorted_files_are_in_the_order_of_their_roots_and_names),
		cmocka_unit_test(files_are_found_until_they_are_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
