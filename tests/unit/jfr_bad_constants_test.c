// SPDX-License-Identifier: Apache-2.0
/* Constants that make no sense, and chunks in an order that no JVM writes: events are read all the
   same, and none gets a name that is another's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/jfr_world.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define TWO_GB ((uint64_t)1 << 31)
#define N_GOOD 3 /* samples of each of two stacks */

static void put_samples(struct jfr_chunk *c, unsigned int id)
{
	for (int i = 0; i < N_GOOD; i++)
		world_sample(c, i, id);
}

static void pool(struct jfr_chunk *c, uint64_t type, uint64_t count, const char *bytes, size_t len)
{
	size_t at = checkpoint_begin(c, false, 1);

	put_varint(c->b, type);
	put_varint(c->b, count);
	put_bytes(c->b, bytes, len);
	event_end(c->b, at);
}

#define CASE(name) static void name(struct jfr_chunk *c)

CASE(count_0)
{
	pool(c, T_SYMBOL, 0, "", 0);
}

CASE(count_of_2_gb)
{
	pool(c, T_SYMBOL, TWO_GB, "\x09\x03\x01x", 4);
}

CASE(count_of_ones)
{
	pool(c, T_SYMBOL, UINT64_MAX, "\x09\x03\x01x", 4);
}

CASE(one_more_than_there_are)
{
	pool(c, T_SYMBOL, 2, "\x09\x03\x01x", 4);
}

CASE(more_pools_than_there_are)
{
	size_t at = checkpoint_begin(c, false, TWO_GB);

	event_end(c->b, at);
}

CASE(type_that_is_not_described)
{
	pool(c, 999, 1, "\x09\x03\x01x", 4);
}

CASE(stack_of_10_million_frames)
{
	pool(c, T_STACK, 1, "\x09\0\x80\xad\xe2\x04", 6);
}

CASE(method_without_a_class)
{
	pool(c, T_METHOD, 1, "\x09\x63\x0e\0\0", 5);
	pool(c, T_STACK, 1, "\x09\0\x01\x09\x2a\x07\x01", 7);
}

CASE(class_without_a_name)
{
	pool(c, T_CLASS, 1, "\x09\x63", 2);
	pool(c, T_METHOD, 1, "\x09\x09\x0e\0\0", 5);
	pool(c, T_STACK, 1, "\x09\0\x01\x09\x2a\x07\x01", 7);
}

CASE(string_of_2_gb)
{
	pool(c, T_SYMBOL, 1, "\x09\x03\x80\x80\x80\x80\x08", 7);
}

/* What is around them has its names; what refers to them is told, and counted. */
static void bad_constants_cost_no_others(void **state)
{
	static const struct {
		const char *name;
		void (*put)(struct jfr_chunk *c);
	} cases[] = {
		{ "count 0", count_0 },
		{ "count of 2 GB", count_of_2_gb },
		{ "count of ones", count_of_ones },
		{ "one more than there are", one_more_than_there_are },
		{ "more pools than there are", more_pools_than_there_are },
		{ "type that is not described", type_that_is_not_described },
		{ "stack of 10 million frames", stack_of_10_million_frames },
		{ "method without a class", method_without_a_class },
		{ "class without a name", class_without_a_name },
		{ "string of 2 GB", string_of_2_gb },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct world_reading got = { 0 };
		struct jfr_bytes b = { 0 };
		struct jfr_chunk c = jfr_chunk_begin(&b, 0);
		size_t n_named = 0;

		world_metadata(&c);
		put_samples(&c, 7);
		world_checkpoint(&c, 7, "p/A");
		cases[i].put(&c);
		put_samples(&c, 9);
		put_samples(&c, 8);
		world_checkpoint(&c, 8, "p/B");
		jfr_chunk_end(&c);
		world_read(&got, b.data, b.len);
		for (size_t k = 0; k < got.n; k++)
			n_named += !strcmp(got.items[k].method, "p.A.method7:42") ||
				   !strcmp(got.items[k].method, "p.B.method8:42");
		if (got.n != 3 * N_GOOD || n_named != 2 * N_GOOD)
			print_error("%s: %zu events, %zu with names\n", cases[i].name, got.n,
				    n_named);
		assert_int_equal(got.err, 0);
		assert_int_equal(got.n, 3 * N_GOOD);
		assert_int_equal(n_named, 2 * N_GOOD);
		world_reading_deinit(&got);
		free(b.data);
	}
}

/* One chunk: samples of a stack, and its names if it has a class. */
static void put_chunk(struct jfr_bytes *b, int64_t number, int64_t shift_ns, int64_t shift_ticks,
		      const char *class)
{
	struct jfr_chunk c = jfr_chunk_begin(b, number);

	c.start_ns += shift_ns;
	c.start_ticks += shift_ticks;
	world_metadata(&c);
	world_checkpoint(&c, class ? 7 : 8, class ? class : "p/Other");
	put_samples(&c, 7);
	jfr_chunk_end(&c);
}

