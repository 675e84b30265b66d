// SPDX-License-Identifier: Apache-2.0
#include "jfr/weight.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/unit/jfr_meaning.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define MS INT64_C(1000000)

enum shape { CPU_TIME, CPU_LOST, THROWN, ERROR, CPUS, LIMITS };

static const struct event_shape shapes[] = {
	[CPU_TIME] = { 201,
		       "jdk.CPUTimeSample",
		       { START_FIELD,
			 STACK_FIELD,
			 THREAD_FIELD,
			 { "samplingPeriod", T_LONG, 0, T_TIMESPAN, "TICKS" } } },
	[CPU_LOST] = { 202,
		       "jdk.CPUTimeSamplesLost",
		       { START_FIELD, NUMBER_FIELD("lostSamples"), THREAD_FIELD } },
	[THROWN] = { 203,
		     "jdk.JavaExceptionThrow",
		     { START_FIELD, THREAD_FIELD, STACK_FIELD, CLASS_FIELD("thrownClass") } },
	[ERROR] = { 204,
		    "jdk.JavaErrorThrow",
		    { START_FIELD, THREAD_FIELD, STACK_FIELD, CLASS_FIELD("thrownClass") } },
	[CPUS] = { 205, "jdk.CPUInformation", { START_FIELD, NUMBER_FIELD("hwThreads") } },
	[LIMITS] = { 206,
		     "jdk.ContainerConfiguration",
		     { START_FIELD,
		       { "cpuSlicePeriod", T_LONG, 0, T_TIMESPAN, "MICROSECONDS" },
		       { "cpuQuota", T_LONG, 0, T_TIMESPAN, "MICROSECONDS" },
		       NUMBER_FIELD("effectiveCpuCount") } },
};

static void lost_samples_of_a_rate_are_worth_what_the_jvm_makes_of_it(void **state)
{
	static const struct {
		int64_t hardware, period_us, quota_us, allowed; /* of a container; 0: none */
		int64_t worth;
	} cases[] = {
		{ 2, 0, 0, 0, 4 * MS },		  { 8, 0, 0, 0, 16 * MS },
		{ 8, 100000, -1, 3, 6 * MS },	  { 8, 100000, 150000, 8, 4 * MS },
		{ 8, 100000, 400000, 2, 4 * MS },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct meaning m = { 0 };

		meaning_begin(&m, shapes, N(shapes));
		meaning_setting(&m, shapes[CPU_TIME].id, "throttle", "500/s");
		EVENT(&m, &shapes[CPU_LOST], AT(30), { .n = 1 }, { .n = 1 });
		EVENT(&m, &shapes[CPUS], AT(0), { .n = cases[i].hardware });
		if (cases[i].allowed)
			EVENT(&m, &shapes[LIMITS], AT(0), { .n = cases[i].period_us },
			      { .n = cases[i].quota_us }, { .n = cases[i].allowed });
		meaning_read(&m);
		assert_int_equal(m.n, 1);
		assert_int_equal(m.items[0].values[COLUMN_CPU], cases[i].worth);
		meaning_deinit(&m);
	}
}

/* A JVM that taskset keeps on one of two CPUs says so nowhere else. */
static void lost_samples_of_a_rate_are_worth_what_the_others_are(void **state)
{
	static const struct {
		const char *throttle, *events; /* NULL: all */
		int64_t worth;
	} cases[] = {
		{ "500/s", NULL, 2 * MS },
		{ "500/s", "jdk.CPUTimeSamplesLost", 2 * MS },
		{ "5ms", NULL, 5 * MS },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct meaning m = { 0 };

		m.in.events = cases[i].events;
		m.in.groups = cases[i].events ? 1u << GROUP_OTHER : 0;
		meaning_begin(&m, shapes, N(shapes));
		meaning_setting(&m, shapes[CPU_TIME].id, "throttle", cases[i].throttle);
		EVENT(&m, &shapes[CPUS], AT(0), { .n = 2 });
		for (int n = 3; n > 0; n--) /* some were late */
			EVENT(&m, &shapes[CPU_TIME], AT(n), { .n = 1 }, { .n = 1 },
			      { .n = TICKS(n * 2 * MS) });
		EVENT(&m, &shapes[CPU_TIME], AT(4), { .n = 1 }, { .n = 1 }, { .n = TICKS(4 * MS) });
		EVENT(&m, &shapes[CPU_LOST], AT(5), { .n = 3 }, { .n = 1 });
		meaning_read(&m);
		assert_string_equal(m.items[m.n - 1].mark, "[lost]");
		assert_int_equal(m.items[m.n - 1].values[COLUMN_CPU], 3 * cases[i].worth);
		meaning_deinit(&m);
	}
}

/* On a busy machine hundreds of samples are late, and the one that is not may stand behind what was
   lost. */
static void lost_samples_of_a_rate_are_worth_what_later_ones_say(void **state)
{
	struct meaning m = { 0 };

	(void)state;
	m.in.events = "jdk.CPUTimeSamplesLost";
	m.in.groups = 1u << GROUP_OTHER;
	meaning_begin(&m, shapes, N(shapes));
	meaning_setting(&m, shapes[CPU_TIME].id, "throttle", "500/s");
	EVENT(&m, &shapes[CPUS], AT(0), { .n = 2 });
	for (int n = 0; n < 300; n++)
		EVENT(&m, &shapes[CPU_TIME], AT(n), { .n = 1 }, { .n = 1 }, { .n = TICKS(4 * MS) });
	EVENT(&m, &shapes[CPU_LOST], AT(301), { .n = 3 }, { .n = 1 });
	EVENT(&m, &shapes[CPU_TIME], AT(302), { .n = 1 }, { .n = 1 }, { .n = TICKS(2 * MS) });
	meaning_read(&m);
	assert_string_equal(m.items[m.n - 1].mark, "[lost]");
	assert_int_equal(m.items[m.n - 1].values[COLUMN_CPU], 3 * 2 * MS);
	meaning_deinit(&m);
}

/* The JVM writes an error as an exception, too. */
static void errors_are_not_counted_twice(void **state)
{
	(void)state;
	for (int both = 0; both < 2; both++) {
		struct meaning m = { 0 };

		meaning_begin(&m, shapes, N(shapes));
		meaning_setting(&m, shapes[ERROR].id, "enabled", "true");
		meaning_setting(&m, shapes[THROWN].id, "enabled", both ? "true" : "false");
		EVENT(&m, &shapes[ERROR], AT(0), { .n = 1 }, { .n = 1 }, { .n = 1 });
		meaning_read(&m);
		assert_int_equal(m.n, 1);
		assert_int_equal(m.items[0].is_sample, !both);
		meaning_deinit(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lost_samples_of_a_rate_are_worth_what_the_jvm_makes_of_it),
		cmocka_unit_test(lost_samples_of_a_rate_are_worth_what_the_others_are),
		cmocka_unit_test(lost_samples_of_a_rate_are_worth_what_later_ones_say),
		cmocka_unit_test(errors_are_not_counted_twice),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("jfr/weight", tests, NULL, NULL);
}
