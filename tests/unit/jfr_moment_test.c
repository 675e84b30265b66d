// SPDX-License-Identifier: Apache-2.0
#include "jfr/moment.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/unit/jfr_meaning.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define MS INT64_C(1000000)

enum shape {
	EXECUTION,
	NATIVE,
	CPU_TIME,
	CPU_LOST,
	WALL,
	ALLOCATION,
	IN_TLAB,
	OUTSIDE_TLAB,
	PARK,
	ENTER,
	READ,
	THROWN,
	OLD_OBJECT,
	LIVE_OBJECT,
	DATADOG_CPU,
	DATADOG_OBJECT,
	DATADOG_CONFIG,
	LOG,
	GRAFANA,
};

static const struct event_shape shapes[] = {
	[EXECUTION] = { 201, "jdk.ExecutionSample", { SAMPLE_FIELDS } },
	[NATIVE] = { 202, "jdk.NativeMethodSample", { SAMPLE_FIELDS } },
	[CPU_TIME] = { 203,
		       "jdk.CPUTimeSample",
		       { START_FIELD,
			 STACK_FIELD,
			 THREAD_FIELD,
			 { "failed", T_BOOLEAN, 0, 0, NULL },
			 { "samplingPeriod", T_LONG, 0, T_TIMESPAN, "TICKS" } } },
	[CPU_LOST] = { 204,
		       "jdk.CPUTimeSamplesLost",
		       { START_FIELD, { "lostSamples", T_INT, 0, 0, NULL }, THREAD_FIELD } },
	[WALL] = { 205, "profiler.WallClockSample", { WALL_FIELDS } },
	[ALLOCATION] = { 206,
			 "jdk.ObjectAllocationSample",
			 { START_FIELD, THREAD_FIELD, STACK_FIELD, CLASS_FIELD("objectClass"),
			   NUMBER_FIELD("weight") } },
	[IN_TLAB] = { 207, "jdk.ObjectAllocationInNewTLAB", { IN_TLAB_FIELDS } },
	[OUTSIDE_TLAB] = { 208,
			   "jdk.ObjectAllocationOutsideTLAB",
			   { START_FIELD, THREAD_FIELD, STACK_FIELD, CLASS_FIELD("objectClass"),
			     NUMBER_FIELD("allocationSize") } },
	[PARK] = { 209,
		   "jdk.ThreadPark",
		   { START_FIELD, DURATION_FIELD, THREAD_FIELD, STACK_FIELD,
		     CLASS_FIELD("parkedClass") } },
	[ENTER] = { 210,
		    "jdk.JavaMonitorEnter",
		    { START_FIELD, DURATION_FIELD, THREAD_FIELD, STACK_FIELD,
		      CLASS_FIELD("monitorClass") } },
	[READ] = { 211,
		   "jdk.SocketRead",
		   { START_FIELD, DURATION_FIELD, THREAD_FIELD, STACK_FIELD,
		     NUMBER_FIELD("bytesRead") } },
	[THROWN] = { 212,
		     "jdk.JavaExceptionThrow",
		     { START_FIELD, DURATION_FIELD, THREAD_FIELD, STACK_FIELD,
		       TEXT_FIELD("message"), CLASS_FIELD("thrownClass") } },
	[OLD_OBJECT] = { 213,
			 "jdk.OldObjectSample",
			 { START_FIELD, THREAD_FIELD, STACK_FIELD, CLASS_FIELD("object") } },
	[LIVE_OBJECT] = { 214,
			  "profiler.LiveObject",
			  { START_FIELD, THREAD_FIELD, STACK_FIELD, CLASS_FIELD("objectClass"),
			    NUMBER_FIELD("allocationSize") } },
	[DATADOG_CPU] = { 215,
			  "datadog.ExecutionSample",
			  { START_FIELD, THREAD_FIELD, STACK_FIELD, STATE_FIELD,
			    NUMBER_FIELD("weight"), NUMBER_FIELD("spanId") } },
	[DATADOG_OBJECT] = { 216,
			     "datadog.ObjectSample",
			     { START_FIELD,
			       THREAD_FIELD,
			       STACK_FIELD,
			       CLASS_FIELD("objectClass"),
			       NUMBER_FIELD("size"),
			       { "weight", T_FLOAT, 0, 0, NULL } } },
	[DATADOG_CONFIG] = { 217,
			     "datadog.DatadogProfilerConfig",
			     { START_FIELD, NUMBER_FIELD("cpuInterval"),
			       NUMBER_FIELD("wallInterval") } },
	[LOG] = { 218, "profiler.Log", { START_FIELD, TEXT_FIELD("message") } },
	[GRAFANA] = { 219,
		      "jdk.JavaMonitorWait",
		      { START_FIELD, DURATION_FIELD, THREAD_FIELD, NUMBER_FIELD("traceIdHi"),
			NUMBER_FIELD("traceIdLo"), NUMBER_FIELD("spanId") } },
};

