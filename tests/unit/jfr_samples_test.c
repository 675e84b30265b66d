// SPDX-License-Identifier: Apache-2.0
#include "jfr/samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/profile.h"
#include "tests/unit/jfr_meaning.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

enum shape { SAMPLE, CPU_TIME, CPU_LOST, ENTER, ALLOCATION, SCOPE, SPAN };

static const struct event_shape shapes[] = {
	[SAMPLE] = { 201,
		     "jdk.ExecutionSample",
		     { START_FIELD, SAMPLED_FIELD, STACK_FIELD, STATE_FIELD } },
	[CPU_TIME] = { 202,
		       "jdk.CPUTimeSample",
		       { START_FIELD,
			 STACK_FIELD,
			 THREAD_FIELD,
			 { "failed", T_BOOLEAN, 0, 0, NULL },
			 { "samplingPeriod", T_LONG, 0, T_TIMESPAN, "TICKS" } } },
	[CPU_LOST] = { 203,
		       "jdk.CPUTimeSamplesLost",
		       { START_FIELD, NUMBER_FIELD("lostSamples"), THREAD_FIELD } },
	[ENTER] = { 204,
		    "jdk.JavaMonitorEnter",
		    { START_FIELD, DURATION_FIELD, THREAD_FIELD, STACK_FIELD,
		      CLASS_FIELD("monitorClass"), TEXT_FIELD("traceId"), TEXT_FIELD("spanId") } },
	[ALLOCATION] = { 205,
			 "jdk.ObjectAllocationSample",
			 { START_FIELD, THREAD_FIELD, STACK_FIELD, CLASS_FIELD("objectClass"),
			   NUMBER_FIELD("weight") } },
	[SCOPE] = { 206,
		    "io.opentelemetry.context.Scope",
		    { START_FIELD, DURATION_FIELD, THREAD_FIELD, TEXT_FIELD("traceId"),
		      TEXT_FIELD("spanId") } },
	[SPAN] = { 207,
		   "io.opentelemetry.trace.Span",
		   { START_FIELD, TEXT_FIELD("operationName"), TEXT_FIELD("traceId"),
		     TEXT_FIELD("spanId") } },
};

struct made {
	struct meaning m;
	struct profile *p;
	struct samples *s;
};

static void begin_with(struct made *made, size_t n_shapes)
{
	*made = (struct made){ .p = profile_new() };
	made->s = samples_new(made->p);
	assert_non_null(made->s);
	meaning_begin(&made->m, shapes, n_shapes);
}

static void begin(struct made *made)
{
	begin_with(made, SCOPE);
}

static const struct profile *finish(struct made *made)
{
	meaning_tell(&made->m, samples_sink(made->s));
	assert_int_equal(made->m.err, 0);
	samples_finish(made->s, WRITER_START_NS, WRITER_START_NS + 5);
	assert_int_equal(profile_error(made->p), 0);
	return made->p;
}

static void made_deinit(struct made *made)
{
	meaning_deinit(&made->m);
	samples_free(made->s);
	profile_free(made->p);
}

/* Of a sample, by the name of its type; -1: the profile has none. */
static int64_t value(const struct profile *p, uint32_t sample, const char *type)
{
	const struct profile_header *h = profile_get_header(p);

	for (uint32_t i = 0; i < h->n_sample_types; i++)
		if (!strcmp(profile_get_string(p, h->sample_types[i].type), type))
			return profile_get_sample(p, sample)->values[i];
	return -1;
}

/* The functions of its stack, innermost first, with commas. */
static const char *stack(const struct profile *p, uint32_t sample)
{
	static char text[256];
	size_t n, n_lines, len = 0;
	const uint32_t *locations = profile_get_stack(p, profile_get_sample(p, sample)->stack, &n);

	text[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		const struct line *line = profile_get_lines(p, locations[i], &n_lines);
		const struct function *f = profile_get_function(p, line->function);

		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", i ? "," : "",
					profile_get_string(p, f->name));
	}
	return text;
}

