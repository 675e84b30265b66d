// SPDX-License-Identifier: Apache-2.0
#include "jfr/summary.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/unit/jfr_meaning.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define TICKS_FIELD(name)                            \
	{                                            \
		name, T_LONG, 0, T_TIMESPAN, "TICKS" \
	}

enum shape {
	COLLECTION,
	PAUSE,
	PAUSE_1,
	OPERATION,
	SAFEPOINT,
	COMPILATION,
	LOAD,
	SAMPLE,
	TIMING,
	CPU,
	HEAP,
	LOSS
};

/* Names are states here: constants with a text. */
static const struct event_shape shapes[] = {
	[COLLECTION] = { 201,
			 "jdk.GarbageCollection",
			 { START_FIELD,
			   DURATION_FIELD,
			   { "name", T_STATE, FIELD_CONSTANT, 0, NULL },
			   { "cause", T_STATE, FIELD_CONSTANT, 0, NULL },
			   TICKS_FIELD("sumOfPauses"),
			   TICKS_FIELD("longestPause") } },
	[PAUSE] = { 202, "jdk.GCPhasePause", { START_FIELD, DURATION_FIELD, TEXT_FIELD("name") } },
	[PAUSE_1] = { 203,
		      "jdk.GCPhasePauseLevel1",
		      { START_FIELD, DURATION_FIELD, TEXT_FIELD("name") } },
	[OPERATION] = { 204,
			"jdk.ExecuteVMOperation",
			{ START_FIELD,
			  DURATION_FIELD,
			  { "operation", T_STATE, FIELD_CONSTANT, 0, NULL },
			  { "safepoint", T_BOOLEAN, 0, 0, NULL } } },
	[SAFEPOINT] = { 205, "jdk.SafepointBegin", { START_FIELD, DURATION_FIELD } },
	[COMPILATION] = { 206,
			  "jdk.Compilation",
			  { START_FIELD, DURATION_FIELD, TEXT_FIELD("compiler") } },
	[LOAD] = { 207,
		   "jdk.ThreadCPULoad",
		   { START_FIELD,
		     THREAD_FIELD,
		     { "user", T_FLOAT, 0, 0, NULL },
		     { "system", T_FLOAT, 0, 0, NULL } } },
	[SAMPLE] = { 208, "jdk.ExecutionSample", { START_FIELD, SAMPLED_FIELD } },
	[TIMING] = { 209,
		     "jdk.MethodTiming",
		     { START_FIELD, TEXT_FIELD("method"), NUMBER_FIELD("invocations"),
		       TICKS_FIELD("average"), TICKS_FIELD("maximum") } },
	[CPU] = { 210,
		  "jdk.CPULoad",
		  { START_FIELD,
		    { "jvmUser", T_FLOAT, 0, 0, NULL },
		    { "machineTotal", T_FLOAT, 0, 0, NULL } } },
	[HEAP] = { 211,
		   "jdk.GCHeapSummary",
		   { START_FIELD, TEXT_FIELD("when"), NUMBER_FIELD("heapUsed") } },
	[LOSS] = { 212, "jdk.DataLoss", { START_FIELD, NUMBER_FIELD("amount") } },
};

struct summed {
	struct meaning m;
	struct jvm_facts facts;
	struct summary s;
};

static struct summed *begin(void)
{
	struct summed *summed = calloc(1, sizeof(*summed));

	assert_non_null(summed);
	assert_int_equal(summary_init(&summed->s, &summed->facts), 0);
	meaning_begin(&summed->m, shapes, N(shapes));
	return summed;
}

static void finish(struct summed *summed)
{
	meaning_tell(&summed->m, summary_sink(&summed->s));
	assert_int_equal(summed->m.err, 0);
	assert_int_equal(summed->s.err, 0);
}

static void summed_free(struct summed *summed)
{
	meaning_deinit(&summed->m);
	summary_deinit(&summed->s);
	free(summed);
}

static const struct named_sum *sum(const struct summed *summed, enum sum_kind kind, size_t i)
{
	assert_true(i < summed->s.sums.n[kind]);
	return &summed->s.sums.items[kind][i];
}

static struct type_sum type_named(const struct summed *summed, const char *name)
{
	for (size_t i = 0; i < summary_n_types(&summed->s); i++) {
		struct type_sum found;

		if (!strcmp(summary_type(&summed->s, i, &found), name))
			return found;
	}
	return (struct type_sum){ 0 };
}

static void events_are_counted_by_type_with_their_bytes(void **state)
{
	struct summed *summed = begin();
	size_t before = summed->m.b.len;
	struct type_sum found;

	(void)state;
	EVENT(&summed->m, &shapes[SAMPLE], AT(0), { .n = 1 });
	EVENT(&summed->m, &shapes[SAMPLE], AT(1), { .n = 1 });
	before = summed->m.b.len - before;
	finish(summed);
	found = type_named(summed, "jdk.ExecutionSample");
	assert_int_equal(found.count, 2);
	assert_int_equal(found.bytes, before);
	assert_int_equal(type_named(summed, "jdk.Metadata").count, 1);
	assert_int_equal(type_named(summed, "jdk.Checkpoint").count, 2);
	assert_int_equal(type_named(summed, "jdk.GarbageCollection").count, 0);
	summed_free(summed);
}