/* HotSpot does not know profiler.Log, by which async-profiler is told from it. */
static void begin(struct meaning *m)
{
	meaning_begin(m, shapes, LOG);
}

static void begin_async_profiler(struct meaning *m)
{
	meaning_begin(m, shapes, N(shapes));
}

static void is_worth(const struct meaning *m, size_t i, enum event_column column, int64_t value)
{
	assert_true(i < m->n);
	assert_true(m->items[i].is_sample);
	assert_int_equal(m->items[i].column, column);
	assert_int_equal(m->items[i].values[column], value);
}

static void execute(struct meaning *m, enum shape shape)
{
	EVENT(m, &shapes[shape], AT(10), { .n = 1 }, { .n = 1 }, { .n = 5 });
}

static void who_when_and_where_are_told(void **state)
{
	struct meaning m = { 0 };

	(void)state;
	begin(&m);
	EVENT(&m, &shapes[ENTER], AT(500), { .n = TICKS(70) }, { .n = 2 }, { .n = 2 }, { .n = 2 });
	execute(&m, EXECUTION);
	meaning_read(&m);
	assert_int_equal(m.n, 2);
	assert_int_equal(m.items[0].time_ns, WRITER_START_NS + 500);
	assert_int_equal(m.items[0].duration_ns, 70);
	assert_string_equal(m.items[0].thread, "thread-2");
	assert_string_equal(m.items[0].class, "p.D");
	assert_true(m.items[0].has_stack);
	assert_string_equal(m.items[1].state, "RUNNABLE");
	assert_int_equal(m.items[1].duration_ns, -1);
	meaning_deinit(&m);
}

static void samples_of_execution_are_worth_their_period(void **state)
{
	static const struct {
		const char *name, *value;
		int64_t worth;
	} cases[] = {
		{ NULL, NULL, 20 * MS }, /* HotSpot's default */
		{ "period", "10 ms", 10 * MS },
		{ "period", "1 s", 1000 * MS },
		{ "period", "everyChunk", 20 * MS },
		{ "period", "0 ms", 20 * MS },
		{ "enabled", "true", 20 * MS },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct meaning m = { 0 };

		begin(&m);
		if (cases[i].name)
			meaning_setting(&m, shapes[EXECUTION].id, cases[i].name, cases[i].value);
		execute(&m, EXECUTION);
		execute(&m, NATIVE);
		meaning_read(&m);
		is_worth(&m, 0, COLUMN_CPU, cases[i].worth);
		is_worth(&m, 1, COLUMN_NATIVE, 20 * MS); /* has a period of its own */
		assert_int_equal(m.items[1].values[COLUMN_CPU], 0);
		meaning_deinit(&m);
	}
}

static void settings_behind_the_samples_count_as_well(void **state)
{
	struct meaning m = { 0 };

	(void)state;
	begin(&m);
	execute(&m, EXECUTION);
	meaning_setting(&m, shapes[EXECUTION].id, "period", "10 ms");
	meaning_read(&m);
	is_worth(&m, 0, COLUMN_CPU, 10 * MS);
	meaning_deinit(&m);
}

static void cpu_time_is_not_counted_twice(void **state)
{
	struct meaning m = { 0 };

	(void)state;
	begin(&m);
	meaning_setting(&m, shapes[CPU_TIME].id, "enabled", "true");
	execute(&m, EXECUTION);
	EVENT(&m, &shapes[CPU_TIME], AT(20), { .n = 1 }, { .n = 1 }, { .n = 0 },
	      { .n = TICKS(30 * MS) });
	meaning_read(&m);
	is_worth(&m, 0, COLUMN_CPU_EXEC, 20 * MS);
	assert_int_equal(m.items[0].values[COLUMN_CPU], 0);
	is_worth(&m, 1, COLUMN_CPU, 30 * MS);
	meaning_deinit(&m);
}