/* "" : it has none. */
static const char *label(const struct profile *p, uint32_t sample, const char *key)
{
	static char text[32];
	size_t n;
	const struct label *l = profile_get_labels(p, profile_get_sample(p, sample)->labels, &n);

	for (size_t i = 0; i < n; i++) {
		if (strcmp(profile_get_string(p, l[i].key), key))
			continue;
		if (l[i].str)
			return profile_get_string(p, l[i].str);
		snprintf(text, sizeof(text), "%lld", (long long)l[i].num);
		return text;
	}
	return "";
}

static int64_t counted(const struct profile *p, const char *name)
{
	for (uint32_t i = 0; i < profile_n_counts(p); i++) {
		uint64_t n;

		if (!strcmp(profile_get_count(p, i, &n), name))
			return (int64_t)n;
	}
	return 0;
}

static void samples_of_one_stack_and_thread_are_one(void **state)
{
	const struct profile *p;
	struct made made;

	(void)state;
	begin(&made);
	for (int i = 0; i < 5; i++)
		EVENT(&made.m, &shapes[SAMPLE], AT(i), { .n = 1 }, { .n = 1 }, { .n = 5 });
	EVENT(&made.m, &shapes[SAMPLE], AT(9), { .n = 2 }, { .n = 1 }, { .n = 5 });
	p = finish(&made);
	assert_int_equal(profile_n_samples(p), 2);
	assert_int_equal(value(p, 0, "samples"), 5);
	assert_int_equal(value(p, 0, "cpu"), 100000000);
	assert_string_equal(stack(p, 0), "p.C.method1");
	assert_int_equal(profile_get_sample(p, 0)->time_ns, WRITER_START_NS);
	assert_string_equal(label(p, 1, "thread"), "thread-2");
	made_deinit(&made);
}

static void labels_say_who_and_about_what(void **state)
{
	static const char trace[] = "0af7651916cd43dd8448eb211c80319c";
	const struct profile *p;
	struct made made;

	(void)state;
	begin(&made);
	samples_set_label(made.s, "service", "billing");
	samples_set_label(made.s, "service", "orders");
	EVENT(&made.m, &shapes[SAMPLE], AT(0), { .n = 1 }, { .n = 1 }, { .n = 5 });
	EVENT(&made.m, &shapes[ENTER], AT(1), { .n = TICKS(30) }, { .n = 2 }, { .n = 2 },
	      { .n = 1 }, { .text = trace }, { .text = "00f067aa0ba902b7" });
	EVENT(&made.m, &shapes[ENTER], AT(2), { .n = TICKS(30) }, { .n = 2 }, { .n = 2 },
	      { .n = 1 }, { .text = trace }, { .text = "b7ad6b7169203331" });
	p = finish(&made);
	assert_int_equal(profile_n_samples(p), 3);
	assert_string_equal(label(p, 0, "service"), "orders");
	assert_string_equal(label(p, 0, "thread"), "thread-1");
	assert_string_equal(label(p, 0, "tid"), "1001");
	assert_string_equal(label(p, 0, "java_tid"), "1");
	assert_string_equal(label(p, 0, "state"), "RUNNABLE");
	assert_string_equal(label(p, 0, "class"), "");
	assert_string_equal(label(p, 1, "class"), "p.C");
	assert_string_equal(label(p, 1, "trace_id"), trace);
	assert_string_equal(label(p, 1, "span_id"), "00f067aa0ba902b7");
	assert_string_equal(label(p, 2, "span_id"), "b7ad6b7169203331");
	made_deinit(&made);
}

static void sample(struct made *made, int64_t thread, int64_t ns)
{
	EVENT(&made->m, &shapes[SAMPLE], AT(ns), { .n = thread }, { .n = 1 }, { .n = 5 });
}

static void failed(struct made *made, int64_t thread, int64_t ns)
{
	EVENT(&made->m, &shapes[CPU_TIME], AT(ns), { .n = 0 }, { .n = thread }, { .n = 1 },
	      { .n = TICKS(10) });
}

/* Of a sample, by its stack, thread and span; UINT32_MAX: there is none. */
static uint32_t find(const struct profile *p, const char *of, const char *thread, const char *span)
{
	for (uint32_t i = 0; i < profile_n_samples(p); i++)
		if (!strcmp(stack(p, i), of) && !strcmp(label(p, i, "thread"), thread) &&
		    !strcmp(label(p, i, "span_id"), span))
			return i;
	return UINT32_MAX;
}

