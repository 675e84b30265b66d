// SPDX-License-Identifier: Apache-2.0
#include "jfr/spans.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/unit/jfr_meaning.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

static void add(struct spans *s, uint64_t thread, int64_t start, int64_t end, const char *id)
{
	struct span_ids ids = { .tag = NULL };
	struct span_scope scope = {
		.thread = thread, .start_ns = start, .end_ns = end, .ids = &ids
	};

	snprintf(ids.span_id, sizeof(ids.span_id), "%s", id);
	assert_int_equal(spans_add(s, &scope), 0);
}

static void the_innermost_scope_of_a_thread_counts(void **state)
{
	static const struct {
		uint64_t thread;
		int64_t time;
		const char *id; /* NULL: none */
	} cases[] = {
		{ 1, 99, NULL },     { 1, 100, "outer" }, { 1, 119, "outer" }, { 1, 120, "inner" },
		{ 1, 129, "leaf" },  { 1, 134, "inner" }, { 1, 140, "outer" }, /* its end is not in
										  it */
		{ 1, 199, "outer" }, { 1, 200, NULL },	  { 1, 250, "next" },  { 2, 129, "other" },
		{ 2, 99, NULL },     { 3, 129, NULL },	  { 1, -5, "before" }, { 1, 5, NULL },
	};
	struct spans s = { 0 };

	(void)state;
	add(&s, 1, 250, 260, "next");
	add(&s, 1, 125, 130, "leaf");
	add(&s, 1, 120, 140, "inner");
	add(&s, 2, 100, 200, "other");
	add(&s, 1, 100, 200, "outer");
	add(&s, 1, -10, 0, "before");
	add(&s, 1, 150, 150, "empty");
	spans_sort(&s);
	for (size_t i = 0; i < N(cases); i++) {
		const struct span_scope *found = spans_find(&s, cases[i].thread, cases[i].time);

		assert_int_equal(!!found, !!cases[i].id);
		if (found)
			assert_string_equal(found->ids->span_id, cases[i].id);
	}
	assert_true(spans_has(&s, 1));
	assert_true(spans_has(&s, 2));
	assert_false(spans_has(&s, 0));
	assert_false(spans_has(&s, 3));
	spans_deinit(&s);
}

static void of_scopes_with_one_start_the_shorter_is_the_inner_one(void **state)
{
	struct spans s = { 0 };

	(void)state;
	add(&s, 1, 100, 110, "inner");
	add(&s, 1, 100, 200, "outer");
	spans_sort(&s);
	assert_string_equal(spans_find(&s, 1, 105)->ids->span_id, "inner");
	assert_string_equal(spans_find(&s, 1, 110)->ids->span_id, "outer");
	spans_clear(&s);
	spans_sort(&s);
	assert_null(spans_find(&s, 1, 105));
	spans_deinit(&s);
}

/* Context.root().makeCurrent() within a span: what runs there belongs to none. */
static void a_scope_of_no_span_hides_those_around_it(void **state)
{
	struct spans s = { 0 };

	(void)state;
	add(&s, 1, 100, 200, "outer");
	add(&s, 1, 120, 160, "");
	add(&s, 1, 130, 140, "new");
	spans_sort(&s);
	assert_string_equal(spans_find(&s, 1, 119)->ids->span_id, "outer");
	assert_null(spans_find(&s, 1, 120));
	assert_string_equal(spans_find(&s, 1, 130)->ids->span_id, "new");
	assert_null(spans_find(&s, 1, 140));
	assert_string_equal(spans_find(&s, 1, 160)->ids->span_id, "outer");
	spans_deinit(&s);
}

/* Many that ended lie between a time and the scope around all of them. */
static void scopes_that_ended_do_not_hide_the_one_around_them(void **state)
{
	struct spans s = { 0 };

	(void)state;
	add(&s, 1, 0, 1000000, "outer");
	for (int64_t i = 0; i < 900; i++)
		add(&s, 1, 10 + i, 11 + i, "short");
	spans_sort(&s);
	assert_string_equal(spans_find(&s, 1, 999999)->ids->span_id, "outer");
	spans_deinit(&s);
}