static void failed_and_lost_samples_are_cpu_time_all_the_same(void **state)
{
	struct meaning m = { 0 };

	(void)state;
	begin(&m);
	meaning_setting(&m, shapes[CPU_TIME].id, "throttle", "10 ms");
	EVENT(&m, &shapes[CPU_TIME], AT(20), { .n = 0 }, { .n = 1 }, { .n = 1 },
	      { .n = TICKS(20 * MS) });
	EVENT(&m, &shapes[CPU_LOST], AT(30), { .n = 7 }, { .n = 1 });
	meaning_read(&m);
	is_worth(&m, 0, COLUMN_CPU, 20 * MS);
	assert_string_equal(m.items[0].mark, "[failed]");
	assert_false(m.items[0].is_stack_missing);
	is_worth(&m, 1, COLUMN_CPU, 70 * MS);
	assert_int_equal(m.items[1].values[COLUMN_SAMPLES], 7);
	assert_string_equal(m.items[1].mark, "[lost]");
	meaning_deinit(&m);
}

static void a_lost_stack_is_not_no_stack(void **state)
{
	struct meaning m = { 0 };

	(void)state;
	begin(&m);
	EVENT(&m, &shapes[EXECUTION], AT(0), { .n = 1 }, { .n = 77 }, { .n = 5 });
	EVENT(&m, &shapes[EXECUTION], AT(0), { .n = 1 }, { .n = 0 }, { .n = 5 });
	meaning_read(&m);
	assert_true(m.items[0].is_stack_missing);
	assert_false(m.items[1].is_stack_missing);
	assert_false(m.items[1].has_stack);
	meaning_deinit(&m);
}

static void wall_samples_stand_for_a_time_or_for_many(void **state)
{
	static const struct {
		int64_t samples, span_ns, worth, n;
	} cases[] = {
		{ 1, 0, 20 * MS, 1 },
		{ 8, 0, 160 * MS, 8 },
		{ 8, 170 * MS, 170 * MS, 8 },
		{ 0, 0, 20 * MS, 1 },
	};
	struct meaning m = { 0 };

	(void)state;
	begin_async_profiler(&m);
	meaning_setting(&m, 0, "wall", "20000000");
	for (size_t i = 0; i < N(cases); i++)
		EVENT(&m, &shapes[WALL], AT(0), { .n = 1 }, { .n = 1 }, { .n = 5 },
		      { .n = cases[i].samples }, { .n = TICKS(cases[i].span_ns) });
	meaning_read(&m);
	for (size_t i = 0; i < N(cases); i++) {
		is_worth(&m, i, COLUMN_WALL, cases[i].worth);
		assert_int_equal(m.items[i].values[COLUMN_SAMPLES], cases[i].n);
		assert_int_equal(m.items[i].values[COLUMN_CPU], 0);
	}
	meaning_deinit(&m);
}

static void what_async_profiler_samples_is_said_by_its_settings(void **state)
{
	static const struct {
		const char *event, *interval;
		enum event_column column;
		int64_t worth;
	} cases[] = {
		{ "cpu", "5000000", COLUMN_CPU, 5 * MS },
		{ "itimer", "1000000", COLUMN_CPU, 1 * MS },
		{ "cpu", "0", COLUMN_CPU, 10 * MS },
		{ "wall", "5000000", COLUMN_WALL, 5 * MS },
		{ "cache-misses", "1000", COLUMN_EVENTS, 1 },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct meaning m = { 0 };

		begin_async_profiler(&m);
		meaning_setting(&m, 0, "event", cases[i].event);
		meaning_setting(&m, 0, "interval", cases[i].interval);
		EVENT(&m, &shapes[EXECUTION], AT(0), { .n = 1 }, { .n = 1 }, { .n = 0 });
		meaning_read(&m);
		is_worth(&m, 0, cases[i].column, cases[i].worth);
		meaning_deinit(&m);
	}
}

static void allocate(struct meaning *m)
{
	EVENT(m, &shapes[ALLOCATION], AT(0), { .n = 1 }, { .n = 1 }, { .n = 1 }, { .n = 5000 });
	EVENT(m, &shapes[IN_TLAB], AT(1), { .n = 1 }, { .n = 1 }, { .n = 1 }, { .n = 24 },
	      { .n = 4096 });
	EVENT(m, &shapes[OUTSIDE_TLAB], AT(2), { .n = 1 }, { .n = 1 }, { .n = 1 }, { .n = 100000 });
}