static void where_only_counts_are_asked_for_no_event_is_understood(void **state)
{
	struct summed *summed = begin();

	(void)state;
	summed->s.only_counts = true;
	EVENT(&summed->m, &shapes[PAUSE], AT(0), { .n = TICKS(50) }, { .text = "GC Pause" });
	finish(summed);
	assert_int_equal(type_named(summed, "jdk.GCPhasePause").count, 1);
	assert_int_equal(summed->s.sums.n[SUM_PAUSE], 0);
	summed_free(summed);
}

static void collections_are_summed_up_by_name_and_cause(void **state)
{
	struct summed *summed = begin();

	(void)state;
	EVENT(&summed->m, &shapes[COLLECTION], AT(0), { .n = TICKS(90) }, { .n = 5 }, { .n = 5 },
	      { .n = TICKS(30) }, { .n = TICKS(20) });
	EVENT(&summed->m, &shapes[COLLECTION], AT(1), { .n = TICKS(10) }, { .n = 5 }, { .n = 5 },
	      { .n = TICKS(12) }, { .n = TICKS(12) });
	EVENT(&summed->m, &shapes[COLLECTION], AT(2), { .n = TICKS(10) }, { .n = 5 }, { .n = 0 },
	      { .n = INT64_MIN }, { .n = TICKS(4) });
	finish(summed);
	assert_int_equal(summed->s.n_gcs, 2);
	assert_string_equal(summed->s.gcs[0].name, "STATE_RUNNABLE");
	assert_int_equal(summed->s.gcs[0].count, 2);
	assert_int_equal(summed->s.gcs[0].pause_ns, 42);
	assert_int_equal(summed->s.gcs[0].longest_ns, 20);
	assert_int_equal(summed->s.gcs[0].duration_ns, 100);
	assert_int_equal(summed->s.gcs[1].pause_ns, 0); /* not known */
	summed_free(summed);
}

static void phases_within_pauses_are_not_counted_again(void **state)
{
	struct summed *summed = begin();

	(void)state;
	EVENT(&summed->m, &shapes[PAUSE], AT(0), { .n = TICKS(50) }, { .text = "GC Pause" });
	EVENT(&summed->m, &shapes[PAUSE_1], AT(10), { .n = TICKS(20) }, { .text = "Evacuate" });
	EVENT(&summed->m, &shapes[PAUSE], AT(90), { .n = TICKS(30) }, { .text = "GC Pause" });
	finish(summed);
	assert_int_equal(summed->s.sums.n[SUM_PAUSE], 1);
	assert_string_equal(sum(summed, SUM_PAUSE, 0)->name, "GC Pause");
	assert_int_equal(sum(summed, SUM_PAUSE, 0)->count, 2);
	assert_int_equal(sum(summed, SUM_PAUSE, 0)->total_ns, 80);
	assert_int_equal(sum(summed, SUM_PAUSE, 0)->longest_ns, 50);
	summed_free(summed);
}

static void only_operations_at_safepoints_stop_the_program(void **state)
{
	struct summed *summed = begin();

	(void)state;
	EVENT(&summed->m, &shapes[OPERATION], AT(0), { .n = TICKS(50) }, { .n = 5 }, { .n = 1 });
	EVENT(&summed->m, &shapes[OPERATION], AT(1), { .n = TICKS(70) }, { .n = 5 }, { .n = 0 });
	EVENT(&summed->m, &shapes[SAFEPOINT], AT(2), { .n = TICKS(8) });
	finish(summed);
	assert_int_equal(summed->s.sums.n[SUM_SAFEPOINT], 2);
	assert_int_equal(sum(summed, SUM_SAFEPOINT, 0)->total_ns, 50);
	assert_string_equal(sum(summed, SUM_SAFEPOINT, 1)->name, "(reaching a safepoint)");
	assert_int_equal(sum(summed, SUM_SAFEPOINT, 1)->total_ns, 8);
	summed_free(summed);
}

static void threads_have_a_load_of_one_cpu(void **state)
{
	struct summed *summed = begin();

	(void)state;
	summed->facts.n_threads = 4;
	EVENT(&summed->m, &shapes[LOAD], AT(0), { .n = 1 }, { .real = 0.125 }, { .real = 0.125 });
	EVENT(&summed->m, &shapes[LOAD], AT(1), { .n = 1 }, { .real = 0.5 }, { .real = -1 });
	EVENT(&summed->m, &shapes[LOAD], AT(2), { .n = 2 }, { .real = 1e30 }, { .real = 0 });
	EVENT(&summed->m, &shapes[LOAD], AT(3), { .n = 0 }, { .real = 0.25 }, { .real = 0 });
	finish(summed);
	assert_string_equal(sum(summed, SUM_THREAD, 0)->name, "thread-1");
	assert_int_equal(sum(summed, SUM_THREAD, 0)->count, 2);
	assert_true(sum(summed, SUM_THREAD, 0)->load == 3.0);
	assert_true(sum(summed, SUM_THREAD, 1)->load == 0);
	assert_string_equal(sum(summed, SUM_THREAD, 2)->name, "(unknown)");
	summed_free(summed);
}