static void spans_are_those_of_scopes_that_end_later(void **state)
{
	static const char trace[] = "0af7651916cd43dd8448eb211c80319c";
	static const char a[] = "00f067aa0ba902b7", b[] = "b7ad6b7169203331";
	static const struct {
		const char *stack, *thread, *span;
		int64_t samples, cpu;
	} cases[] = {
		{ "p.C.method1", "thread-1", "", 1, 20000000 },
		{ "p.C.method1", "thread-1", a, 2, 40000000 },
		{ "p.C.method1", "thread-1", b, 1, 20000000 },
		{ "p.C.method1", "thread-2", "", 3, 60000000 },
		{ "[failed]", "thread-1", a, 1, 10 },
		{ "[failed]", "thread-1", "", 1, 10 },
	};
	const struct profile *p;
	struct made made;

	(void)state;
	begin_with(&made, N(shapes));
	for (int i = 0; i < 3; i++)
		sample(&made, 2, 110 + i);
	sample(&made, 1, 99);
	sample(&made, 1, 100);
	sample(&made, 1, 170);
	sample(&made, 1, 150);
	failed(&made, 1, 199);
	failed(&made, 1, 200);
	EVENT(&made.m, &shapes[SCOPE], AT(140), { .n = TICKS(20) }, { .n = 1 }, { .text = trace },
	      { .text = b });
	EVENT(&made.m, &shapes[SCOPE], AT(100), { .n = TICKS(100) }, { .n = 1 }, { .text = trace },
	      { .text = a });
	p = finish(&made);
	assert_int_equal(profile_n_samples(p), N(cases));
	for (size_t i = 0; i < N(cases); i++) {
		uint32_t found = find(p, cases[i].stack, cases[i].thread, cases[i].span);

		assert_int_not_equal(found, UINT32_MAX);
		assert_int_equal(value(p, found, "samples"), cases[i].samples);
		assert_int_equal(value(p, found, "cpu"), cases[i].cpu);
		assert_string_equal(label(p, found, "trace_id"), *cases[i].span ? trace : "");
	}
	made_deinit(&made);
}

/* More of it than labels are kept in a scope: what stands in the same place is not taken for it. */
static void samples_in_one_scope_keep_what_else_is_said_of_them(void **state)
{
	enum { N_CLASSES = 300, N_ROUNDS = 2 };
	bool seen[N_CLASSES + 1] = { false };
	const struct profile *p;
	struct made made;

	(void)state;
	begin_with(&made, N(shapes));
	for (int i = 0; i < N_ROUNDS * N_CLASSES; i++)
		EVENT(&made.m, &shapes[ALLOCATION], AT(i), { .n = 1 }, { .n = 1 },
		      { .n = 1000 + i % N_CLASSES }, { .n = 8 });
	EVENT(&made.m, &shapes[SCOPE], AT(0), { .n = TICKS(10000) }, { .n = 1 }, { .text = "1" },
	      { .text = "2" });
	p = finish(&made);
	assert_int_equal(profile_n_samples(p), N_CLASSES);
	for (uint32_t i = 0; i < N_CLASSES; i++) {
		int class = 0;

		assert_int_equal(sscanf(label(p, i, "class"), "[unresolved:class:%d]", &class), 1);
		assert_in_range(class, 1000, 1000 + N_CLASSES - 1);
		assert_false(seen[class - 1000]);
		seen[class - 1000] = true;
		assert_int_equal(value(p, i, "samples"), N_ROUNDS);
		assert_string_equal(label(p, i, "span_id"), "2");
	}
	made_deinit(&made);
}