static void allocations_are_worth_their_bytes(void **state)
{
	struct meaning m = { 0 };

	(void)state;
	begin(&m);
	allocate(&m);
	meaning_read(&m);
	is_worth(&m, 0, COLUMN_ALLOC_SPACE, 5000);
	is_worth(&m, 1, COLUMN_ALLOC_SPACE, 4096); /* all that the sample stands for */
	is_worth(&m, 2, COLUMN_ALLOC_SPACE, 100000);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(m.items[i].values[COLUMN_ALLOC_OBJECTS], 1);
	meaning_deinit(&m);
}

static void allocations_are_never_doubled(void **state)
{
	struct meaning m = { 0 };

	(void)state;
	begin(&m);
	meaning_setting(&m, shapes[ALLOCATION].id, "enabled", "true");
	allocate(&m);
	meaning_read(&m);
	is_worth(&m, 0, COLUMN_ALLOC_SPACE, 5000);
	assert_false(m.items[1].is_sample);
	assert_false(m.items[2].is_sample);
	meaning_deinit(&m);
}

static void old_objects_count_when_nobody_knows_their_size(void **state)
{
	struct meaning m = { 0 };

	(void)state;
	begin(&m);
	EVENT(&m, &shapes[OLD_OBJECT], AT(0), { .n = 1 }, { .n = 1 }, { .n = 2 });
	EVENT(&m, &shapes[LIVE_OBJECT], AT(0), { .n = 1 }, { .n = 1 }, { .n = 1 }, { .n = 48 });
	meaning_read(&m);
	is_worth(&m, 0, COLUMN_LIVE_OBJECTS, 1);
	assert_string_equal(m.items[0].class, "p.D");
	is_worth(&m, 1, COLUMN_LIVE_SPACE, 48);
	meaning_deinit(&m);
}

static void a_park_for_a_lock_is_one(void **state)
{
	struct meaning m = { 0 };

	(void)state;
	begin(&m);
	EVENT(&m, &shapes[PARK], AT(0), { .n = TICKS(30) }, { .n = 1 }, { .n = 1 }, { .n = 1 });
	EVENT(&m, &shapes[PARK], AT(1), { .n = TICKS(40) }, { .n = 1 }, { .n = 1 }, { .n = 0 });
	EVENT(&m, &shapes[PARK], AT(2), { .n = -5 }, { .n = 1 }, { .n = 1 }, { .n = 0 });
	EVENT(&m, &shapes[PARK], AT(3), { .n = TICKS(50) }, { .n = 1 }, { .n = 1 }, { .n = 7 });
	EVENT(&m, &shapes[PARK], AT(4), { .n = TICKS(60) }, { .n = 1 }, { .n = 1 }, { .n = 8 });
	EVENT(&m, &shapes[PARK], AT(5), { .n = TICKS(70) }, { .n = 1 }, { .n = 1 }, { .n = 999 });
	world_checkpoint(&m.c, 7,
			 "java/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject");
	world_checkpoint(&m.c, 8, "java/util/concurrent/locks/ReentrantLock$NonfairSync");
	meaning_read(&m);
	is_worth(&m, 0, COLUMN_LOCK, 30);
	is_worth(&m, 1, COLUMN_PARK, 40);
	is_worth(&m, 2, COLUMN_PARK, 0);
	is_worth(&m, 3, COLUMN_PARK, 50);
	is_worth(&m, 4, COLUMN_LOCK, 60);
	is_worth(&m, 5, COLUMN_LOCK, 70); /* nobody knows what */
	meaning_deinit(&m);
}

static void io_has_a_time_and_bytes(void **state)
{
	struct meaning m = { 0 };

	(void)state;
	begin(&m);
	EVENT(&m, &shapes[READ], AT(0), { .n = TICKS(30) }, { .n = 1 }, { .n = 1 }, { .n = 512 });
	EVENT(&m, &shapes[READ], AT(1), { .n = TICKS(30) }, { .n = 1 }, { .n = 1 }, { .n = -1 });
	meaning_read(&m);
	is_worth(&m, 0, COLUMN_IO, 30);
	assert_int_equal(m.items[0].values[COLUMN_IO_SPACE], 512);
	assert_int_equal(m.items[1].values[COLUMN_IO_SPACE], 0); /* the end of the stream */
	meaning_deinit(&m);
}

