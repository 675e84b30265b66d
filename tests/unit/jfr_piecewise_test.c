// SPDX-License-Identifier: Apache-2.0
/* A chunk that grows and is read flush by flush. */
#include "jfr/piecewise.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/unit/jfr_growth.h"

static void each_event_is_told_of_once_flush_by_flush(void **state)
{
	struct growth g;
	size_t n = 0;

	(void)state;
	growth_begin(&g, LATE);
	for (int64_t i = 1; i <= 20; i++) {
		put_sample(&g, 2 * i, 1);
		put_sample(&g, 2 * i + 1, 2);
		flush_and_read(&g);
		assert_int_equal(g.m.n, 2);
		assert_int_equal(g.m.items[0].time_ns, NS(2 * i));
		assert_string_equal(g.m.items[1].thread, "thread-2");
		n += g.m.n;
	}
	assert_int_equal(n, 40);
	assert_int_equal(g.from, g.header.size);
	growth_end(&g);
}

static void after_a_restart_what_came_before_is_known(void **state)
{
	struct growth g;

	(void)state;
	growth_begin(&g, LATE);
	meaning_setting(&g.m, shapes[SAMPLE].id, "period", "30 ms");
	put_scope(&g, 10, 10, "0000000000000001");
	put_sample(&g, 100, 1);
	flush_and_read(&g);
	piecewise_free(g.f, false);
	jvms_deinit(&g.jvms);
	g.f = NULL;
	put_sample(&g, 200, 2);
	g.hold_from_ns = NS(150);
	flush_and_read(&g);
	assert_int_equal(g.held.n, 1);
	g.hold_from_ns = NOT_HELD;
	assert_int_equal(read_piece(&g), 0);
	assert_int_equal(g.m.n, 1);
	assert_int_equal(g.m.items[0].values[COLUMN_CPU], 30000000);
	growth_end(&g);
}

static void types_and_names_may_come_with_a_later_flush(void **state)
{
	struct jfr_types t = world_types();
	struct growth g;

	(void)state;
	growth_begin(&g, LATE);
	put_sample(&g, 10, 1);
	flush_and_read(&g);
	for (size_t i = 0; i < LATE + 1; i++)
		add_shape(&t, &shapes[i]);
	add_shape(&t, &setting_shape);
	types_end(&t);
	put_metadata(&g.m.c, &t);
	types_free(&t);
	world_checkpoint(&g.m.c, 3, "p/E");
	EVENT(&g.m, &shapes[LATE], AT(20), { .n = 3 });
	g.m.c.state = 2;
	flush_and_read(&g);
	/* Nobody asked for events of unknown kinds; its bytes are no damage. */
	assert_int_equal(g.result.lost, 0);
	put_sample(&g, 30, 3);
	flush_and_read(&g);
	assert_int_equal(g.m.n, 1);
	assert_string_equal(g.m.items[0].thread, "thread-3");
	growth_end(&g);
}

static void names_of_the_chunk_before_count(void **state)
{
	struct growth g;

	(void)state;
	growth_begin(&g, LATE);
	world_checkpoint(&g.m.c, 3, "p/E");
	put_sample(&g, 10, 1);
	g.m.c.state = 0;
	flush_and_read(&g);
	piecewise_free(g.f, true);
	g.f = NULL;
	/* The next one, a second later by both clocks, has not the thread 3. */
	meaning_begin(&g.m, shapes, LATE);
	g.m.c.start_ticks += TICKS(WRITER_DURATION_NS);
	g.from = CHUNK_HEADER_LEN;
	EVENT(&g.m, &shapes[SAMPLE], { .n = g.m.c.start_ticks + TICKS(20) }, { .n = 3 }, { .n = 1 },
	      { .n = 5 });
	flush_and_read(&g);
	assert_int_equal(g.m.n, 1);
	assert_string_equal(g.m.items[0].thread, "thread-3");
	growth_end(&g);
}