/* One that comes again in another chunk has the name that it has there. */
static void spans_have_the_names_that_their_chunk_says(void **state)
{
	static const char *const names[] = { "GET /größe/{id}", "SELECT" };
	enum { N_CHUNKS = 3, N_SPANS = 600 };
	const struct profile *p;
	struct made made;
	char id[17];

	(void)state;
	begin_with(&made, N(shapes));
	for (int i = 0; i < N_CHUNKS; i++) {
		if (i) {
			jfr_chunk_end(&made.m.c);
			meaning_begin(&made.m, shapes, N(shapes));
		}
		for (int j = 0; j < N_SPANS; j++) {
			snprintf(id, sizeof(id), "%016x", j + 1);
			sample(&made, 1, 100 * j);
			EVENT(&made.m, &shapes[SCOPE], AT(100 * j), { .n = TICKS(50) }, { .n = 1 },
			      { .text = "1" }, { .text = id });
			EVENT(&made.m, &shapes[SPAN], AT(100 * j), { .text = names[(i + j) % 2] },
			      { .text = "1" }, { .text = id });
		}
	}
	p = finish(&made);
	assert_int_equal(profile_n_samples(p), 2 * N_SPANS);
	for (uint32_t i = 0; i < 2 * N_SPANS; i++) {
		const char *name = label(p, i, "span_name"), *span = label(p, i, "span_id");
		int j = (int)strtol(span, NULL, 16) - 1;

		assert_true(!strcmp(name, names[0]) || !strcmp(name, names[1]));
		assert_int_equal(value(p, i, "samples"), !strcmp(name, names[j % 2]) ? 2 : 1);
	}
	made_deinit(&made);
}

static void what_nothing_came_for_is_left_out(void **state)
{
	const struct profile_header *h;
	const struct profile *p;
	struct made made;

	(void)state;
	begin(&made);
	EVENT(&made.m, &shapes[ALLOCATION], AT(0), { .n = 1 }, { .n = 1 }, { .n = 1 },
	      { .n = 5000 });
	EVENT(&made.m, &shapes[ENTER], AT(1), { .n = 0 }, { .n = 2 }, { .n = 1 }, { .n = 1 });
	p = finish(&made);
	h = profile_get_header(p);
	assert_int_equal(h->n_sample_types, 4);
	assert_string_equal(profile_get_string(p, h->default_sample_type), "alloc_objects");
	assert_int_equal(value(p, 0, "alloc_space"), 5000);
	assert_int_equal(value(p, 1, "lock"), 0); /* it was there, if for no time */
	assert_int_equal(value(p, 0, "cpu"), -1);
	assert_int_equal(h->time_ns, WRITER_START_NS);
	assert_int_equal(h->duration_ns, 5);
	made_deinit(&made);
}

static void what_is_missing_has_a_mark_and_is_counted(void **state)
{
	const struct profile *p;
	struct made made;

	(void)state;
	begin(&made);
	EVENT(&made.m, &shapes[CPU_TIME], AT(0), { .n = 1 }, { .n = 1 }, { 0 }, { .n = 10 });
	EVENT(&made.m, &shapes[CPU_TIME], AT(0), { .n = 1 }, { .n = 1 }, { 0 }, { .n = 10 });
	EVENT(&made.m, &shapes[CPU_TIME], AT(1), { .n = 0 }, { .n = 1 }, { .n = 1 }, { .n = 10 });
	EVENT(&made.m, &shapes[CPU_LOST], AT(2), { .n = 7 }, { .n = 1 });
	EVENT(&made.m, &shapes[SAMPLE], AT(3), { .n = 1 }, { .n = 77 }, { .n = 5 });
	EVENT(&made.m, &shapes[SAMPLE], AT(4), { .n = 1 }, { .n = 0 }, { .n = 5 });
	p = finish(&made);
	assert_int_equal(profile_n_samples(p), 5);
	assert_string_equal(stack(p, 1), "[failed]");
	assert_string_equal(stack(p, 2), "[lost]");
	assert_string_equal(stack(p, 3), "[unresolved stack]");
	assert_string_equal(stack(p, 4), "[no stack]");
	assert_int_equal(counted(p, "jfr.sampled"), 5);
	assert_int_equal(counted(p, "jfr.lost"), 7);
	assert_int_equal(counted(p, "jfr.end.complete"), 2);
	assert_int_equal(counted(p, "jfr.end.failed"), 1);
	assert_int_equal(counted(p, "jfr.end.unresolved"), 1);
	assert_int_equal(counted(p, "jfr.end.none"), 1);
	made_deinit(&made);
}

static void put_frame(struct jfr_bytes *b, uint64_t method)
{
	put_varint(b, method);
	put_varint(b, 42);
	put_varint(b, 7);
	put_varint(b, 1);
}