/* Each event says it since the JVM began to time the method. */
static void timed_methods_are_as_the_last_event_says(void **state)
{
	struct summed *summed = begin();
	struct sums more = { 0 };

	(void)state;
	EVENT(&summed->m, &shapes[TIMING], AT(0), { .text = "p.C.f" }, { .n = 10 },
	      { .n = TICKS(100) }, { .n = TICKS(400) });
	EVENT(&summed->m, &shapes[TIMING], AT(1), { .text = "p.C.f" }, { .n = 30 },
	      { .n = TICKS(80) }, { .n = TICKS(500) });
	EVENT(&summed->m, &shapes[TIMING], AT(2), { .text = "p.C.never" }, { .n = 0 },
	      { .n = INT64_MIN }, { .n = INT64_MIN });
	finish(summed);
	assert_int_equal(summed->s.sums.n[SUM_METHOD], 1);
	more = summed->s.sums;
	sums_merge(&summed->s.sums, &more);
	assert_string_equal(sum(summed, SUM_METHOD, 0)->name, "p.C.f");
	assert_int_equal(sum(summed, SUM_METHOD, 0)->count, 30);
	assert_int_equal(sum(summed, SUM_METHOD, 0)->total_ns, 2400);
	assert_int_equal(sum(summed, SUM_METHOD, 0)->longest_ns, 500);
	summed_free(summed);
}

static const struct gauge *gauge(const struct summed *summed, const char *key)
{
	for (size_t i = 0; i < N_GAUGES; i++)
		if (!strcmp(gauge_key(i), key))
			return &summed->s.gauges.items[i];
	return NULL;
}

static void what_is_measured_has_a_mean_and_a_largest(void **state)
{
	struct summed *summed = begin();

	(void)state;
	EVENT(&summed->m, &shapes[CPU], AT(0), { .real = 0.5 }, { .real = 1 });
	EVENT(&summed->m, &shapes[CPU], AT(1), { .real = 0.25 }, { .real = -1 });
	EVENT(&summed->m, &shapes[CPU], AT(2), { .real = NAN }, { .real = 1e30 });
	EVENT(&summed->m, &shapes[HEAP], AT(3), { .text = "Before GC" }, { .n = 9000 });
	EVENT(&summed->m, &shapes[HEAP], AT(4), { .text = "After GC" }, { .n = 1000 });
	EVENT(&summed->m, &shapes[LOSS], AT(5), { .n = 700 });
	EVENT(&summed->m, &shapes[LOSS], AT(6), { .n = 300 });
	finish(summed);
	assert_int_equal(gauge(summed, "jvmUser")->count, 2);
	assert_int_equal(gauge_mean(gauge(summed, "jvmUser")), 375000);
	assert_int_equal(gauge(summed, "jvmUser")->largest, 500000);
	assert_int_equal(gauge(summed, "machineTotal")->count, 1);
	assert_int_equal(gauge(summed, "heapUsedBeforeGc")->largest, 9000);
	assert_int_equal(gauge_mean(gauge(summed, "heapUsedAfterGc")), 1000);
	assert_int_equal(gauge_mean(gauge(summed, "residentSet")), 0);
	assert_int_equal(summed->s.dropped, 1000);
	summed_free(summed);
}

static void too_many_names_are_the_others(void **state)
{
	struct summed *summed = begin();
	const struct named_sum *last;

	(void)state;
	for (int i = 0; i < 2 * MAX_SUMS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "compiler %d", i);
		EVENT(&summed->m, &shapes[COMPILATION], AT(i), { .n = INT64_MAX / 3 },
		      { .text = name });
	}
	finish(summed);
	last = sum(summed, SUM_COMPILATION, MAX_SUMS - 1);
	assert_string_equal(last->name, "(others)");
	assert_int_equal(last->count, MAX_SUMS + 1);
	assert_int_equal(last->total_ns, INT64_MAX);
	summed_free(summed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_are_counted_by_type_with_their_bytes),
		cmocka_unit_test(where_only_counts_are_asked_for_no_event_is_understood),
		cmocka_unit_test(collections_are_summed_up_by_name_and_cause),
		cmocka_unit_test(phases_within_pauses_are_not_counted_again),
		cmocka_unit_test(only_operations_at_safepoints_stop_the_program),
		cmocka_unit_test(threads_have_a_load_of_one_cpu),
		cmocka_unit_test(timed_methods_are_as_the_last_event_says),
		cmocka_unit_test(what_is_measured_has_a_mean_and_a_largest),
		cmocka_unit_test(too_many_names_are_the_others),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("jfr/summary", tests, NULL, NULL);
}
