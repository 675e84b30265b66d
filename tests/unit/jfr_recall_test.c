// SPDX-License-Identifier: Apache-2.0
/* Events that are known by their looks and events that are read make the same profile. */
#include "jfr/samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/profile.h"
#include "tests/unit/jfr_meaning.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define N_EVENTS 3000

enum shape { FREE, SAMPLE, CPU_TIME, WALL, IN_TLAB, PARK, ENTER, LOST, ALLOCATION, SCOPE, LOG };

static const struct event_shape shapes[] = {
	[FREE] = { 201,
		   "profiler.Free",
		   { START_FIELD,
		     { "is_any", T_BOOLEAN, 0, 0, NULL },
		     THREAD_FIELD,
		     NUMBER_FIELD("address") } },
	[SAMPLE] = { 202, "jdk.ExecutionSample", { SAMPLE_FIELDS } },
	[CPU_TIME] = { 203,
		       "jdk.CPUTimeSample",
		       { START_FIELD,
			 STACK_FIELD,
			 THREAD_FIELD,
			 { "biased", T_BOOLEAN, 0, 0, NULL },
			 { "samplingPeriod", T_LONG, 0, T_TIMESPAN, "TICKS" },
			 { "failed", T_BOOLEAN, 0, 0, NULL } } },
	[WALL] = { 204, "profiler.WallClockSample", { WALL_FIELDS } },
	[IN_TLAB] = { 205, "jdk.ObjectAllocationInNewTLAB", { IN_TLAB_FIELDS } },
	[PARK] = { 206,
		   "jdk.ThreadPark",
		   { START_FIELD, DURATION_FIELD, THREAD_FIELD, STACK_FIELD,
		     CLASS_FIELD("parkedClass") } },
	[ENTER] = { 207,
		    "jdk.JavaMonitorEnter",
		    { START_FIELD, NUMBER_FIELD("address"), CLASS_FIELD("monitorClass"),
		      DURATION_FIELD, THREAD_FIELD, STACK_FIELD } },
	[LOST] = { 208,
		   "jdk.CPUTimeSamplesLost",
		   { START_FIELD, NUMBER_FIELD("lostSamples"), THREAD_FIELD } },
	[ALLOCATION] = { 211,
			 "jdk.ObjectAllocationSample",
			 { START_FIELD, THREAD_FIELD, STACK_FIELD, CLASS_FIELD("objectClass"),
			   NUMBER_FIELD("weight") } },
	[SCOPE] = { 209,
		    "io.opentelemetry.context.Scope",
		    { START_FIELD, DURATION_FIELD, THREAD_FIELD, TEXT_FIELD("traceId"),
		      TEXT_FIELD("spanId") } },
	[LOG] = { 210, "profiler.Log", { START_FIELD, TEXT_FIELD("message") } },
};

struct made {
	struct meaning m;
	struct profile *p;
	struct samples *s;
	size_t n_known;
};

/* Counts the events that the samples know. */
static int (*recall_of_samples)(void *ctx, struct chunk *chunk, const struct event *e,
				const struct unread *u);
static size_t n_known;

static int count_known(void *ctx, struct chunk *chunk, const struct event *e,
		       const struct unread *u)
{
	int err = recall_of_samples(ctx, chunk, e, u);

	n_known += !err;
	return err;
}

static int64_t any(int64_t n)
{
	return random() % n;
}

/* Of a field of this name: mostly what others have, too. */
static uint64_t value_of(const struct event_field *f)
{
	if (f->type == T_THREAD)
		return (uint64_t)any(3);
	if (f->type == T_STACK)
		return any(50) ? (uint64_t)any(3) : 77; /* which is missing */
	if (f->type == T_STATE)
		return any(20) ? 5 : 6; /* the same */
	if (f->type == T_CLASS)
		return (uint64_t)any(3);
	if (f->type == T_BOOLEAN)
		return any(4) ? (uint64_t)!any(4) : 0x81;
	if (!strcmp(f->name, "startTime"))
		return (uint64_t)(WRITER_START_TICKS + any(5000000));
	return any(20) ? (uint64_t)any(100000) : (uint64_t)-any(3); /* nine bytes long */
}

