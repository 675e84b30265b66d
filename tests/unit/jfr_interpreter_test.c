// SPDX-License-Identifier: Apache-2.0
#include "jfr/interpreter.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/profile.h"
#include "jfr/event_line.h"
#include "jfr/samples.h"
#include "jfr/summary.h"
#include "jfr/window.h"
#include "tests/unit/jfr_meaning.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

enum shape { SAMPLE, ENTER, SCOPE, LOAD, CONFIG, INFORMATION, SLEEP };

static const struct event_shape shapes[] = {
	[SAMPLE] = { 201,
		     "jdk.ExecutionSample",
		     { START_FIELD, SAMPLED_FIELD, STACK_FIELD, STATE_FIELD } },
	[ENTER] = { 202,
		    "jdk.JavaMonitorEnter",
		    { START_FIELD, DURATION_FIELD, THREAD_FIELD, STACK_FIELD,
		      CLASS_FIELD("monitorClass") } },
	[SCOPE] = { 203,
		    "io.opentelemetry.context.Scope",
		    { START_FIELD, DURATION_FIELD, THREAD_FIELD, TEXT_FIELD("traceId"),
		      TEXT_FIELD("spanId") } },
	[LOAD] = { 204,
		   "jdk.ThreadCPULoad",
		   { START_FIELD,
		     THREAD_FIELD,
		     { "user", T_FLOAT, 0, 0, NULL },
		     { "system", T_FLOAT, 0, 0, NULL } } },
	[CONFIG] = { 205,
		     "datadog.DatadogProfilerConfig",
		     { START_FIELD, NUMBER_FIELD("cpuInterval"), NUMBER_FIELD("wallInterval") } },
	[INFORMATION] = { 206,
			  "jdk.JVMInformation",
			  { START_FIELD, TEXT_FIELD("jvmName"), TEXT_FIELD("jvmArguments"),
			    NUMBER_FIELD("pid") } },
	[SLEEP] = { 207, "jdk.ThreadSleep", { START_FIELD, DURATION_FIELD, THREAD_FIELD } },
};

/* Events of every use, and where they begin. */
static size_t fill(struct meaning *m)
{
	size_t at;

	meaning_begin(m, shapes, N(shapes));
	at = m->b.len;
	meaning_setting(m, shapes[SAMPLE].id, "period", "10 ms");
	EVENT(m, &shapes[INFORMATION], AT(0), { .text = "a JVM" }, { .text = "-Da=b" },
	      { .n = 17 });
	EVENT(m, &shapes[CONFIG], AT(0), { .n = 9 }, { .n = 50 });
	EVENT(m, &shapes[SAMPLE], AT(110), { .n = 1 }, { .n = 1 }, { .n = 5 });
	EVENT(m, &shapes[ENTER], AT(120), { .n = TICKS(5) }, { .n = 2 }, { .n = 2 }, { .n = 1 });
	EVENT(m, &shapes[SCOPE], AT(100), { .n = TICKS(50) }, { .n = 1 },
	      { .text = "0af7651916cd43dd8448eb211c80319c" }, { .text = "00f067aa0ba902b7" });
	EVENT(m, &shapes[LOAD], AT(130), { .n = 1 }, { .real = 0.5 }, { .real = 0.25 });
	jfr_chunk_end(&m->c);
	return at;
}

/* Everything that can be made of a recording. */
static void make_all(const uint8_t *bytes, size_t len)
{
	struct meaning *m = calloc(1, sizeof(*m));
	struct summary *sums = calloc(1, sizeof(*sums));
	struct profile *p = profile_new();
	struct samples *s = samples_new(p);
	struct event_lines lines = { 0 };
	struct event_visitor visitor;
	int fd = memfd_create("recording", MFD_CLOEXEC);
	char *text = NULL;
	size_t text_len;

	assert_true(m && sums && s && fd >= 0);
	lines.out = open_memstream(&text, &text_len);
	assert_int_equal(summary_init(sums, &m->in.facts), 0);
	m->in.groups = UINT32_MAX;
	m->in.is_ordered = true;
	m->in.sinks[m->in.n_sinks++] = summary_sink(sums);
	m->in.sinks[m->in.n_sinks++] = samples_sink(s);
	m->in.sinks[m->in.n_sinks++] = event_lines_sink(&lines);
	visitor = interpreter_visitor(&m->in);
	assert_int_equal(write(fd, bytes, len), len);
	recording_read(fd, &visitor, &m->seen, &m->report);
	samples_finish(s, 0, 0);
	assert_int_equal(profile_error(p), 0);
	close(fd);
	fclose(lines.out);
	free(text);
	event_lines_deinit(&lines);
	samples_free(s);
	profile_free(p);
	summary_deinit(sums);
	free(sums);
	meaning_deinit(m);
	free(m);
}