/* Stack 9: method 1, the hidden method 9, method 2, and more that was not recorded; stack 8: the
   hidden one alone. */
static void add_hidden(struct jfr_chunk *c)
{
	size_t at = checkpoint_begin(c, false, 2);
	struct jfr_bytes *b = c->b;

	put_pool(b, T_METHOD, 1);
	put_varint(b, 9);
	put_varint(b, 1);
	put_varint(b, 2);
	put_varint(b, 0);
	put_u8(b, 1);
	put_pool(b, T_STACK, 2);
	put_varint(b, 9);
	put_u8(b, 1);
	put_varint(b, 3);
	put_frame(b, 1);
	put_frame(b, 9);
	put_frame(b, 2);
	put_varint(b, 8);
	put_u8(b, 0);
	put_varint(b, 1);
	put_frame(b, 9);
	event_end(b, at);
}

static void frames_that_the_jvm_hides_are_left_out_unless_asked_for(void **state)
{
	(void)state;
	for (int keeps = 0; keeps < 2; keeps++) {
		const struct profile *p;
		struct made made;

		begin(&made);
		if (keeps)
			samples_keep_hidden(made.s);
		add_hidden(&made.m.c);
		EVENT(&made.m, &shapes[SAMPLE], AT(0), { .n = 1 }, { .n = 9 }, { .n = 5 });
		EVENT(&made.m, &shapes[SAMPLE], AT(1), { .n = 1 }, { .n = 8 }, { .n = 5 });
		p = finish(&made);
		assert_string_equal(stack(p, 0),
				    keeps ? "p.C.method1,p.C.method1,p.D.method2,[truncated]"
					  : "p.C.method1,p.D.method2,[truncated]");
		/* Nothing would be left of it. */
		assert_string_equal(stack(p, 1), "p.C.method1");
		assert_int_equal(counted(p, "jfr.end.truncated"), 1);
		made_deinit(&made);
	}
}

static void execution_samples_are_cpu_when_cpu_time_gave_none(void **state)
{
	const struct profile *p;
	struct made made;

	(void)state;
	begin(&made);
	meaning_setting(&made.m, shapes[CPU_TIME].id, "enabled", "true");
	EVENT(&made.m, &shapes[SAMPLE], AT(3), { .n = 1 }, { .n = 1 }, { .n = 5 });
	p = finish(&made);
	assert_int_equal(value(p, 0, "cpu"), 20000000);
	assert_int_equal(value(p, 0, "cpu_exec"), -1);
	made_deinit(&made);
}

static void several_recordings_become_one_profile(void **state)
{
	const struct profile *p;
	struct made made;

	(void)state;
	begin(&made);
	EVENT(&made.m, &shapes[SAMPLE], AT(0), { .n = 1 }, { .n = 1 }, { .n = 5 });
	jfr_chunk_end(&made.m.c);
	meaning_begin(&made.m, shapes, SCOPE);
	EVENT(&made.m, &shapes[SAMPLE], AT(0), { .n = 1 }, { .n = 1 }, { .n = 5 });
	EVENT(&made.m, &shapes[SAMPLE], AT(0), { .n = 1 }, { .n = 2 }, { .n = 5 });
	p = finish(&made);
	assert_int_equal(made.m.report.n_chunks, 2);
	assert_int_equal(profile_n_samples(p), 2);
	assert_int_equal(value(p, 0, "samples"), 2);
	made_deinit(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_of_one_stack_and_thread_are_one),
		cmocka_unit_test(labels_say_who_and_about_what),
		cmocka_unit_test(spans_are_those_of_scopes_that_end_later),
		cmocka_unit_test(samples_in_one_scope_keep_what_else_is_said_of_them),
		cmocka_unit_test(spans_have_the_names_that_their_chunk_says),
		cmocka_unit_test(what_nothing_came_for_is_left_out),
		cmocka_unit_test(what_is_missing_has_a_mark_and_is_counted),
		cmocka_unit_test(frames_that_the_jvm_hides_are_left_out_unless_asked_for),
		cmocka_unit_test(execution_samples_are_cpu_when_cpu_time_gave_none),
		cmocka_unit_test(several_recordings_become_one_profile),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("jfr/samples", tests, NULL, NULL);
}