static void exceptions_are_counted(void **state)
{
	struct meaning m = { 0 };

	(void)state;
	begin(&m);
	EVENT(&m, &shapes[THROWN], AT(0), { .n = 0 }, { .n = 1 }, { .n = 1 }, { .text = "no" },
	      { .n = 1 });
	meaning_read(&m);
	is_worth(&m, 0, COLUMN_EXCEPTIONS, 1);
	assert_string_equal(m.items[0].class, "p.C");
	meaning_deinit(&m);
}

static void datadogs_samples_are_scaled_by_their_weight(void **state)
{
	struct meaning m = { 0 };

	(void)state;
	begin_async_profiler(&m);
	EVENT(&m, &shapes[DATADOG_CONFIG], AT(0), { .n = 9 }, { .n = 50 });
	EVENT(&m, &shapes[DATADOG_CPU], AT(0), { .n = 1 }, { .n = 1 }, { .n = 5 }, { .n = 3 },
	      { .n = 0xabc });
	EVENT(&m, &shapes[DATADOG_OBJECT], AT(1), { .n = 1 }, { .n = 1 }, { .n = 1 }, { .n = 24 },
	      { .real = 1000.5 });
	EVENT(&m, &shapes[DATADOG_OBJECT], AT(2), { .n = 1 }, { .n = 1 }, { .n = 1 }, { .n = 24 },
	      { .real = -1 });
	EVENT(&m, &shapes[DATADOG_OBJECT], AT(3), { .n = 1 }, { .n = 1 }, { .n = 1 }, { .n = 24 },
	      { .real = 1e30 });
	meaning_read(&m);
	is_worth(&m, 0, COLUMN_CPU, 27 * MS);
	assert_string_equal(m.items[0].span_id, "0000000000000abc");
	is_worth(&m, 1, COLUMN_ALLOC_SPACE, 24012);
	assert_int_equal(m.items[1].values[COLUMN_ALLOC_OBJECTS], 1001);
	assert_false(m.items[2].is_sample);
	assert_false(m.items[3].is_sample);
	meaning_deinit(&m);
}

static void ids_of_spans_are_hexadecimal(void **state)
{
	struct meaning m = { 0 };

	(void)state;
	begin_async_profiler(&m);
	EVENT(&m, &shapes[GRAFANA], AT(0), { .n = 10 }, { .n = 1 }, { .n = 0x1234 }, { .n = -1 },
	      { .n = 0x42 });
	EVENT(&m, &shapes[GRAFANA], AT(0), { .n = 10 }, { .n = 1 }, { .n = 0 }, { .n = 0 },
	      { .n = 0 });
	meaning_read(&m);
	assert_string_equal(m.items[0].trace_id, "0000000000001234ffffffffffffffff");
	assert_string_equal(m.items[0].span_id, "0000000000000042");
	assert_string_equal(m.items[1].trace_id, "");
	assert_string_equal(m.items[1].span_id, "");
	meaning_deinit(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_when_and_where_are_told),
		cmocka_unit_test(samples_of_execution_are_worth_their_period),
		cmocka_unit_test(settings_behind_the_samples_count_as_well),
		cmocka_unit_test(cpu_time_is_not_counted_twice),
		cmocka_unit_test(failed_and_lost_samples_are_cpu_time_all_the_same),
		cmocka_unit_test(a_lost_stack_is_not_no_stack),
		cmocka_unit_test(wall_samples_stand_for_a_time_or_for_many),
		cmocka_unit_test(what_async_profiler_samples_is_said_by_its_settings),
		cmocka_unit_test(allocations_are_worth_their_bytes),
		cmocka_unit_test(allocations_are_never_doubled),
		cmocka_unit_test(old_objects_count_when_nobody_knows_their_size),
		cmocka_unit_test(a_park_for_a_lock_is_one),
		cmocka_unit_test(io_has_a_time_and_bytes),
		cmocka_unit_test(exceptions_are_counted),
		cmocka_unit_test(datadogs_samples_are_scaled_by_their_weight),
		cmocka_unit_test(ids_of_spans_are_hexadecimal),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("jfr/moment", tests, NULL, NULL);
}
