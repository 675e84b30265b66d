// SPDX-License-Identifier: Apache-2.0
/* Events that wait for the end of the scope they are in. */
#include "jfr/piecewise.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/unit/jfr_growth.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

static void an_event_waits_for_the_end_of_the_scope_it_is_in(void **state)
{
	struct growth g;

	(void)state;
	growth_begin(&g, LATE);
	put_scope(&g, 100, 50, "0000000000000001");
	put_sample(&g, 110, 1);
	put_sample(&g, 200, 1);
	g.hold_from_ns = NS(150);
	flush_and_read(&g);
	assert_int_equal(g.m.n, 2);
	assert_string_equal(g.m.items[1].span_id, "0000000000000001");
	assert_int_equal(g.held.n, 1);
	put_sample(&g, 240, 1);
	put_scope(&g, 190, 40, "0000000000000002");
	g.hold_from_ns = NS(300);
	flush_and_read(&g);
	assert_int_equal(g.m.n, 3);
	assert_int_equal(g.m.items[1].time_ns, NS(200));
	assert_string_equal(g.m.items[1].span_id, "0000000000000002");
	assert_string_equal(g.m.items[2].span_id, "");
	assert_int_equal(g.held.n, 0);
	assert_int_equal(g.result.n_late_scopes, 0);
	growth_end(&g);
}

static void only_what_may_be_in_a_scope_waits(void **state)
{
	static const struct {
		int64_t ns, duration, thread; /* duration 0: a sample */
		bool has_scopes, waits;
	} cases[] = {
		{ 200, 0, 1, true, true },
		{ 200, 0, 2, true, true },   /* of no thread that had one yet */
		{ 200, 0, 1, false, false }, /* of a JVM without */
		{ 149, 0, 1, true, false },  /* too old */
		{ 149, 10, 1, true, true },  /* but just written */
		{ 120, 0, 1, true, false },  /* its span is known */
		{ 200, 0, GC_THREAD, true, false },
		{ 200, 0, 77, true, false }, /* of a thread that nobody knows */
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct growth g;

		growth_begin(&g, cases[i].has_scopes ? LATE : SCOPE);
		if (cases[i].has_scopes)
			put_scope(&g, 100, 49, "0000000000000001");
		if (cases[i].duration)
			EVENT(&g.m, &shapes[SLEEP], AT(cases[i].ns),
			      { .n = TICKS(cases[i].duration) }, { .n = cases[i].thread });
		else
			put_sample(&g, cases[i].ns, cases[i].thread);
		g.hold_from_ns = NS(150);
		flush_and_read(&g);
		assert_int_equal(g.held.n, cases[i].waits);
		assert_int_equal(g.m.n, cases[i].has_scopes + !cases[i].waits);
		/* And comes, whatever comes with it. */
		g.hold_from_ns = NOT_HELD;
		assert_int_equal(read_piece(&g), 0);
		assert_int_equal(g.m.n, cases[i].waits);
		assert_int_equal(g.held.n, 0);
		growth_end(&g);
	}
}

static void a_scope_that_ended_too_late_is_counted(void **state)
{
	struct growth g;

	(void)state;
	growth_begin(&g, LATE);
	put_scope(&g, 10, 10, "0000000000000001");
	put_sample(&g, 100, 1);
	g.hold_from_ns = NS(150);
	flush_and_read(&g);
	put_scope(&g, 90, 200, "0000000000000002");
	put_scope(&g, 160, 20, "0000000000000003");
	flush_and_read(&g);
	assert_int_equal(g.result.n_late_scopes, 1);
	growth_end(&g);
}

static void a_piece_that_ends_early_holds_what_is_near_its_end(void **state)
{
	struct growth g;
	size_t n;

	(void)state;
	growth_begin(&g, LATE);
	put_scope(&g, 0, 10, "0000000000000001");
	put_sample(&g, 100, 1);
	put_sample(&g, 2000000000, 1);
	put_sample(&g, 2000000010, 1);
	put_scope(&g, 1999999990, 50, "0000000000000002");
	flush(&g);
	g.max_events = 4;
	assert_int_equal(read_piece(&g), 0);
	assert_true(g.from < g.header.size);
	assert_int_equal(g.m.n, 2);
	assert_int_equal(g.held.n, 2);
	n = g.m.n;
	assert_int_equal(read_piece(&g), 0);
	assert_int_equal(n + g.m.n, 5);
	for (size_t i = 1; i < g.m.n; i++)
		assert_string_equal(g.m.items[i].span_id, "0000000000000002");
	growth_end(&g);
}

static void held_events_that_are_none_are_damage_and_no_more(void **state)
{
	struct growth g;

	(void)state;
	growth_begin(&g, LATE);
	put_sample(&g, 10, 1);
	flush_and_read(&g);
	for (uint64_t at = 1; at < g.header.size + 20; at += 7) {
		assert_int_equal(held_add(&g.held, at), 0);
		if (g.held.n < MAX_HELD)
			continue;
	}
	put_sample(&g, 20, 1);
	flush_and_read(&g);
	assert_true(g.m.n >= 1);
	assert_int_equal(g.m.items[g.m.n - 1].time_ns, NS(20));
	assert_int_equal(g.held.n, 0);
	growth_end(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_waits_for_the_end_of_the_scope_it_is_in),
		cmocka_unit_test(only_what_may_be_in_a_scope_waits),
		cmocka_unit_test(a_scope_that_ended_too_late_is_counted),
		cmocka_unit_test(a_piece_that_ends_early_holds_what_is_near_its_end),
		cmocka_unit_test(held_events_that_are_none_are_damage_and_no_more),
	};

	return cmocka_run_group_tests_name("jfr/piecewise, held", tests, NULL, NULL);
}
