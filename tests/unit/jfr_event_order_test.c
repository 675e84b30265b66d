// SPDX-License-Identifier: Apache-2.0
#include "jfr/event_order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/jfr_meaning.h"

static void add(struct event_order *o, int64_t time_ns, uint64_t at, const char *fields)
{
	struct ordered_event e = { .time_ns = time_ns, .at = at };
	size_t len = strlen(fields);

	e.size = (uint32_t)len + 5;
	assert_int_equal(event_order_add(o, &e, (const uint8_t *)fields, len), 0);
}

static void events_are_put_in_order_by_time_and_place(void **state)
{
	static const uint64_t expected[] = { 500, 100, 200, 300, 400 };
	struct event_order o = { 0 };

	(void)state;
	add(&o, 7, 300, "c");
	add(&o, 7, 200, "b");
	add(&o, 9, 400, "d");
	add(&o, INT64_MIN, 500, "before all");
	add(&o, 3, 100, "");
	event_order_sort(&o);
	assert_int_equal(o.n, 5);
	for (size_t i = 0; i < o.n; i++)
		assert_int_equal(o.items[i].at, expected[i]);
	event_order_deinit(&o);
}

static void what_they_hold_goes_with_them(void **state)
{
	struct event_order o = { 0 };
	const uint8_t *fields;
	size_t len;

	(void)state;
	add(&o, 2, 200, "second");
	add(&o, 1, 100, "first");
	event_order_sort(&o);
	fields = event_order_fields(&o, &o.items[0], &len);
	assert_int_equal(len, 5);
	assert_memory_equal(fields, "first", len);
	fields = event_order_fields(&o, &o.items[1], &len);
	assert_memory_equal(fields, "second", len);
	event_order_clear(&o);
	assert_int_equal(o.n, 0);
	event_order_deinit(&o);
}

static void only_so_many_bytes_are_kept(void **state)
{
	static uint8_t large[1 << 20];
	struct event_order o = { 0 };
	size_t n_kept = 0;

	(void)state;
	for (uint64_t i = 0; i < 16; i++) {
		struct ordered_event e = { .at = i, .size = sizeof(large) + 6 };

		assert_int_equal(event_order_add(&o, &e, large, sizeof(large)), 0);
	}
	for (size_t i = 0; i < o.n; i++) {
		size_t len;

		n_kept += event_order_fields(&o, &o.items[i], &len) != NULL;
	}
	assert_int_equal(n_kept, MAX_KEPT / (sizeof(large) + 1));
	assert_true(o.bytes_cap <= 2 * MAX_KEPT);
	event_order_deinit(&o);
}

static const struct event_shape sleep_shape = {
	201,
	"jdk.ThreadSleep",
	{ START_FIELD, DURATION_FIELD, THREAD_FIELD },
};

static void lines_come_in_the_order_of_their_time(void **state)
{
	static const int64_t times[] = { 400, -100, 200, 0, 300, 200 };
	struct meaning m = { 0 };

	(void)state;
	meaning_begin(&m, &sleep_shape, 1);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		EVENT(&m, &sleep_shape, AT(times[i]), { .n = (int64_t)i }, { .n = 1 });
	m.in.is_ordered = true;
	meaning_read(&m);
	assert_int_equal(m.n, 6);
	for (size_t i = 1; i < m.n; i++)
		assert_true(m.items[i - 1].time_ns <= m.items[i].time_ns);
	assert_int_equal(m.items[0].time_ns, WRITER_START_NS - 100);
	meaning_deinit(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_are_put_in_order_by_time_and_place),
		cmocka_unit_test(what_they_hold_goes_with_them),
		cmocka_unit_test(only_so_many_bytes_are_kept),
		cmocka_unit_test(lines_come_in_the_order_of_their_time),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("jfr/event_order", tests, NULL, NULL);
}