/* With numbers in more bytes than they need, now and then, and damaged now and then. */
static void put_event(struct meaning *m, const struct event_shape *s)
{
	size_t at = event_begin(m->c.b, s->id);
	bool is_damaged = !any(100);

	for (size_t i = 0; i < MAX_FIELDS && s->fields[i].name; i++) {
		uint64_t value = value_of(&s->fields[i]);

		if (s->fields[i].type == T_BOOLEAN)
			put_u8(m->c.b, (unsigned int)value);
		else
			put_padded(m->c.b, value, any(20) ? 1 : 1 + (unsigned int)any(3));
	}
	if (is_damaged)
		put_u8(m->c.b, any(2) ? 0 : 0x80);
	event_end(m->c.b, at);
}

static void put_scope(struct meaning *m)
{
	char span[17];

	snprintf(span, sizeof(span), "%016lx", (unsigned long)(1 + any(9)));
	EVENT(m, &shapes[SCOPE], AT(any(2000000)), { .n = TICKS(any(100000)) }, { .n = any(3) },
	      { .text = "0af7651916cd43dd8448eb211c80319c" }, { .text = span });
}

static void fill(struct meaning *m, unsigned int seed, size_t n_shapes)
{
	srandom(seed);
	for (int chunk = 0; chunk < 2; chunk++) {
		meaning_begin(m, shapes, n_shapes);
		for (int i = 0; i < N_EVENTS; i++) {
			if (!any(100) && n_shapes > SCOPE)
				put_scope(m);
			if (!any(500))
				meaning_setting(m, shapes[SAMPLE].id, "period",
						any(2) ? "10 ms" : "20 ms");
			if (!any(500))
				meaning_setting(m, shapes[ALLOCATION].id, "enabled",
						any(2) ? "true" : "false");
			put_event(m, &shapes[any(SCOPE)]);
		}
		if (!chunk)
			jfr_chunk_end(&m->c);
	}
}

static void make(struct made *made, unsigned int seed, size_t n_shapes, bool is_read)
{
	struct moment_sink sink;

	*made = (struct made){ .p = profile_new() };
	made->s = samples_new(made->p);
	sink = samples_sink(made->s);
	sink.wants = NULL; /* also those that are no samples */
	recall_of_samples = sink.recall;
	sink.recall = count_known;
	n_known = 0;
	fill(&made->m, seed, n_shapes);
	made->m.in.from_ns = is_read; /* all are later, but are to be read to know it */
	meaning_tell(&made->m, sink);
	made->n_known = n_known;
	assert_int_equal(made->m.err, 0);
	samples_finish(made->s, 0, 1);
	assert_int_equal(profile_error(made->p), 0);
}

static void made_deinit(struct made *made)
{
	meaning_deinit(&made->m);
	samples_free(made->s);
	profile_free(made->p);
}

static void assert_same(const struct profile *a, const struct profile *b)
{
	uint32_t n_types = profile_get_header(a)->n_sample_types;

	assert_int_equal(n_types, profile_get_header(b)->n_sample_types);
	assert_int_equal(profile_n_samples(a), profile_n_samples(b));
	assert_int_equal(profile_n_counts(a), profile_n_counts(b));
	for (uint32_t i = 0; i < profile_n_samples(a); i++)
		assert_memory_equal(profile_get_sample(a, i), profile_get_sample(b, i),
				    sizeof(struct sample) + n_types * sizeof(int64_t));
	for (uint32_t i = 0; i < profile_n_counts(a); i++) {
		uint64_t m, n;

		assert_string_equal(profile_get_count(a, i, &m), profile_get_count(b, i, &n));
		assert_int_equal(m, n);
	}
}

