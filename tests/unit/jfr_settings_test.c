// SPDX-License-Identifier: Apache-2.0
#include "jfr/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void lengths_of_time_have_units(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} cases[] = {
		{ "20 ms", 20000000 },
		{ "20ms", 20000000 },
		{ "10000000", 10000000 },
		{ "1 s", 1000000000 },
		{ "5 us", 5000 },
		{ "7 ns", 7 },
		{ "2 m", 120000000000 },
		{ "1 h", 3600000000000 },
		{ "1 d", 86400000000000 },
		{ "0 ms", 0 },
		{ "", -1 },
		{ "everyChunk", -1 },
		{ "500/s", -1 },
		{ "-1 ms", -1 },
		{ " 1 ms", -1 },
		{ "1 fortnight", -1 },
		{ "99999999999999999999 ns", -1 },
		{ "9223372036854775807 s", -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(settings_duration(cases[i].text), cases[i].ns);
}

static void the_last_one_counts(void **state)
{
	struct settings s = { 0 };

	(void)state;
	settings_note(&s, "jdk.ExecutionSample", "period", "20 ms");
	settings_note(&s, "jdk.ExecutionSample", "period", "10 ms");
	settings_note(&s, "jdk.NativeMethodSample", "period", "30 ms");
	settings_note(&s, "jdk.SocketRead", "period", "40 ms");
	assert_int_equal(s.execution_ns, 10000000);
	assert_int_equal(s.native_ns, 30000000);
}

static void who_decides_is_listened_to(void **state)
{
	static const struct {
		const char *event, *name, *value;
	} cases[] = {
		{ "jdk.ExecutionSample", "period", "20 ms" },
		{ "jdk.NativeMethodSample", "period", "20 ms" },
		{ "jdk.CPUTimeSample", "enabled", "true" },
		{ "jdk.CPUTimeSample", "throttle", "10ms" },
		{ "jdk.ObjectAllocationSample", "enabled", "true" },
		{ "jdk.JavaExceptionThrow", "enabled", "true" },
	};
	const struct settings nothing = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct settings s = { 0 };

		assert_true(settings_depend_on(&s, cases[i].event));
		settings_note(&s, cases[i].event, cases[i].name, cases[i].value);
		assert_false(settings_equal(&s, &nothing));
	}
	assert_false(settings_depend_on(&nothing, "jdk.SocketRead"));
}

static void a_rate_is_no_period(void **state)
{
	struct settings s = { 0 };

	(void)state;
	settings_note(&s, "jdk.CPUTimeSample", "throttle", "10ms");
	assert_int_equal(s.cpu_time_ns, 10000000);
	settings_note(&s, "jdk.CPUTimeSample", "throttle", "500/s");
	assert_int_equal(s.cpu_time_ns, 0);
	settings_note(&s, "jdk.CPUTimeSample", "enabled", "true");
	assert_true(s.has_cpu_time);
	settings_note(&s, "jdk.CPUTimeSample", "enabled", "false");
	assert_false(s.has_cpu_time);
}

static void a_rate_is_shared_by_the_cpus(void **state)
{
	static const struct {
		const char *throttle;
		int64_t n_cpus, ns;
	} cases[] = {
		{ "500/s", 2, 4000000 },
		{ "500/s", 16, 32000000 },
		{ "100/s", 1, 10000000 },
		{ "1/ms", 4, 4000000 },
		{ "60/m", 1, 1000000000 },
		{ "10ms", 16, 10000000 },
		{ "500/s", 0, 0 },
		{ "0/s", 4, 0 },
		{ "-5/s", 4, 0 },
		{ "500/fortnight", 4, 0 },
		{ "off", 4, 0 },
		{ "/s", 4, 0 },
		{ "1/d", INT64_MAX, INT64_MAX },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct settings s = { .n_cpus = cases[i].n_cpus };

		settings_note(&s, "jdk.CPUTimeSample", "throttle", cases[i].throttle);
		assert_int_equal(settings_cpu_time_ns(&s), cases[i].ns);
	}
}

static void of_a_rate_samples_say_the_period(void **state)
{
	struct settings s = { .n_cpus = 2 };

	(void)state;
	settings_note(&s, "jdk.CPUTimeSample", "throttle", "500/s");
	settings_note_sampled(&s, 6000000);
	settings_note_sampled(&s, 2000000);
	settings_note_sampled(&s, 4000000);
	settings_note_sampled(&s, 0);
	assert_int_equal(settings_cpu_time_ns(&s), 2000000);
	/* It is as good as none when the next chunk says something else, and none before. */
	settings_begin_chunk(&s);
	settings_note(&s, "jdk.CPUTimeSample", "throttle", "500/s");
	assert_int_equal(settings_cpu_time_ns(&s), 2000000);
	settings_note_sampled(&s, 4000000);
	assert_int_equal(settings_cpu_time_ns(&s), 4000000);
	settings_note(&s, "jdk.CPUTimeSample", "throttle", "100/s");
	assert_int_equal(settings_cpu_time_ns(&s), 20000000);
	settings_note(&s, "jdk.CPUTimeSample", "throttle", "10ms");
	settings_note_sampled(&s, 20000000); /* one that was late */
	assert_int_equal(settings_cpu_time_ns(&s), 10000000);
}

static void async_profilers_settings_are_its_own(void **state)
{
	struct settings s = { .is_async_profiler = true };

	(void)state;
	settings_note(&s, "", "event", "wall");
	assert_true(s.is_wall);
	settings_note(&s, "", "event", "null");
	assert_false(s.is_wall || s.is_counter);
	settings_note(&s, "", "event", "branch-misses");
	assert_true(s.is_counter);
	settings_note(&s, "", "interval", "1000");
	assert_int_equal(s.interval_ns, 1000);
	s = (struct settings){ 0 };
	settings_note(&s, "", "event", "wall"); /* of HotSpot it means nothing */
	assert_false(s.is_wall);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths_of_time_have_units),
		cmocka_unit_test(the_last_one_counts),
		cmocka_unit_test(who_decides_is_listened_to),
		cmocka_unit_test(a_rate_is_no_period),
		cmocka_unit_test(a_rate_is_shared_by_the_cpus),
		cmocka_unit_test(of_a_rate_samples_say_the_period),
		cmocka_unit_test(async_profilers_settings_are_its_own),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("jfr/settings", tests, NULL, NULL);
}
