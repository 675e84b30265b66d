// SPDX-License-Identifier: Apache-2.0
/* A chunk that grows and is read flush by flush. */
#include "jfr/piecewise.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "jfr/jvms.h"
#include "jfr/window.h"
#include "tests/unit/jfr_meaning.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define NS(ns) (WRITER_START_NS + (ns))
#define GC_THREAD 9

enum shape { SAMPLE, SCOPE, SLEEP, LATE };

static const struct event_shape shapes[] = {
	[SAMPLE] = { 201,
		     "jdk.ExecutionSample",
		     { START_FIELD, SAMPLED_FIELD, STACK_FIELD, STATE_FIELD } },
	[SCOPE] = { 203,
		    "io.opentelemetry.context.Scope",
		    { START_FIELD, DURATION_FIELD, THREAD_FIELD, TEXT_FIELD("traceId"),
		      TEXT_FIELD("spanId") } },
	[SLEEP] = { 207, "jdk.ThreadSleep", { START_FIELD, DURATION_FIELD, THREAD_FIELD } },
	/* Registered when the chunk has begun. */
	[LATE] = { 208, "app.Late", { START_FIELD, THREAD_FIELD } },
};

/* What a JVM has written, and how far it was read. */
struct growth {
	struct meaning m;
	struct jvms jvms;
	struct window w;
	struct piecewise *f;
	struct chunk_header header;
	int fd;
	uint64_t from, max_events;
	int64_t hold_from_ns;
	struct held held;
	struct follow_result result;
};

/* A thread of the JVM itself. */
static void put_gc_thread(struct jfr_chunk *c)
{
	size_t at = checkpoint_begin(c, false, 1);

	put_pool(c->b, T_THREAD, 1);
	put_varint(c->b, GC_THREAD);
	put_string(c->b, 3, "GC");
	put_varint(c->b, 99);
	put_string(c->b, 0, NULL);
	put_varint(c->b, 0);
	put_varint(c->b, 0);
	put_u8(c->b, 0);
	event_end(c->b, at);
}

static void growth_begin(struct growth *g, size_t n_shapes)
{
	*g = (struct growth){ .fd = memfd_create("growth", MFD_CLOEXEC),
			      .from = CHUNK_HEADER_LEN,
			      .max_events = 1000,
			      .hold_from_ns = NOT_HELD };
	assert_int_equal(window_init(&g->w, -1), 0);
	meaning_begin(&g->m, shapes, n_shapes);
	put_gc_thread(&g->m.c);
	g->m.c.state = 1;
}

static void growth_end(struct growth *g)
{
	piecewise_free(g->f, false);
	held_deinit(&g->held);
	jvms_deinit(&g->jvms);
	window_deinit(&g->w);
	meaning_deinit(&g->m);
	close(g->fd);
}

/* The JVM commits what it wrote. */
static void flush(struct growth *g)
{
	const char *what;

	g->m.c.size = 0;
	jfr_chunk_end(&g->m.c);
	assert_int_equal(pwrite(g->fd, g->m.b.data, g->m.b.len, 0), g->m.b.len);
	assert_int_equal(
		chunk_header_parse(g->m.b.data + g->m.c.at, CHUNK_HEADER_LEN, &g->header, &what),
		0);
}

static void take_up(struct growth *g)
{
	struct interpreter *in;

	g->f = piecewise_new(&g->jvms, &g->w, "repository", g->m.c.at, &g->header);
	assert_non_null(g->f);
	in = &piecewise_jvm(g->f)->interpreter;
	in->groups = UINT32_MAX;
	in->is_ordered = true;
	in->n_sinks = 1;
	in->sinks[0] =
		(struct moment_sink){ .ctx = &g->m, .wants = meaning_wants, .take = meaning_take };
}

/* Reads what there is beyond what was read; the moments of this piece are in g->m. */
static int read_piece(struct growth *g)
{
	struct follow_piece p = { .fd = g->fd,
				  .header = &g->header,
				  .from = g->from,
				  .to = g->header.size,
				  .is_whole = true,
				  .max_events = g->max_events,
				  .held = &g->held,
				  .hold_from_ns = g->hold_from_ns };
	int err;

	if (!g->f)
		take_up(g);
	g->m.n = 0;
	err = piecewise_load(g->f, &p);
	if (!err)
		err = piecewise_read(g->f, &p, &g->result);
	if (err)
		return err;
	held_deinit(&g->held);
	g->held = g->result.held;
	g->from = g->result.to;
	return 0;
}

static void flush_and_read(struct growth *g)
{
	flush(g);
	assert_int_equal(read_piece(g), 0);
}

static void put_sample(struct growth *g, int64_t ns, int64_t thread)
{
	EVENT(&g->m, &shapes[SAMPLE], AT(ns), { .n = thread }, { .n = 1 }, { .n = 5 });
}

static void put_scope(struct growth *g, int64_t ns, int64_t duration, const char *span)
{
	EVENT(&g->m, &shapes[SCOPE], AT(ns), { .n = TICKS(duration) }, { .n = 1 },
	      { .text = "0af7651916cd43dd8448eb211c80319c" }, { .text = span });
}

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
	for (size_t i = 0; i < N(shapes); i++)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_event_is_told_of_once_flush_by_flush),
		cmocka_unit_test(an_event_waits_for_the_end_of_the_scope_it_is_in),
		cmocka_unit_test(only_what_may_be_in_a_scope_waits),
		cmocka_unit_test(a_scope_that_ended_too_late_is_counted),
		cmocka_unit_test(a_piece_that_ends_early_holds_what_is_near_its_end),
		cmocka_unit_test(after_a_restart_what_came_before_is_known),
		cmocka_unit_test(types_and_names_may_come_with_a_later_flush),
		cmocka_unit_test(names_of_the_chunk_before_count),
		cmocka_unit_test(names_of_many_jvms_do_not_fill_the_memory),
		cmocka_unit_test(of_a_damaged_event_the_others_are_told_and_where_it_was),
		cmocka_unit_test(held_events_that_are_none_are_damage_and_no_more),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests_name("jfr/piecewise", tests, NULL, NULL);
}
