// SPDX-License-Identifier: Apache-2.0
#include "jfr/event_row.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define N(array) (sizeof(array) / sizeof((array)[0]))

static void events_are_found_by_name_and_by_family(void **state)
{
	static const struct {
		const char *name;
		enum event_group group;
		enum event_rule rule;
	} cases[] = {
		{ "jdk.ExecutionSample", GROUP_CPU, RULE_EXECUTION },
		{ "com.oracle.jdk.ExecutionSample", GROUP_CPU, RULE_EXECUTION }, /* JDK 9, 10 */
		{ "jdk.NativeMethodSample", GROUP_NATIVE, RULE_NATIVE },
		{ "jdk.CPUTimeSample", GROUP_CPU, RULE_CPU_TIME },
		{ "jdk.CPUTimeSamplesLost", GROUP_CPU, RULE_CPU_LOST },
		{ "profiler.WallClockSample", GROUP_WALL, RULE_WALL },
		{ "jdk.GCPhaseParallel", GROUP_GC, RULE_NONE },
		{ "jdk.GarbageCollection", GROUP_GC, RULE_NONE },
		{ "jdk.ZAllocationStall", GROUP_GC, RULE_NONE },
		{ "jdk.SafepointBegin", GROUP_SAFEPOINT, RULE_NONE },
		{ "jdk.Compilation", GROUP_COMPILE, RULE_NONE },
		{ "jdk.ThreadStart", GROUP_THREAD, RULE_NONE },
		{ "jdk.ThreadPark", GROUP_PARK, RULE_PARK },
		{ "jdk.ThreadCPULoad", GROUP_LOAD, RULE_NONE },
		{ "jdk.VirtualThreadStart", GROUP_THREAD, RULE_NONE },
		{ "jdk.VirtualThreadPinned", GROUP_PINNED, RULE_DURATION },
		{ "profiler.Free", GROUP_MALLOC, RULE_NONE },
		{ "my.own.Event", GROUP_OTHER, RULE_NONE },
		{ "jdk.", GROUP_OTHER, RULE_NONE },
		{ "", GROUP_OTHER, RULE_NONE },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		const struct event_row *row = event_row_find(cases[i].name);

		assert_int_equal(row->group, cases[i].group);
		assert_int_equal(row->rule, cases[i].rule);
	}
}

static void groups_are_bits_of_a_list(void **state)
{
	static const struct {
		const char *list;
		uint32_t groups;
	} cases[] = {
		{ "cpu", 1 << GROUP_CPU },     { "cpu,alloc", 1 << GROUP_CPU | 1 << GROUP_ALLOC },
		{ "other", 1 << GROUP_OTHER }, { "all", (1u << N_GROUPS) - 1 },
		{ "jdk.CPULoad", 0 },	       { "io,jdk.CPULoad,GC*", 1 << GROUP_IO },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		uint32_t groups = 7;
		char wrong[16];

		assert_true(event_groups_parse(cases[i].list, &groups, wrong, sizeof(wrong)));
		assert_int_equal(groups, cases[i].groups);
	}
	for (unsigned int i = 0; i < N_GROUPS; i++) {
		uint32_t groups;
		char wrong[16];

		assert_true(event_groups_parse(event_group_name((enum event_group)i), &groups,
					       wrong, sizeof(wrong)));
		assert_int_equal(groups, 1u << i);
	}
}

static void the_word_that_nobody_knows_is_named(void **state)
{
	static const struct {
		const char *list, *wrong;
	} cases[] = {
		{ "cpu,aloc,io", "aloc" },
		{ "", "" },
		{ "cpu,", "" },
		{ "cp", "cp" },
		{ "al", "al" },
		{ "a-very-long-word-that-is-cut", "a-very-long-wor" },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		uint32_t groups;
		char wrong[16];

		assert_false(event_groups_parse(cases[i].list, &groups, wrong, sizeof(wrong)));
		assert_string_equal(wrong, cases[i].wrong);
	}
}

static void a_list_names_single_types(void **state)
{
	static const struct {
		const char *list, *type;
		bool is_named;
	} cases[] = {
		{ "jdk.CPULoad", "jdk.CPULoad", true },
		{ "CPULoad", "jdk.CPULoad", true },
		{ "cpu,CPULoad,io", "jdk.CPULoad", true },
		{ "jdk.CPULoad", "jdk.CPULoads", false },
		{ "CPULoad", "my.CPULoad", false },
		{ "jdk.GC*", "jdk.GCPhasePause", true },
		{ "GC*", "jdk.GCPhasePause", true },
		{ "my.*", "my.own.Event", true },
		{ "*", "jdk.CPULoad", true },
		{ "cpu", "jdk.CPULoad", false },
		{ "cpu", "cpu", false }, /* a type of this name is not meant */
		{ "", "jdk.CPULoad", false },
		{ "jdk.[", "jdk.CPULoad", false },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++)
		assert_int_equal(event_list_has(cases[i].list, cases[i].type), cases[i].is_named);
}

static void every_column_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < N_COLUMNS; i++)
		for (unsigned int j = 0; j < i; j++) {
			const char *type, *unit, *other;

			event_column_type((enum event_column)j, &other, &unit);
			event_column_type((enum event_column)i, &type, &unit);
			assert_string_not_equal(type, other);
			assert_true(*unit);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_are_found_by_name_and_by_family),
		cmocka_unit_test(groups_are_bits_of_a_list),
		cmocka_unit_test(the_word_that_nobody_knows_is_named),
		cmocka_unit_test(a_list_names_single_types),
		cmocka_unit_test(every_column_has_a_name_of_its_own),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("jfr/event_row", tests, NULL, NULL);
}