/* A megabyte of them. */
static void put_large_constants(struct jfr_chunk *c)
{
	size_t at = checkpoint_begin(c, false, 1);
	char text[1000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	put_pool(c->b, T_SYMBOL, 1000);
	for (uint64_t i = 0; i < 1000; i++) {
		put_varint(c->b, 1000 + i);
		put_string(c->b, 3, text);
	}
	event_end(c->b, at);
}

/* Of JVMs that ended, and of which nobody knows that. */
static void names_of_many_jvms_do_not_fill_the_memory(void **state)
{
	size_t sum = 0, n_kept = 0;
	struct growth g;

	(void)state;
	growth_begin(&g, LATE);
	flush_and_read(&g);
	for (int64_t i = 0; i < 40; i++) {
		piecewise_free(g.f, true);
		g.f = NULL;
		g.m.b.len = 0;
		g.m.n_chunks = 1000 * (int)i; /* of another JVM */
		meaning_begin(&g.m, shapes, LATE);
		put_large_constants(&g.m.c);
		put_sample(&g, 10, 1);
		g.m.c.state = 0;
		g.from = CHUNK_HEADER_LEN;
		flush_and_read(&g);
		assert_int_equal(g.m.n, 1);
	}
	piecewise_free(g.f, true);
	g.f = NULL;
	for (size_t i = 0; i < g.jvms.n; i++) {
		const struct jvm *jvm = g.jvms.items[i];

		n_kept += jvm->older[0] != NULL;
		sum += jvm->older[0] ? names_memory(jvm->older[0]) : 0;
	}
	assert_in_range(sum, 4 << 20, 8 << 20);
	assert_in_range(n_kept, 2, 8);
	/* The last one's are the likeliest to be asked for. */
	assert_non_null(g.jvms.items[g.jvms.n - 1]->older[0]);
	growth_end(&g);
}

static void of_a_damaged_event_the_others_are_told_and_where_it_was(void **state)
{
	struct growth g;
	size_t at;

	(void)state;
	growth_begin(&g, LATE);
	put_sample(&g, 10, 1);
	at = g.m.b.len;
	put_sample(&g, 20, 1);
	put_sample(&g, 30, 1);
	for (int i = 0; i < 4; i++)
		put_sample(&g, 40 + i, 1);
	memset(g.m.b.data + at + 6, 0xff, 8);
	flush_and_read(&g);
	assert_int_equal(g.m.n, 6);
	assert_int_equal(g.result.lost_at, at);
	assert_true(g.result.lost > 0);
	assert_non_null(g.result.what);
	growth_end(&g);
}

static void survives_mutation(void **state)
{
	struct growth good;
	size_t begin, len;

	(void)state;
	growth_begin(&good, LATE);
	begin = good.m.c.constants_at;
	put_scope(&good, 10, 10, "0000000000000001");
	put_sample(&good, 20, 1);
	put_sample(&good, 30, 1);
	len = good.m.b.len;
	for (size_t bit = 8 * begin; bit < 8 * len; bit++) {
		struct growth g;
		int err;

		growth_begin(&g, LATE);
		put_bytes(&g.m.b, good.m.b.data + g.m.b.len, len - g.m.b.len);
		g.m.b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		g.hold_from_ns = NS(15);
		flush(&g);
		err = read_piece(&g);
		if (!err)
			err = read_piece(&g);
		assert_true(!err || err == -EBADMSG);
		growth_end(&g);
	}
	growth_end(&good);
}

/* Where another file of the chunk can go on: not in the middle of a checkpoint. */
static void what_is_cut_off_begins_where_an_event_does(void **state)
{
	(void)state;
	for (int is_checkpoint = 0; is_checkpoint < 2; is_checkpoint++) {
		struct growth g;
		size_t at;

		growth_begin(&g, LATE);
		flush_and_read(&g);
		put_sample(&g, 10, 1);
		at = g.m.b.len;
		if (is_checkpoint) {
			at = checkpoint_begin(&g.m.c, false, 1);
			put_pool(g.m.c.b, T_SYMBOL, 3);
			put_varint(g.m.c.b, 77);
			event_end(g.m.c.b, at);
		} else {
			put_sample(&g, 20, 1);
			g.m.b.len -= 3;
		}
		flush_and_read(&g);
		assert_int_equal(g.m.n, 1);
		assert_true(g.result.lost > 0);
		assert_int_equal(g.result.cut, is_checkpoint ? 0 : g.header.size - (at - g.m.c.at));
		growth_end(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_event_is_told_of_once_flush_by_flush),
		cmocka_unit_test(after_a_restart_what_came_before_is_known),
		cmocka_unit_test(types_and_names_may_come_with_a_later_flush),
		cmocka_unit_test(names_of_the_chunk_before_count),
		cmocka_unit_test(names_of_many_jvms_do_not_fill_the_memory),
		cmocka_unit_test(what_is_cut_off_begins_where_an_event_does),
		cmocka_unit_test(of_a_damaged_event_the_others_are_told_and_where_it_was),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests_name("jfr/piecewise", tests, NULL, NULL);
}