/* Threads that share a hint, and steps of all lengths on and back. */
static void it_does_not_matter_where_the_look_before_ended(void **state)
{
	enum { N_SCOPES = 40, N_THREADS = 3, LEN = 10 };
	const size_t n_times = (N_SCOPES + 1) * LEN;
	struct spans s = { 0 };
	char id[16];

	(void)state;
	for (uint64_t t = 1; t <= N_THREADS; t++) {
		for (int64_t i = 0; i < N_SCOPES; i++) {
			snprintf(id, sizeof(id), "%d", (int)i);
			add(&s, t * N_SPAN_HINTS, i * LEN, i * LEN + LEN / 2, id);
		}
	}
	spans_sort(&s);
	for (size_t step = 1; step < n_times; step++) {
		for (size_t i = 0; i < 8; i++) {
			int64_t time = (int64_t)(i * step % n_times);
			const struct span_scope *found =
				spans_find(&s, (i % N_THREADS + 1) * N_SPAN_HINTS, time);
			bool is_in_one = time < N_SCOPES * LEN && time % LEN < LEN / 2;

			assert_int_equal(!!found, is_in_one);
			if (found)
				assert_int_equal(found->start_ns, time / LEN * LEN);
		}
	}
	spans_deinit(&s);
}

enum shape { SCOPE, SLEEP, SAMPLE };

static const struct event_shape shapes[] = {
	[SCOPE] = { 201,
		    "io.opentelemetry.context.Scope",
		    { START_FIELD, DURATION_FIELD, THREAD_FIELD, TEXT_FIELD("traceId"),
		      TEXT_FIELD("spanId") } },
	[SLEEP] = { 202, "jdk.ThreadSleep", { START_FIELD, DURATION_FIELD, THREAD_FIELD } },
	[SAMPLE] = { 203, "jdk.ExecutionSample", { START_FIELD, SAMPLED_FIELD } },
};

static const char trace_id[] = "0af7651916cd43dd8448eb211c80319c";

/* Scopes are written when they end: behind what was in them. */
static void events_get_the_span_that_was_current_on_their_thread(void **state)
{
	struct meaning m = { 0 };

	(void)state;
	meaning_begin(&m, shapes, N(shapes));
	EVENT(&m, &shapes[SAMPLE], AT(150), { .n = 1 });
	EVENT(&m, &shapes[SAMPLE], AT(150), { .n = 2 });
	EVENT(&m, &shapes[SLEEP], AT(120), { .n = TICKS(60) }, { .n = 1 });
	EVENT(&m, &shapes[SCOPE], AT(140), { .n = TICKS(20) }, { .n = 1 }, { .text = trace_id },
	      { .text = "00f067aa0ba902b7" });
	EVENT(&m, &shapes[SCOPE], AT(100), { .n = TICKS(100) }, { .n = 1 }, { .text = trace_id },
	      { .text = "b7ad6b7169203331" });
	EVENT(&m, &shapes[SAMPLE], AT(210), { .n = 1 });
	m.in.groups = 1 << GROUP_CPU | 1 << GROUP_SLEEP;
	meaning_read(&m);
	assert_int_equal(m.n, 4);
	assert_string_equal(m.items[0].span_id, "00f067aa0ba902b7");
	assert_string_equal(m.items[0].trace_id, trace_id);
	assert_string_equal(m.items[1].span_id, ""); /* another thread */
	assert_string_equal(m.items[2].span_id, "b7ad6b7169203331");
	assert_string_equal(m.items[3].span_id, "");
	meaning_deinit(&m);
}

/* OpenTelemetry writes zeros of a context without a span. */
static void events_in_a_scope_of_no_span_have_none(void **state)
{
	struct meaning m = { 0 };

	(void)state;
	meaning_begin(&m, shapes, N(shapes));
	EVENT(&m, &shapes[SAMPLE], AT(110), { .n = 1 });
	EVENT(&m, &shapes[SAMPLE], AT(150), { .n = 1 });
	EVENT(&m, &shapes[SCOPE], AT(140), { .n = TICKS(20) }, { .n = 1 },
	      { .text = "00000000000000000000000000000000" }, { .text = "0000000000000000" });
	EVENT(&m, &shapes[SCOPE], AT(100), { .n = TICKS(100) }, { .n = 1 }, { .text = trace_id },
	      { .text = "b7ad6b7169203331" });
	m.in.groups = 1 << GROUP_CPU;
	meaning_read(&m);
	assert_int_equal(m.n, 2);
	assert_string_equal(m.items[0].span_id, "b7ad6b7169203331");
	assert_string_equal(m.items[1].span_id, "");
	assert_string_equal(m.items[1].trace_id, "");
	meaning_deinit(&m);
}

