// SPDX-License-Identifier: Apache-2.0
/* Recordings of several chunks, whole, unfinished, doubled, from several JVMs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "core/hurry.h"
#include "tests/unit/jfr_world.h"

#define SECOND INT64_C(1000000000)

/* A chunk with a note, a sample of thread and stack `id`, its names, and another note. */
static void put_chunk(struct jfr_bytes *b, int64_t number, unsigned int id, const char *class)
{
	struct jfr_chunk c = jfr_chunk_begin(b, number);

	world_metadata(&c);
	world_note(&c, 10, "first");
	world_sample(&c, 20, id);
	world_checkpoint(&c, id, class);
	world_note(&c, 30, "last");
	jfr_chunk_end(&c);
}

/* A checkpoint as HotSpot writes it at a flush: with the header as it is then. */
static void put_flush(struct jfr_chunk *c, unsigned int state)
{
	size_t at = checkpoint_begin(c, false, 1);

	put_pool(c->b, T_HEADER, 1);
	put_varint(c->b, 1);
	put_varint(c->b, 68);
	c->state = state;
	c->size = c->b->len - c->at + 68;
	jfr_header(c->b, c);
	event_end(c->b, at);
}

static void is_sample(const struct world_event *e, const char *thread, const char *method)
{
	assert_string_equal(e->type, "sample");
	assert_string_equal(e->thread, thread);
	assert_string_equal(e->method, method);
}

static void says(const struct world_reading *got, size_t i, uint64_t at, uint64_t len,
		 const char *what)
{
	assert_true(i < got->report.n_damages);
	assert_int_equal(got->report.damages[i].at, at);
	assert_int_equal(got->report.damages[i].len, len);
	assert_non_null(strstr(got->report.damages[i].what, what));
}

static void chunks_are_read_one_after_the_other(void **state)
{
	struct jfr_bytes b = { 0 };
	struct world_reading got = { 0 };

	(void)state;
	put_chunk(&b, 0, 7, "p/A");
	put_chunk(&b, 1, 8, "p/B");
	world_read(&got, b.data, b.len);
	assert_int_equal(got.err, 0);
	assert_int_equal(got.n, 6);
	assert_int_equal(got.counted, 6);
	is_sample(&got.items[1], "thread-7", "p.A.method7:42");
	is_sample(&got.items[4], "thread-8", "p.B.method8:42");
	assert_int_equal(got.items[1].time_ns, WRITER_START_NS + 20);
	assert_int_equal(got.items[4].time_ns, WRITER_START_NS + SECOND + 20);
	assert_int_equal(got.report.n_chunks, 2);
	assert_int_equal(got.report.n_damages, 0);
	assert_int_equal(got.report.counts[0], 2);
	assert_int_equal(got.report.counts[1], 2);
	assert_int_equal(got.report.start_ns, WRITER_START_NS);
	assert_int_equal(got.report.end_ns, WRITER_START_NS + 2 * SECOND);
	world_reading_deinit(&got);
	free(b.data);
}

static void chunk_that_is_there_twice_is_read_once(void **state)
{
	struct jfr_bytes b = { 0 };
	struct world_reading got = { 0 };
	size_t len;

	(void)state;
	put_chunk(&b, 0, 7, "p/A");
	len = b.len;
	put_chunk(&b, 0, 7, "p/A");
	put_chunk(&b, 1, 8, "p/B");
	world_read(&got, b.data, b.len);
	assert_int_equal(got.n, 6);
	assert_int_equal(got.report.n_chunks, 2);
	assert_int_equal(got.report.n_duplicates, 1);
	world_read(&got, b.data + len, b.len - len); /* another dump with the same two */
	assert_int_equal(got.n, 6);
	assert_int_equal(got.report.n_duplicates, 3);
	world_reading_deinit(&got);
	free(b.data);
}

static void chunks_may_come_in_any_order(void **state)
{
	struct jfr_bytes b = { 0 };
	struct world_reading got = { 0 };

	(void)state;
	put_chunk(&b, 1, 8, "p/B");
	put_chunk(&b, 0, 7, "p/A");
	world_read(&got, b.data, b.len);
	assert_int_equal(got.n, 6);
	is_sample(&got.items[1], "thread-8", "p.B.method8:42");
	is_sample(&got.items[4], "thread-7", "p.A.method7:42");
	assert_int_equal(got.report.start_ns, WRITER_START_NS);
	assert_int_equal(got.report.end_ns, WRITER_START_NS + 2 * SECOND);
	world_reading_deinit(&got);
	free(b.data);
}

/* The second chunk's sample refers to what only the first one has. */
static void put_straddling(struct jfr_bytes *b, int64_t number, unsigned int flags, int64_t ticks)
{
	struct jfr_chunk c = jfr_chunk_begin(b, 0);

	c.flags = flags;
	world_metadata(&c);
	world_sample(&c, 10, 7);
	world_checkpoint(&c, 7, "p/A");
	jfr_chunk_end(&c);
	c = jfr_chunk_begin(b, number);
	c.start_ticks += ticks;
	world_metadata(&c);
	world_sample(&c, -10, 7);
	world_checkpoint(&c, 8, "p/B");
	jfr_chunk_end(&c);
}

static void event_of_before_the_chunk_has_its_stack_in_the_chunk_before(void **state)
{
	struct jfr_bytes b = { 0 };
	struct world_reading got = { 0 };

	(void)state;
	put_straddling(&b, 1, 1, 0);
	world_read(&got, b.data, b.len);
	assert_int_equal(got.n, 2);
	is_sample(&got.items[1], "thread-7", "p.A.method7:42");
	world_reading_deinit(&got);
	free(b.data);
}

