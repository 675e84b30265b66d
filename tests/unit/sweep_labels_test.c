// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "bpf/sweep_labels.h"
#include "core/log.h"
#include "core/profile.h"
#include "runtimes/python_tasks.h"

static void names_of_asyncio_are_one(void **state)
{
	static const struct {
		const char *name, *label;
	} cases[] = {
		{ "Task-1", "Task-*" },
		{ "Task-10000", "Task-*" },
		{ "Task-", "Task-" },
		{ "Task-1x", "Task-1x" },
		{ "Task-x1", "Task-x1" },
		{ "task-1", "task-1" },
		{ "refresher", "refresher" },
		{ "", "" },
		{ NULL, "" },
	};
	struct profile *p = profile_new();
	struct sweep_labels *sl = sweep_labels_new(p, 0);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(profile_get_string(p, sweep_labels_name(sl, cases[i].name)),
				    cases[i].label);
	assert_int_equal(sweep_labels_over_budget(sl), 0);
	sweep_labels_free(sl);
	profile_free(p);
}

static void names_beyond_their_share_are_none(void **state)
{
	struct profile *p = profile_new();
	struct sweep_labels *sl = sweep_labels_new(p, 16384);
	uint32_t first = sweep_labels_name(sl, "first");
	uint64_t n_over;
	char name[32];

	(void)state;
	log_set_level(LOG_QUIET);
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "request %d", i);
		sweep_labels_name(sl, name);
	}
	n_over = sweep_labels_over_budget(sl);
	assert_true(n_over > 500 && n_over < 1000);
	assert_int_equal(sweep_labels_name(sl, "another"), 0);
	assert_int_equal(sweep_labels_name(sl, "first"), first);
	assert_string_equal(profile_get_string(p, sweep_labels_name(sl, "Task-5")), "Task-*");
	sweep_labels_free(sl);
	profile_free(p);
}

static void spans_without_room_for_ids_keep_names_that_are_there(void **state)
{
	struct profile *p = profile_new();
	struct sweep_labels *sl = sweep_labels_new(p, 16384);
	char of_all[] = "GET /";
	struct python_task t = { .span = { { 0xab, [15] = 1 }, { 0xcd } }, .span_name = of_all };
	uint32_t trace = 0, span = 0, name = 0, n_with = 0;

	(void)state;
	log_set_level(LOG_QUIET);
	sweep_labels_span(sl, &t, &trace, &span, &name);
	assert_string_equal(profile_get_string(p, trace), "ab000000000000000000000000000001");
	assert_string_equal(profile_get_string(p, span), "cd00000000000000");
	for (int i = 0; i < 1000; i++) {
		trace = span = name = 0;
		t.span.trace_id[1] = t.span.span_id[1] = (uint8_t)i;
		t.span.trace_id[2] = t.span.span_id[2] = (uint8_t)(i >> 8);
		sweep_labels_span(sl, &t, &trace, &span, &name);
		assert_int_equal(!trace, !span);
		assert_string_equal(profile_get_string(p, name), "GET /");
		n_with += span != 0;
	}
	assert_in_range(n_with, 10, 100);
	assert_in_range(sweep_labels_over_budget(sl), 900, 990);
	sweep_labels_free(sl);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_asyncio_are_one),
		cmocka_unit_test(names_beyond_their_share_are_none),
		cmocka_unit_test(spans_without_room_for_ids_keep_names_that_are_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
