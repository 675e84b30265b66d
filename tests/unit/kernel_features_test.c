// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "bpf/kernel_features.h"

static void what_is_missing_is_named_with_what_it_means(void **state)
{
	static const struct {
		struct kernel_features features;
		const char *text;
	} cases[] = {
		{ { true, true, true, true }, "" },
		{ { true, true, true, false },
		  "no array values of more than 4 MiB (Linux 6.1 has them): that much is for "
		  "unwind "
		  "tables" },
		{ { false, true, false, true },
		  "no bpf_get_current_ancestor_cgroup_id (Linux 5.16): --cgroup costs a little "
		  "more; no bpf_task_pt_regs (Linux 5.15): weft finds a thread's registers in the "
		  "kernel itself" },
	};
	char text[KERNEL_FEATURES_MISSING_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(kernel_features_missing(&cases[i].features, text),
				    cases[i].text);
}

static void nothing_at_all_fits_the_text(void **state)
{
	const struct kernel_features none = { 0 };
	char text[KERNEL_FEATURES_MISSING_MAX];

	(void)state;
	assert_true(strlen(kernel_features_missing(&none, text)) < sizeof(text) - 1);
	assert_non_null(strstr(text, "unwind tables"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_missing_is_named_with_what_it_means),
		cmocka_unit_test(nothing_at_all_fits_the_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