/* As a JVM writes what it has written before; the constant comes behind the event. */
static void ids_may_be_constants(void **state)
{
	struct meaning m = { 0 };
	size_t at;

	(void)state;
	meaning_begin(&m, shapes, N(shapes));
	EVENT(&m, &shapes[SAMPLE], AT(150), { .n = 1 });
	EVENT(&m, &shapes[SCOPE], AT(100), { .n = TICKS(100) }, { .n = 1 }, { .n = 7 },
	      { .text = "00f067aa0ba902b7" });
	at = checkpoint_begin(&m.c, false, 1);
	put_pool(m.c.b, T_STRING, 1);
	put_varint(m.c.b, 7);
	put_string(m.c.b, 3, trace_id);
	event_end(m.c.b, at);
	meaning_read(&m);
	assert_int_equal(m.n, 2);
	assert_string_equal(m.items[0].trace_id, trace_id);
	assert_string_equal(m.items[1].trace_id, trace_id);
	meaning_deinit(&m);
}

/* Ids that are none: of the wrong length, or not hexadecimal. */
static void ids_that_are_none_are_left_out(void **state)
{
	static const char *const ids[] = { "", "xyz", "\"><script>", "00f067aa0ba902b7\n",
					   "00000000000000000000000000000000000000" };

	(void)state;
	for (size_t i = 0; i < N(ids); i++) {
		struct meaning m = { 0 };

		meaning_begin(&m, shapes, N(shapes));
		EVENT(&m, &shapes[SAMPLE], AT(150), { .n = 1 });
		EVENT(&m, &shapes[SCOPE], AT(100), { .n = TICKS(100) }, { .n = 1 },
		      { .text = ids[i] }, { .text = ids[i] });
		m.in.groups = 1 << GROUP_CPU;
		meaning_read(&m);
		assert_int_equal(m.n, 1);
		assert_string_equal(m.items[0].span_id, "");
		assert_string_equal(m.items[0].trace_id, "");
		meaning_deinit(&m);
	}
}

static void nothing_but_hexadecimal_digits_is_an_id(void **state)
{
	static const struct event_shape shape = {
		201,
		"jdk.ThreadSleep",
		{ START_FIELD, THREAD_FIELD, TEXT_FIELD("traceId"), TEXT_FIELD("spanId") },
	};
	static const size_t places[] = { 0, 7, 8, 17 };

	(void)state;
	for (int byte = 1; byte < 128; byte++) {
		struct meaning m = { 0 };

		meaning_begin(&m, &shape, 1);
		for (size_t i = 0; i < N(places); i++) {
			char id[] = "4BF92f3577b34da6a3";

			id[places[i]] = (char)byte;
			EVENT(&m, &shape, AT(0), { .n = 1 }, { .text = id }, { .text = "" });
		}
		meaning_read(&m);
		for (size_t i = 0; i < N(places); i++)
			assert_int_equal(*m.items[i].trace_id != 0, isxdigit(byte) != 0);
		meaning_deinit(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_but_hexadecimal_digits_is_an_id),
		cmocka_unit_test(the_innermost_scope_of_a_thread_counts),
		cmocka_unit_test(of_scopes_with_one_start_the_shorter_is_the_inner_one),
		cmocka_unit_test(a_scope_of_no_span_hides_those_around_it),
		cmocka_unit_test(scopes_that_ended_do_not_hide_the_one_around_them),
		cmocka_unit_test(it_does_not_matter_where_the_look_before_ended),
		cmocka_unit_test(events_get_the_span_that_was_current_on_their_thread),
		cmocka_unit_test(events_in_a_scope_of_no_span_have_none),
		cmocka_unit_test(ids_may_be_constants),
		cmocka_unit_test(ids_that_are_none_are_left_out),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("jfr/spans", tests, NULL, NULL);
}