static void make_of_copy(const uint8_t *bytes, size_t len, size_t flipped)
{
	uint8_t *copy = malloc(len + !len);

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	if (flipped)
		copy[flipped / 8] ^= (uint8_t)(1 << flipped % 8);
	make_all(copy, len);
	free(copy);
}

/* Every truncation of the events, and every bit of them and of the constants before. */
static void survives_mutation(void **state)
{
	struct meaning m = { 0 };
	size_t events = fill(&m), len = m.b.len;
	size_t constants = m.c.constants_at;

	(void)state;
	for (size_t n = events; n <= len; n++)
		make_of_copy(m.b.data, n, 0);
	for (size_t bit = 8 * constants; bit < 8 * len; bit++)
		make_of_copy(m.b.data, len, bit);
	meaning_deinit(&m);
}

static void facts_and_settings_are_not_told_to_those_who_want_samples(void **state)
{
	struct meaning m = { 0 };

	(void)state;
	fill(&m);
	m.in.groups = 1 << GROUP_CPU | 1 << GROUP_LOCK;
	meaning_read(&m);
	assert_int_equal(m.n, 2);
	assert_int_equal(m.items[0].values[COLUMN_CPU], 10000000);
	assert_string_equal(m.items[0].span_id, "00f067aa0ba902b7");
	assert_string_equal(m.items[1].type, "jdk.JavaMonitorEnter");
	assert_string_equal(m.in.facts.name, "a JVM");
	assert_int_equal(m.in.facts.pid, 17);
	assert_int_equal(m.in.settings.datadog_cpu_ns, 9000000);
	meaning_deinit(&m);
}

struct begun {
	const struct interpreter *in;
	int64_t pid;
};

static void note_pid(void *ctx, struct chunk *chunk)
{
	struct begun *b = ctx;

	(void)chunk;
	b->pid = b->in->facts.pid;
}

static bool wants_none(void *ctx, const struct event_row *row)
{
	(void)ctx, (void)row;
	return false;
}

static void whose_it_is_is_known_when_a_chunk_begins_wherever_that_stands(void **state)
{
	struct meaning m = { 0 };
	struct begun b = { .in = &m.in };

	(void)state;
	meaning_begin(&m, shapes, N(shapes));
	while (m.b.len < 2 * WINDOW_LEN + WINDOW_LEN / 2)
		EVENT(&m, &shapes[SLEEP], AT(1), { .n = 1 }, { .n = 1 });
	EVENT(&m, &shapes[INFORMATION], AT(0), { .text = "a JVM" }, { .text = "" }, { .n = 17 });
	jfr_chunk_end(&m.c);
	m.in.groups = 1 << GROUP_CPU;
	m.in.sinks[m.in.n_sinks++] =
		(struct moment_sink){ .ctx = &b, .wants = wants_none, .begin = note_pid };
	meaning_read(&m);
	assert_int_equal(b.pid, 17);
	meaning_deinit(&m);
}

static void only_the_events_asked_for_are_told(void **state)
{
	static const struct {
		const char *list, *thread;
		int64_t from_ns, to_ns;
		size_t n;
	} cases[] = {
		{ NULL, NULL, 0, 0, 4 },
		{ "cpu", NULL, 0, 0, 1 },
		{ "jdk.ThreadSleep", NULL, 0, 0, 2 },
		{ "Thread*,cpu", NULL, 0, 0, 3 },
		{ NULL, "thread-2", 0, 0, 1 },
		{ NULL, "2", 0, 0, 1 },	   /* Java's number */
		{ NULL, "1002", 0, 0, 1 }, /* the system's */
		{ NULL, "nobody", 0, 0, 0 },
		{ NULL, NULL, 100, 0, 2 },
		{ NULL, NULL, 0, 100, 2 },
		{ NULL, NULL, 100, 101, 1 },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct meaning m = { 0 };
		char wrong[16];

		meaning_begin(&m, shapes, N(shapes));
		m.in.events = cases[i].list;
		m.in.thread = cases[i].thread;
		m.in.from_ns = cases[i].from_ns ? WRITER_START_NS + cases[i].from_ns : 0;
		m.in.to_ns = cases[i].to_ns ? WRITER_START_NS + cases[i].to_ns : 0;
		if (cases[i].list) {
			event_groups_parse(cases[i].list, &m.in.groups, wrong, sizeof(wrong));
			m.in.groups |= 1u << 31; /* of nothing: it was said */
		}
		EVENT(&m, &shapes[SAMPLE], AT(10), { .n = 1 }, { .n = 1 }, { .n = 5 });
		EVENT(&m, &shapes[SLEEP], AT(50), { .n = 5 }, { .n = 1 });
		EVENT(&m, &shapes[SLEEP], AT(100), { .n = 5 }, { .n = 1 });
		EVENT(&m, &shapes[ENTER], AT(200), { 0 }, { .n = 2 }, { .n = 1 }, { .n = 1 });
		meaning_read(&m);
		assert_int_equal(m.n, cases[i].n);
		meaning_deinit(&m);
	}
}