static void names_of_one_jvm_are_not_anothers(void **state)
{
	static const struct {
		const char *name;
		int64_t shift_ns, shift_ticks;
		bool is_lent;
	} cases[] = {
		{ "the next chunk", 0, 0, true },
		{ "another JVM's ticks", 0, 77777777777, false },
		{ "an hour later", 3600000000000, 3600000000000, false },
		{ "the clock was put back", -3600000000000, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct world_reading got = { 0 };
		struct jfr_bytes b = { 0 };

		put_chunk(&b, 0, 0, 0, "p/A");
		put_chunk(&b, 1, cases[i].shift_ns, cases[i].shift_ticks, NULL);
		world_read(&got, b.data, b.len);
		assert_int_equal(got.n, 2 * N_GOOD);
		assert_string_equal(got.items[0].method, "p.A.method7:42");
		if (!strcmp(got.items[N_GOOD].method, "p.A.method7:42") != cases[i].is_lent)
			fail_msg("%s: %s", cases[i].name, got.items[N_GOOD].method);
		assert_int_equal(got.items[N_GOOD].time_ns,
				 WRITER_START_NS + (int64_t)WRITER_DURATION_NS + cases[i].shift_ns);
		world_reading_deinit(&got);
		free(b.data);
	}
}

static void ids_that_two_jvms_share_are_each_ones_own(void **state)
{
	struct world_reading got = { 0 };
	struct jfr_bytes b = { 0 };

	(void)state;
	put_chunk(&b, 0, 0, 0, "p/A");
	put_chunk(&b, 1, 0, 77777777777, "p/B");
	put_chunk(&b, 1, 0, 0, "p/C");
	world_read(&got, b.data, b.len);
	assert_int_equal(got.n, 3 * N_GOOD);
	assert_string_equal(got.items[0].method, "p.A.method7:42");
	assert_string_equal(got.items[N_GOOD].method, "p.B.method7:42");
	assert_string_equal(got.items[2 * N_GOOD].method, "p.C.method7:42");
	assert_int_equal(got.report.n_damages, 0);
	world_reading_deinit(&got);
	free(b.data);
}

/* In any order, and one of them twice. */
static void chunks_out_of_order_keep_their_times(void **state)
{
	static const int order[] = { 2, 0, 1, 0 };
	struct world_reading got = { 0 };
	struct jfr_bytes b = { 0 };

	(void)state;
	for (size_t i = 0; i < N(order); i++)
		put_chunk(&b, order[i], 0, 0, "p/A");
	world_read(&got, b.data, b.len);
	assert_int_equal(got.n, 3 * N_GOOD);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(got.items[i * N_GOOD].time_ns,
				 WRITER_START_NS + order[i] * (int64_t)WRITER_DURATION_NS);
	assert_int_equal(got.report.n_chunks, 3);
	assert_int_equal(got.report.n_duplicates, 1);
	world_reading_deinit(&got);
	free(b.data);
}

/* A method of the last chunk but two, whose class only the first one has. */
static void what_names_were_made_of_may_be_gone(void **state)
{
	struct world_reading got = { 0 };
	struct jfr_bytes b = { 0 };

	(void)state;
	for (int i = 0; i < 6; i++) {
		struct jfr_chunk c = jfr_chunk_begin(&b, i);

		world_metadata(&c);
		if (i == 0)
			world_checkpoint(&c, 7, "p/A");
		if (i == 2) {
			pool(&c, T_METHOD, 1, "\x63\x07\x0e\0\0", 5);
			pool(&c, T_STACK, 1, "\x63\0\x01\x63\x2a\x07\x01", 7);
		}
		put_samples(&c, 99);
		jfr_chunk_end(&c);
	}
	world_read(&got, b.data, b.len);
	assert_int_equal(got.n, 6 * N_GOOD);
	assert_string_equal(got.items[2 * N_GOOD].method, "p.A.method7:42");
	for (size_t i = 3 * N_GOOD; i < got.n; i++)
		assert_null(strstr(got.items[i].method, "p.A"));
	world_reading_deinit(&got);
	free(b.data);
}

/* Frames whose methods and types are stacks. */
static struct jfr_types types_in_a_circle(void)
{
	struct jfr_types t = { 0 };

	types_begin(&t);
	world_primitives(&t);
	add_class(&t, T_STACK, "jdk.types.StackTrace", NULL);
	add_field(&t, "truncated", T_BOOLEAN, 0);
	add_field(&t, "frames", T_FRAME, FIELD_ARRAY);
	add_class(&t, T_FRAME, "jdk.types.StackFrame", NULL);
	add_field(&t, "method", T_STACK, FIELD_CONSTANT);
	add_field(&t, "lineNumber", T_INT, 0);
	add_field(&t, "bytecodeIndex", T_INT, 0);
	add_field(&t, "type", T_STACK, FIELD_CONSTANT);
	add_simple_class(&t, T_STATE, "jdk.types.ThreadState");
	add_field(&t, "name", T_STRING, 0);
	add_class(&t, T_THREAD, "java.lang.Thread", NULL);
	add_field(&t, "javaName", T_STRING, 0);
	world_events(&t);
	types_end(&t);
	return t;
}

static void methods_that_are_stacks_do_no_harm(void **state)
{
	struct jfr_types t = types_in_a_circle();
	struct world_reading got = { 0 };
	struct jfr_bytes b = { 0 };
	struct jfr_chunk c = jfr_chunk_begin(&b, 0);

	(void)state;
	put_metadata(&c, &t);
	pool(&c, T_STACK, 2, "\x07\0\x02\x08\x2a\x07\x08\x08\x2a\x07\x08\x08\0\0", 14);
	put_samples(&c, 7);
	jfr_chunk_end(&c);
	world_read(&got, b.data, b.len);
	assert_int_equal(got.n, N_GOOD);
	world_reading_deinit(&got);
	free(b.data);
	types_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_constants_cost_no_others),
		cmocka_unit_test(names_of_one_jvm_are_not_anothers),
		cmocka_unit_test(ids_that_two_jvms_share_are_each_ones_own),
		cmocka_unit_test(chunks_out_of_order_keep_their_times),
		cmocka_unit_test(what_names_were_made_of_may_be_gone),
		cmocka_unit_test(methods_that_are_stacks_do_no_harm),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("jfr/bad constants", tests, NULL, NULL);
}