static void events_that_are_known_count_as_those_that_are_read(void **state)
{
	static const size_t n_shapes[] = { SCOPE, LOG, N(shapes) };

	(void)state;
	for (unsigned int seed = 0; seed < 12; seed++) {
		size_t n = n_shapes[seed % N(n_shapes)];
		struct made known, read;

		make(&known, seed, n, false);
		make(&read, seed, n, true);
		assert_true(known.n_known > N_EVENTS / 4);
		assert_int_equal(read.n_known, 0);
		assert_in_range(profile_n_samples(read.p), 20, 2000);
		assert_true(read.m.report.n_damages > 5);
		assert_int_equal(known.m.report.n_damages, read.m.report.n_damages);
		assert_int_equal(known.m.report.n_lost, read.m.report.n_lost);
		assert_same(known.p, read.p);
		made_deinit(&known);
		made_deinit(&read);
	}
}

/* A sink that hears of an event is not asked to recall it, and the other way round. */
struct asked {
	size_t n_recalled, n_taken;
	struct interpreter *in;
	bool sets_range; /* when the chunk begins */
};

static int recalls(void *ctx, struct chunk *chunk, const struct event *e, const struct unread *u)
{
	struct asked *a = ctx;

	(void)chunk, (void)e, (void)u;
	return a->n_recalled++ % 2 ? 0 : 1;
}

static int takes(void *ctx, struct moment *m)
{
	struct asked *a = ctx;

	a->n_taken += m->is_sample;
	return 0;
}

static void begins(void *ctx, struct chunk *chunk)
{
	struct asked *a = ctx;

	if (a->sets_range)
		a->in->from_ns = chunk->header.start_ns;
}

static struct asked ask_with(struct meaning *m, struct asked a)
{

	meaning_begin(m, shapes, SCOPE);
	for (int i = 0; i < 10; i++)
		EVENT(m, &shapes[SAMPLE], AT(i), { .n = 1 }, { .n = 1 }, { .n = 5 });
	meaning_tell(m, (struct moment_sink){ .ctx = &a,
					      .wants = meaning_wants,
					      .finds_spans = true,
					      .begin = begins,
					      .take = takes,
					      .recall = recalls });
	assert_int_equal(m->err, 0);
	meaning_deinit(m);
	return a;
}

static struct asked ask(struct meaning *m)
{
	return ask_with(m, (struct asked){ 0 });
}

static void only_who_may_know_an_event_is_asked(void **state)
{
	struct asked a = ask(&(struct meaning){ 0 });
	struct asked other = { 0 };
	struct meaning ranged = { 0 };

	(void)state;
	assert_int_equal(a.n_recalled, 10);
	assert_int_equal(a.n_taken, 5);
	a = ask(&(struct meaning){ .in.to_ns = INT64_MAX });
	assert_int_equal(a.n_recalled, 0);
	assert_int_equal(a.n_taken, 10);
	a = ask_with(&ranged, (struct asked){ .in = &ranged.in, .sets_range = true });
	assert_int_equal(a.n_recalled, 0);
	assert_int_equal(a.n_taken, 10);
	a = ask(&(struct meaning){ .in.is_ordered = true });
	assert_int_equal(a.n_recalled, 0);
	a = ask(&(struct meaning){ .in.thread = "thread-1" });
	assert_int_equal(a.n_recalled, 0);
	a = ask(&(struct meaning){
		.in.n_sinks = 1,
		.in.sinks[0] = { .ctx = &other, .wants = meaning_wants, .take = takes } });
	assert_int_equal(a.n_recalled, 0);
	assert_int_equal(a.n_taken, 10);
	assert_int_equal(other.n_taken, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_that_are_known_count_as_those_that_are_read),
		cmocka_unit_test(only_who_may_know_an_event_is_asked),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("jfr/recall", tests, NULL, NULL);
}
