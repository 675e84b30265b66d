// SPDX-License-Identifier: Apache-2.0
/* What other writers than JVMs do their own way: Datadog's agent, JMC's writer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/profile.h"
#include "jfr/samples.h"
#include "tests/unit/jfr_meaning.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define CONSTANT_FIELD(name)                           \
	{                                              \
		name, T_STATE, FIELD_CONSTANT, 0, NULL \
	}

enum shape { DATADOG, BIASED, TIMELINE, THROWN, PLAIN, TAGGED };

static const struct event_shape shapes[] = {
	[DATADOG] = { 201,
		      "datadog.ExecutionSample",
		      { START_FIELD, THREAD_FIELD, STACK_FIELD, STATE_FIELD, CONSTANT_FIELD("mode"),
			NUMBER_FIELD("weight"), NUMBER_FIELD("spanId"),
			NUMBER_FIELD("localRootSpanId"), CONSTANT_FIELD("_dd.trace.operation") } },
	[BIASED] = { 202,
		     "jdk.CPUTimeSample",
		     { START_FIELD,
		       STACK_FIELD,
		       THREAD_FIELD,
		       { "samplingPeriod", T_LONG, 0, T_TIMESPAN, "TICKS" },
		       { "biased", T_BOOLEAN, 0, 0, NULL } } },
	[TIMELINE] = { 203,
		       "datadog.Timeline",
		       { START_FIELD, DURATION_FIELD, THREAD_FIELD, NUMBER_FIELD("spanId") } },
	[THROWN] = { 204,
		     "datadog.ExceptionSample",
		     { START_FIELD, THREAD_FIELD, STACK_FIELD, TEXT_FIELD("type") } },
	[PLAIN] = { 205, "jdk.ExecutionSample", { START_FIELD, SAMPLED_FIELD, STACK_FIELD } },
	[TAGGED] = { 206,
		     "profiler.Span",
		     { START_FIELD,
		       DURATION_FIELD,
		       THREAD_FIELD,
		       { "tag", T_STRING, FIELD_CONSTANT, 0, NULL } } },
};

#define STATE 5 /* "STATE_RUNNABLE", a constant with a text */

static void put_samples(struct meaning *m)
{
	meaning_begin(m, shapes, N(shapes));
	EVENT(m, &shapes[DATADOG], AT(1), { .n = 1 }, { .n = 1 }, { .n = STATE }, { .n = STATE },
	      { .n = 1 }, { .n = 0x42 }, { .n = -1 }, { .n = STATE });
	EVENT(m, &shapes[DATADOG], AT(2), { .n = 1 }, { .n = 1 }, { .n = STATE }, { .n = STATE },
	      { .n = 1 });
	EVENT(m, &shapes[DATADOG], AT(3), { .n = 1 }, { .n = 1 }, { .n = STATE }, { .n = 0 },
	      { .n = 1 });
	EVENT(m, &shapes[DATADOG], AT(4), { .n = 1 }, { .n = 1 }, { .n = STATE }, { .n = STATE },
	      { .n = 1 });
	EVENT(m, &shapes[BIASED], AT(5), { .n = 1 }, { .n = 1 }, { .n = TICKS(10) }, { .n = 1 });
	EVENT(m, &shapes[BIASED], AT(6), { .n = 1 }, { .n = 1 }, { .n = TICKS(10) }, { .n = 0 });
	EVENT(m, &shapes[THROWN], AT(7), { .n = 1 }, { .n = 1 }, { .text = "p.Refused" });
	EVENT(m, &shapes[THROWN], AT(8), { .n = 1 }, { .n = 1 }, { .text = "p.Other" });
	EVENT(m, &shapes[THROWN], AT(9), { .n = 1 }, { .n = 1 }, { .text = "p.Refused" });
	EVENT(m, &shapes[DATADOG], AT(10), { .n = 1 }, { .n = 1 }, { .n = STATE }, { .n = STATE },
	      { .n = 1 }, { .n = 0 }, { .n = 0 }, { .n = STATE });
}

static void samples_say_how_they_were_taken_and_in_which_span(void **state)
{
	struct meaning m = { 0 };

	(void)state;
	put_samples(&m);
	meaning_read(&m);
	assert_int_equal(m.n, 10);
	assert_string_equal(m.items[0].mode, "STATE_RUNNABLE");
	assert_string_equal(m.items[0].operation, "STATE_RUNNABLE");
	assert_string_equal(m.items[0].span_id, "0000000000000042");
	assert_string_equal(m.items[0].root_id, "ffffffffffffffff");
	assert_string_equal(m.items[1].root_id, "");
	assert_string_equal(m.items[2].mode, "");
	assert_string_equal(m.items[4].mode, "biased");
	assert_string_equal(m.items[5].mode, "");
	assert_string_equal(m.items[6].class, "p.Refused");
	assert_string_equal(m.items[7].class, "p.Other");
	assert_int_equal(m.items[7].values[COLUMN_EXCEPTIONS], 1);
	assert_string_equal(m.items[9].operation, "STATE_RUNNABLE");
	assert_string_equal(m.items[9].span_id, "");
	meaning_deinit(&m);
}