static void names_do_not_leak_from_one_jvm_to_another(void **state)
{
	static const struct {
		int64_t number, ticks; /* of the second chunk */
		unsigned int flags;    /* of the first one */
	} cases[] = {
		{ 2, 0, 1 },	  /* a second later */
		{ 1, 0, 3 },	  /* the first one was its JVM's last */
		{ 1, SECOND, 1 }, /* another clock */
		{ -1, 0, 1 },	  /* a chunk of before */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct jfr_bytes b = { 0 };
		struct world_reading got = { 0 };

		put_straddling(&b, cases[i].number, cases[i].flags, cases[i].ticks);
		world_read(&got, b.data, b.len);
		assert_int_equal(got.n, 2);
		assert_string_equal(got.items[0].thread, "thread-7");
		assert_string_equal(got.items[1].thread, "");
		assert_string_equal(got.items[1].method, "");
		world_reading_deinit(&got);
		free(b.data);
	}
}

static void same_ids_of_two_jvms_have_names_of_their_own(void **state)
{
	struct jfr_bytes b = { 0 };
	struct world_reading got = { 0 };

	(void)state;
	put_chunk(&b, 0, 7, "p/A");
	put_chunk(&b, 5, 7, "q/B");
	world_read(&got, b.data, b.len);
	is_sample(&got.items[1], "thread-7", "p.A.method7:42");
	is_sample(&got.items[4], "thread-7", "q.B.method7:42");
	world_reading_deinit(&got);
	free(b.data);
}

/* As HotSpot leaves a chunk, with copies of its header, cut off at a place. */
static size_t put_flushed(struct jfr_bytes *b, size_t *sample)
{
	struct jfr_chunk c = jfr_chunk_begin(b, 0);

	world_metadata(&c);
	world_sample(&c, 10, 7);
	world_checkpoint(&c, 7, "p/A");
	put_flush(&c, 1);
	world_sample(&c, 20, 8);
	world_checkpoint(&c, 8, "p/B");
	put_flush(&c, 2);
	*sample = world_sample(&c, 30, 7);
	put_flush(&c, 0);
	jfr_chunk_end(&c);
	return c.at;
}

static void copies_of_the_header_are_no_chunks(void **state)
{
	struct jfr_bytes b = { 0 };
	struct world_reading got = { 0 };
	size_t cut;

	(void)state;
	put_flushed(&b, &cut);
	world_read(&got, b.data, b.len);
	assert_int_equal(got.n, 3);
	assert_int_equal(got.report.n_damages, 0);
	world_reading_deinit(&got);
	world_read(&got, b.data, cut + 3);
	assert_int_equal(got.report.n_chunks, 1);
	assert_int_equal(got.n, 2);
	is_sample(&got.items[0], "thread-7", "p.A.method7:42");
	is_sample(&got.items[1], "thread-8", "p.B.method8:42");
	says(&got, 0, cut, 3, "cut off");
	says(&got, 1, cut + 3, b.len - cut - 3, "the file ends before");
	world_reading_deinit(&got);
	free(b.data);
}

/* As HotSpot begins one: its header says that there is nothing behind it. */
static void chunk_that_was_not_flushed_yet_is_no_damage(void **state)
{
	struct jfr_bytes b = { 0 };
	struct world_reading got = { 0 };
	struct jfr_chunk c = jfr_chunk_begin(&b, 0);

	(void)state;
	world_sample(&c, 10, 7);
	c.state = 1;
	c.size = CHUNK_HEADER_LEN;
	jfr_chunk_end(&c);
	world_read(&got, b.data, b.len);
	assert_int_equal(got.n, 0);
	assert_int_equal(got.report.n_chunks, 0);
	assert_int_equal(got.report.n_open, 1);
	assert_int_equal(got.report.n_unflushed, b.len - CHUNK_HEADER_LEN);
	assert_int_equal(got.report.n_damages, 0);
	world_reading_deinit(&got);
	b.data[64] = CHUNK_COMPLETE; /* a finished one that says so is damaged */
	world_read(&got, b.data, b.len);
	assert_int_equal(got.report.n_unflushed, 0);
	assert_int_not_equal(got.report.n_damages, 0);
	world_reading_deinit(&got);
	free(b.data);
}

static void damaged_header_is_replaced_by_a_copy_of_it(void **state)
{
	struct jfr_bytes b = { 0 };
	struct world_reading got = { 0 };
	size_t cut, at;

	(void)state;
	put_chunk(&b, 0, 7, "p/A");
	at = put_flushed(&b, &cut);
	b.data[at] = 'f';
	world_read(&got, b.data, b.len);
	assert_int_equal(got.n, 6);
	is_sample(&got.items[5], "thread-7", "p.A.method7:42");
	assert_int_equal(got.report.n_chunks, 2);
	assert_int_equal(got.report.n_damages, 1);
	says(&got, 0, at, 68, "no chunk begins here");
	world_reading_deinit(&got);
	free(b.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chunks_are_read_one_after_the_other),
		cmocka_unit_test(chunk_that_is_there_twice_is_read_once),
		cmocka_unit_test(chunks_may_come_in_any_order),
		cmocka_unit_test(event_of_before_the_chunk_has_its_stack_in_the_chunk_before),
		cmocka_unit_test(names_do_not_leak_from_one_jvm_to_another),
		cmocka_unit_test(same_ids_of_two_jvms_have_names_of_their_own),
		cmocka_unit_test(copies_of_the_header_are_no_chunks),
		cmocka_unit_test(chunk_that_was_not_flushed_yet_is_no_damage),
		cmocka_unit_test(damaged_header_is_replaced_by_a_copy_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