/* The clocks of two that run side by side may be the same. */
static void names_are_those_of_the_same_jvm_only(void **state)
{
	static const int64_t pids[] = { 17, 18 };

	(void)state;
	for (size_t i = 0; i < N(pids); i++) {
		struct meaning m = { 0 };

		meaning_begin(&m, shapes, N(shapes));
		world_checkpoint(&m.c, 3, "p/E");
		EVENT(&m, &shapes[INFORMATION], AT(0), { .text = "a JVM" }, { .text = "" },
		      { .n = 17 });
		jfr_chunk_end(&m.c);
		meaning_begin(&m, shapes, N(shapes));
		m.c.start_ticks += TICKS(WRITER_DURATION_NS);
		EVENT(&m, &shapes[INFORMATION], AT(0), { .text = "a JVM" }, { .text = "" },
		      { .n = pids[i] });
		EVENT(&m, &shapes[SAMPLE], AT(10), { .n = 1 }, { .n = 3 }, { .n = 5 });
		m.in.groups = 1u << GROUP_CPU;
		meaning_read(&m);
		assert_int_equal(m.report.n_chunks, 2);
		assert_int_equal(m.items[0].has_stack, pids[i] == 17);
		assert_int_equal(m.items[0].is_stack_missing, pids[i] != 17);
		meaning_deinit(&m);
	}
}

/* Stack 3 with a method that the chunk itself does not have. */
static void put_stack_of(struct meaning *m, uint64_t method)
{
	size_t at = checkpoint_begin(&m->c, false, 1);

	put_pool(m->c.b, T_STACK, 1);
	put_varint(m->c.b, 3);
	put_u8(m->c.b, 0);
	put_varint(m->c.b, 1);
	put_varint(m->c.b, method);
	put_varint(m->c.b, 42);
	put_varint(m->c.b, 7);
	put_varint(m->c.b, 1);
	event_end(m->c.b, at);
}

/* What says that it is another JVM may itself have been put together of the first one's names,
   which are gone when the samples come. */
static void names_of_another_jvm_are_not_used_after_it(void **state)
{
	struct event_shape odd[N(shapes)];
	struct meaning m = { 0 };

	(void)state;
	memcpy(odd, shapes, sizeof(odd));
	odd[INFORMATION].fields[1].type = T_METHOD;
	odd[INFORMATION].fields[1].flags = FIELD_CONSTANT;
	meaning_begin(&m, shapes, N(shapes));
	world_checkpoint(&m.c, 9, "p/E");
	EVENT(&m, &shapes[INFORMATION], AT(0), { .text = "a JVM" }, { .text = "" }, { .n = 17 });
	jfr_chunk_end(&m.c);
	meaning_begin(&m, odd, N(odd));
	m.c.start_ticks += TICKS(WRITER_DURATION_NS);
	put_stack_of(&m, 9);
	EVENT(&m, &odd[INFORMATION], AT(0), { .n = 9 }, { .text = "" }, { .n = 18 });
	EVENT(&m, &odd[SAMPLE], AT(10), { .n = 1 }, { .n = 3 }, { .n = 5 });
	EVENT(&m, &odd[SAMPLE], AT(20), { .n = 1 }, { .n = 1 }, { .n = 5 });
	m.in.groups = 1u << GROUP_CPU;
	meaning_read(&m);
	assert_int_equal(m.report.n_chunks, 2);
	assert_int_equal(m.n, 2);
	assert_string_equal(m.items[0].top, "[unresolved:method:9]:42");
	assert_string_equal(m.items[1].top, "method1:42");
	meaning_deinit(&m);
}