/* All of one stack and thread: the one in a span, with a mode, without, biased, not, two classes,
   an operation and no span. */
static void what_differs_in_that_is_no_one_sample(void **state)
{
	struct profile *p = profile_new();
	struct samples *s = samples_new(p);
	struct meaning m = { 0 };

	(void)state;
	put_samples(&m);
	meaning_tell(&m, samples_sink(s));
	assert_int_equal(m.err, 0);
	samples_finish(s, 0, 0);
	assert_int_equal(profile_n_samples(p), 8);
	meaning_deinit(&m);
	samples_free(s);
	profile_free(p);
}

static void samples_are_in_the_span_of_a_timeline(void **state)
{
	struct meaning m = { 0 };

	(void)state;
	m.in.groups = 1 << GROUP_CPU;
	meaning_begin(&m, shapes, N(shapes));
	EVENT(&m, &shapes[PLAIN], AT(20), { .n = 1 }, { .n = 1 });
	EVENT(&m, &shapes[PLAIN], AT(90), { .n = 1 }, { .n = 1 });
	EVENT(&m, &shapes[PLAIN], AT(20), { .n = 2 }, { .n = 1 });
	EVENT(&m, &shapes[TIMELINE], AT(10), { .n = TICKS(50) }, { .n = 1 }, { .n = 0x77 });
	meaning_read(&m);
	assert_int_equal(m.n, 3);
	assert_string_equal(m.items[0].span_id, "0000000000000077");
	assert_string_equal(m.items[1].span_id, "");
	assert_string_equal(m.items[2].span_id, "");
	meaning_deinit(&m);
}

/* The tags 7 and 8, and what async-profiler writes for none. */
static void put_tags(struct meaning *m)
{
	size_t at = checkpoint_begin(&m->c, false, 1);

	put_pool(m->c.b, T_STRING, 3);
	put_varint(m->c.b, 0);
	put_string(m->c.b, 0, "");
	put_varint(m->c.b, 7);
	put_string(m->c.b, 3, "GET /orders");
	put_varint(m->c.b, 8);
	put_string(m->c.b, 3, "query");
	event_end(m->c.b, at);
}

static void put_tagged(struct meaning *m)
{
	static const struct {
		int64_t time, duration, thread, tag;
	} spans[] = { { 100, 100, 1, 7 }, { 140, 20, 1, 8 }, { 210, 20, 1, 0 }, { 300, 50, 1, 7 } };

	meaning_begin(m, shapes, N(shapes));
	put_tags(m);
	for (int64_t time = 90; time < 340; time += 20) {
		EVENT(m, &shapes[PLAIN], AT(time), { .n = 1 }, { .n = 1 });
		EVENT(m, &shapes[PLAIN], AT(time), { .n = 2 }, { .n = 1 });
	}
	for (size_t i = 0; i < N(spans); i++)
		EVENT(m, &shapes[TAGGED], AT(spans[i].time), { .n = TICKS(spans[i].duration) },
		      { .n = spans[i].thread }, { .n = spans[i].tag });
}

static void samples_have_the_tag_of_their_span(void **state)
{
	struct meaning m = { 0 };

	(void)state;
	m.in.groups = 1 << GROUP_CPU;
	put_tagged(&m);
	meaning_read(&m);
	assert_int_equal(m.n, 26);
	for (size_t i = 0; i < m.n; i++) {
		int64_t at = m.items[i].time_ns - WRITER_START_NS;
		const char *tag = at >= 140 && at < 160			 ? "query"
				  : (at >= 100 && at < 200) || at >= 300 ? "GET /orders"
									 : "";

		assert_string_equal(m.items[i].tag, m.items[i].thread_id == 1 ? tag : "");
		assert_string_equal(m.items[i].span_id, "");
	}
	meaning_deinit(&m);
}

/* Of thread 1 in none, one, the other; of thread 2. */
static void spans_of_one_tag_tell_no_samples_apart(void **state)
{
	struct profile *p = profile_new();
	struct samples *s = samples_new(p);
	struct meaning m = { 0 };

	(void)state;
	put_tagged(&m);
	meaning_tell(&m, samples_sink(s));
	assert_int_equal(m.err, 0);
	samples_finish(s, 0, 0);
	assert_int_equal(profile_n_samples(p), 4);
	meaning_deinit(&m);
	samples_free(s);
	profile_free(p);
}

#define T_JMC_STACK 60

static void begin_jmc(struct meaning *m, const struct event_shape *sample)
{
	struct jfr_types t = world_types();

	add_class(&t, T_JMC_STACK, "jdk.types.StackTrace", NULL);
	add_field(&t, "truncated", T_BOOLEAN, 0);
	add_field(&t, "frames", T_FRAME, FIELD_ARRAY | FIELD_CONSTANT);
	add_shape(&t, sample);
	types_end(&t);
	m->c = jfr_chunk_begin(&m->b, 0);
	put_metadata(&m->c, &t);
	types_free(&t);
	world_checkpoint(&m->c, 1, "p/C");
}

static void frames_may_be_constants(void **state)
{
	static const struct event_shape sample = {
		201,
		"jdk.ExecutionSample",
		{ START_FIELD,
		  SAMPLED_FIELD,
		  { "stackTrace", T_JMC_STACK, FIELD_CONSTANT, 0, NULL } },
	};
	static const char frame[] = "\x09\x01\x2a\x07\x01"; /* of key 9: method 1, line 42 */
	static const char stacks[] = "\x03\0\x02\x09\x09\x04\0\x01\x4d"; /* the second lacks its */
	struct meaning m = { 0 };
	size_t at;

	(void)state;
	begin_jmc(&m, &sample);
	at = checkpoint_begin(&m.c, false, 2);
	put_pool(m.c.b, T_FRAME, 1);
	put_bytes(m.c.b, frame, sizeof(frame) - 1);
	put_pool(m.c.b, T_JMC_STACK, 2);
	put_bytes(m.c.b, stacks, sizeof(stacks) - 1);
	event_end(m.c.b, at);
	EVENT(&m, &sample, AT(1), { .n = 1 }, { .n = 3 });
	EVENT(&m, &sample, AT(2), { .n = 1 }, { .n = 4 });
	EVENT(&m, &sample, AT(3), { .n = INT64_MIN }, { .n = INT64_MIN }); /* its null */
	meaning_read(&m);
	assert_int_equal(m.n, 3);
	assert_int_equal(m.items[0].depth, 2);
	assert_string_equal(m.items[0].top, "method1:42");
	assert_false(m.items[0].is_partial);
	assert_int_equal(m.items[1].depth, 1);
	assert_true(m.items[1].is_partial);
	assert_false(m.items[2].has_stack || m.items[2].is_stack_missing);
	assert_string_equal(m.items[2].thread, "");
	meaning_deinit(&m);
}

struct known {
	const struct interpreter *in;
	int64_t pid, execution_ns;
};

static void note_known(void *ctx, struct chunk *chunk)
{
	struct known *k = ctx;

	(void)chunk;
	k->pid = k->in->facts.pid;
	k->execution_ns = k->in->settings.execution_ns;
}

/* A JDK may write many samples before it writes what it was told. */
static void what_stands_behind_many_samples_is_known_before_them(void **state)
{
	static const struct event_shape information = { 207,
							"jdk.JVMInformation",
							{ START_FIELD, NUMBER_FIELD("pid") } };
	const struct event_shape all[] = { shapes[BIASED], information, shapes[PLAIN] };
	struct meaning m = { .in.groups = 1u << GROUP_LOCK };
	struct known known = { .in = &m.in };

	(void)state;
	meaning_begin(&m, all, N(all));
	for (int i = 0; i < 3000; i++)
		EVENT(&m, &all[0], AT(i), { .n = 1 }, { .n = 1 }, { .n = TICKS(10) });
	meaning_setting(&m, shapes[PLAIN].id, "period", "10 ms");
	EVENT(&m, &information, AT(0), { .n = 17 });
	meaning_tell(&m, (struct moment_sink){ .ctx = &known,
					       .wants = meaning_wants,
					       .take = meaning_take,
					       .begin = note_known });
	assert_int_equal(m.err, 0);
	assert_int_equal(known.pid, 17);
	assert_int_equal(known.execution_ns, 10000000);
	meaning_deinit(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_say_how_they_were_taken_and_in_which_span),
		cmocka_unit_test(what_differs_in_that_is_no_one_sample),
		cmocka_unit_test(samples_are_in_the_span_of_a_timeline),
		cmocka_unit_test(samples_have_the_tag_of_their_span),
		cmocka_unit_test(spans_of_one_tag_tell_no_samples_apart),
		cmocka_unit_test(frames_may_be_constants),
		cmocka_unit_test(what_stands_behind_many_samples_is_known_before_them),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("jfr/dialects", tests, NULL, NULL);
}