/* Of which nothing else is known, but they have stacks. */
static void types_that_are_asked_for_by_name_are_samples(void **state)
{
	static const struct event_shape asked[] = {
		{ 230, "jdk.Deoptimization", { START_FIELD, THREAD_FIELD, STACK_FIELD } },
		{ 231, "jdk.ZStall", { START_FIELD, DURATION_FIELD, THREAD_FIELD, STACK_FIELD } },
		{ 232, "jdk.GCNote", { START_FIELD, DURATION_FIELD, THREAD_FIELD } },
	};

	(void)state;
	for (int is_named = 0; is_named < 2; is_named++) {
		struct meaning m = { 0 };

		meaning_begin(&m, asked, N(asked));
		m.in.names_samples = true;
		m.in.events = is_named ? "Deopt*,jdk.ZStall,GCNote" : "gc,compile";
		EVENT(&m, &asked[0], AT(1), { .n = 1 }, { .n = 1 });
		EVENT(&m, &asked[1], AT(2), { .n = TICKS(70) }, { .n = 1 }, { .n = 1 });
		EVENT(&m, &asked[2], AT(3), { .n = TICKS(70) }, { .n = 1 });
		meaning_read(&m);
		assert_int_equal(m.n, 3);
		assert_int_equal(m.items[0].is_sample, is_named);
		assert_int_equal(m.items[0].values[COLUMN_EVENTS], is_named);
		assert_int_equal(m.items[1].values[COLUMN_EVENTS], is_named);
		assert_int_equal(m.items[1].values[COLUMN_DURATION], is_named ? 70 : 0);
		assert_false(m.items[2].is_sample); /* it has no stack */
		meaning_deinit(&m);
	}
}

/* Each unit, also where it does not fit. */
static void times_have_the_unit_that_the_metadata_says(void **state)
{
	static const struct {
		const char *unit;
		int64_t value, ns;
	} cases[] = {
		{ "TICKS", 2500, 1000 },	   { "NANOSECONDS", 2500, 2500 },
		{ "MICROSECONDS", 2500, 2500000 }, { "MILLISECONDS", 2500, 2500000000 },
		{ "SECONDS", 2, 2000000000 },	   { "SECONDS", INT64_MAX / 2, INT64_MAX },
		{ "NANOSECONDS", INT64_MIN, -1 }, /* not known */
		{ "NANOSECONDS", INT64_MAX, -1 }, /* for ever */
		{ "TICKS", INT64_MAX, -1 },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct event_shape shape = {
			230,
			"jdk.ThreadSleep",
			{ START_FIELD, { "duration", T_LONG, 0, T_TIMESPAN, cases[i].unit } },
		};
		struct meaning m = { 0 };

		meaning_begin(&m, &shape, 1);
		EVENT(&m, &shape, AT(0), { .n = cases[i].value });
		meaning_read(&m);
		assert_int_equal(m.items[0].duration_ns, cases[i].ns);
		assert_int_equal(m.items[0].values[COLUMN_SLEEP],
				 cases[i].ns > 0 ? cases[i].ns : 0);
		meaning_deinit(&m);
	}
}

static int stop(void *ctx, struct moment *m)
{
	(void)ctx, (void)m;
	return -EPIPE;
}

static void what_a_sink_cannot_take_ends_the_reading(void **state)
{
	struct meaning m = { 0 };

	(void)state;
	fill(&m);
	meaning_tell(&m, (struct moment_sink){ .take = stop });
	assert_int_equal(m.err, -EPIPE);
	meaning_deinit(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts_and_settings_are_not_told_to_those_who_want_samples),
		cmocka_unit_test(whose_it_is_is_known_when_a_chunk_begins_wherever_that_stands),
		cmocka_unit_test(only_the_events_asked_for_are_told),
		cmocka_unit_test(names_are_those_of_the_same_jvm_only),
		cmocka_unit_test(names_of_another_jvm_are_not_used_after_it),
		cmocka_unit_test(types_that_are_asked_for_by_name_are_samples),
		cmocka_unit_test(times_have_the_unit_that_the_metadata_says),
		cmocka_unit_test(what_a_sink_cannot_take_ends_the_reading),
		cmocka_unit_test(survives_mutation),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("jfr/interpreter", tests, NULL, NULL);
}
