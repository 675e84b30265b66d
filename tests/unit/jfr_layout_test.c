// SPDX-License-Identifier: Apache-2.0
/* How values are read by their types. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "tests/unit/jfr_world.h"

#define T_TEST 200

/* Of a few types behind the primitive ones. */
static struct jfr_types types_of_test(void)
{
	struct jfr_types t = { 0 };

	types_begin(&t);
	world_primitives(&t);
	add_class(&t, T_TEST, "test.Type", NULL);
	return t;
}

static struct layout *layout_of(const struct metadata *m, int *err)
{
	return layout_new(metadata_by_id(m, T_TEST), err);
}

static const struct number_case {
	unsigned int type;
	bool is_unsigned;
	const char *bytes;
	size_t len;
	int64_t value;
} numbers[] = {
	{ T_BOOLEAN, false, "\1", 1, 1 },
	{ T_BYTE, false, "\xff", 1, -1 },
	{ T_BYTE, true, "\xff", 1, 255 },
	{ T_CHAR, false, "\xff\xff\3", 3, 65535 },
	{ T_SHORT, false, "\xff\xff\3", 3, -1 },
	{ T_SHORT, true, "\xff\xff\3", 3, 65535 },
	{ T_INT, false, "\xff\xff\xff\xff\x0f", 5, -1 },
	{ T_INT, false, "\xff\xff\xff\xff\xff\xff\xff\xff\xff", 9, -1 },
	{ T_INT, true, "\xff\xff\xff\xff\x0f", 5, UINT32_MAX },
	{ T_INT, false, "\x85\x80\x80\x80\x80\x80\x80\x80\0", 9, 5 },
	{ T_LONG, false, "\xff\xff\xff\xff\xff\xff\xff\xff\xff", 9, -1 },
	{ T_LONG, false, "\x80\x80\x80\x80\x80\x80\x80\x80\x80", 9, INT64_MIN },
	{ T_LONG, false, "\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 9, INT64_MAX },
	{ T_LONG, false, "\x81\0", 2, 1 },
};

static void numbers_have_the_width_of_their_type(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		struct jfr_types t = types_of_test();
		struct jfr_value v;
		struct metadata *m;
		struct layout *l;
		struct reader r;
		int err;

		add_field(&t, "x", numbers[i].type, 0);
		if (numbers[i].is_unsigned)
			add_annotation(&t, 201, NULL);
		add_class(&t, 201, "jdk.jfr.Unsigned", "java.lang.annotation.Annotation");
		m = world_parse(&t);
		l = layout_of(m, &err);
		reader_init(&r, numbers[i].bytes, numbers[i].len);
		assert_int_equal(layout_read(l, &r, &v), 0);
		assert_true(reader_at_end(&r));
		assert_int_equal(v.n, numbers[i].value);
		reader_init(&r, numbers[i].bytes, numbers[i].len - 1);
		assert_int_equal(layout_read(l, &r, &v), -EBADMSG);
		layout_free(l);
		metadata_unref(m);
	}
}

static void reals_are_big_endian(void **state)
{
	static const char bytes[] = "\x3f\x80\0\0\xbf\xf8\0\0\0\0\0\0";
	struct jfr_types t = types_of_test();
	struct jfr_value v[2];
	struct metadata *m;
	struct layout *l;
	struct reader r;
	int err;

	(void)state;
	add_field(&t, "f", T_FLOAT, 0);
	add_field(&t, "d", T_DOUBLE, 0);
	m = world_parse(&t);
	l = layout_of(m, &err);
	reader_init(&r, bytes, sizeof(bytes) - 1);
	assert_int_equal(layout_read(l, &r, v), 0);
	assert_true(v[0].real == 1.0);
	assert_true(v[1].real == -1.5);
	layout_free(l);
	metadata_unref(m);
}

static void structs_are_flat_and_simple_types_are_what_they_hold(void **state)
{
	static const char *const paths[] = { "before", "range.start", "range.end",
					     "simple", "key",	      "list" };
	static const enum jfr_value_kind kinds[] = { VALUE_NUMBER, VALUE_NUMBER,   VALUE_NUMBER,
						     VALUE_STRING, VALUE_CONSTANT, VALUE_ARRAY };
	static const char bytes[] = "\1\2\3\3\2hi\x7f\2\1\2\3\4";
	struct jfr_types t = types_of_test();
	struct jfr_value v[6];
	struct metadata *m;
	struct layout *l;
	struct reader r;
	int err;

	(void)state;
	add_field(&t, "before", T_INT, 0);
	add_field(&t, "range", 201, 0);
	add_field(&t, "simple", 202, 0);
	add_field(&t, "key", 201, FIELD_CONSTANT);
	add_field(&t, "list", 201, FIELD_ARRAY);
	add_class(&t, 201, "test.Range", NULL);
	add_field(&t, "start", T_LONG, 0);
	add_field(&t, "end", T_LONG, 0);
	add_simple_class(&t, 202, "test.Simple");
	add_field(&t, "value", T_STRING, 0);
	m = world_parse(&t);
	l = layout_of(m, &err);
	assert_int_equal(layout_n_leaves(l), 6);
	for (int i = 0; i < 6; i++) {
		assert_string_equal(layout_leaf(l, (size_t)i)->path, paths[i]);
		assert_int_equal(layout_leaf(l, (size_t)i)->kind, kinds[i]);
		assert_int_equal(layout_find(l, paths[i]), i);
	}
	assert_int_equal(layout_find(l, "range"), -1);
	reader_init(&r, bytes, sizeof(bytes) - 1);
	assert_int_equal(layout_read(l, &r, v), 0);
	assert_true(reader_at_end(&r));
	assert_int_equal(v[2].n, 3);
	assert_memory_equal(v[3].string.bytes, "hi", 2);
	assert_int_equal(v[4].n, 127);
	assert_int_equal(v[5].n, 2);
	assert_int_equal(v[5].string.len, 4);
	assert_int_equal(layout_n_leaves(layout_elements(l, 5)), 2);
	assert_null(layout_elements(l, 4));
	reader_init(&r, bytes, sizeof(bytes) - 1);
	assert_int_equal(layout_skip(l, &r), 0);
	assert_true(reader_at_end(&r));
	layout_free(l);
	metadata_unref(m);
}

/* n types, each with `width` fields of the next one; the last has a number, or nothing. */
static struct metadata *nested(unsigned int n, unsigned int width, int flags, bool is_empty)
{
	struct jfr_types t = types_of_test();

	for (unsigned int i = 0; i < n; i++) {
		if (i)
			add_class(&t, T_TEST + i, "test.Inner", NULL);
		for (unsigned int j = 0; j < width && i + 1 < n; j++)
			add_field(&t, "f", T_TEST + i + 1, flags);
	}
	if (!is_empty)
		add_field(&t, "n", T_LONG, 0);
	return world_parse(&t);
}

static void types_that_make_no_layout_are_refused(void **state)
{
	static const struct {
		unsigned int n, width;
		int flags, err;
	} cases[] = {
		{ 8, 1, 0, 0 },			/* deep */
		{ 20, 1, 0, -EBADMSG },		/* too deep */
		{ 8, 20, 0, -E2BIG },		/* 20^7 numbers */
		{ 8, 20, FIELD_ARRAY, -E2BIG }, /* and arrays in arrays as often */
		{ 2, 2000, 0, 0 },		/* wide */
		{ 2, 5000, 0, -E2BIG },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (int is_empty = 0; is_empty < 2; is_empty++) {
			struct metadata *m =
				nested(cases[i].n, cases[i].width, cases[i].flags, is_empty);
			int err = 1;
			struct layout *l = layout_of(m, &err);

			assert_int_equal(err, cases[i].err);
			assert_int_equal(!l, !!err);
			layout_free(l);
			metadata_unref(m);
		}
}

static void type_in_itself_is_refused_unless_it_is_referred_to(void **state)
{
	static const struct {
		unsigned int type;
		int flags, err;
	} cases[] = {
		{ T_TEST, 0, -EBADMSG },
		{ T_TEST, FIELD_ARRAY, -EBADMSG },
		{ 999, 0, -EBADMSG }, /* not described */
		{ 999, FIELD_CONSTANT, -EBADMSG },
		{ T_TEST, FIELD_CONSTANT, 0 },
		{ T_TEST, FIELD_CONSTANT | FIELD_ARRAY, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct jfr_types t = types_of_test();
		struct metadata *m;
		struct layout *l;
		int err = 1;

		add_field(&t, "self", cases[i].type, cases[i].flags);
		m = world_parse(&t);
		l = layout_of(m, &err);
		assert_int_equal(err, cases[i].err);
		layout_free(l);
		metadata_unref(m);
	}
}

/* Thousands of elements that take no bytes, thousands of times, would never end. */
static void elements_without_bytes_are_refused(void **state)
{
	static const char bytes[] = "\7..........";
	struct jfr_types t = types_of_test();
	struct jfr_value v;
	struct metadata *m;
	struct layout *l;
	struct reader r;
	int err;

	(void)state;
	add_field(&t, "list", 201, FIELD_ARRAY);
	add_class(&t, 201, "test.Nothing", NULL);
	m = world_parse(&t);
	l = layout_of(m, &err);
	reader_init(&r, bytes, sizeof(bytes) - 1);
	assert_int_equal(layout_read(l, &r, &v), -EBADMSG);
	reader_init(&r, "\0", 1);
	assert_int_equal(layout_read(l, &r, &v), 0);
	layout_free(l);
	metadata_unref(m);
}

static void counts_beyond_the_bytes_are_refused(void **state)
{
	static const char bytes[7 + WIRE_PADDING] = "\xff\xff\xff\xff\x07..";
	struct jfr_types t = types_of_test();
	struct jfr_value v;
	struct metadata *m;
	struct layout *l;
	struct reader r;
	int err;

	(void)state;
	add_field(&t, "list", T_LONG, FIELD_ARRAY);
	m = world_parse(&t);
	l = layout_of(m, &err);
	reader_init(&r, bytes, 7);
	assert_int_equal(layout_read(l, &r, &v), -EBADMSG);
	assert_string_equal(r.what, "list");
	reader_init(&r, bytes, 7);
	assert_int_equal(layout_read_whole(l, &r, &v), -EBADMSG);
	assert_string_equal(r.what, "list");
	layout_free(l);
	metadata_unref(m);
}

/* And what a value has at its end is as good as read, however many bytes it takes. */
static void array_at_the_end_has_what_is_left(void **state)
{
	static const char bytes[6 + WIRE_PADDING] = "\5\3\1\2\x83\0";
	struct jfr_types t = types_of_test();
	struct jfr_value all[2], whole[2];
	struct metadata *m;
	struct layout *l;
	struct reader r;
	int err;

	(void)state;
	add_field(&t, "n", T_LONG, 0);
	add_field(&t, "list", T_LONG, FIELD_ARRAY);
	m = world_parse(&t);
	l = layout_of(m, &err);
	reader_init(&r, bytes, 6);
	assert_int_equal(layout_read(l, &r, all), 0);
	reader_init(&r, bytes, 6);
	assert_int_equal(layout_read_whole(l, &r, whole), 0);
	assert_true(reader_at_end(&r));
	assert_int_equal(whole[0].n, 5);
	assert_int_equal(whole[1].n, 3);
	assert_ptr_equal(whole[1].string.bytes, all[1].string.bytes);
	assert_int_equal(whole[1].string.len, all[1].string.len);
	layout_free(l);
	metadata_unref(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_the_width_of_their_type),
		cmocka_unit_test(reals_are_big_endian),
		cmocka_unit_test(structs_are_flat_and_simple_types_are_what_they_hold),
		cmocka_unit_test(types_that_make_no_layout_are_refused),
		cmocka_unit_test(type_in_itself_is_refused_unless_it_is_referred_to),
		cmocka_unit_test(elements_without_bytes_are_refused),
		cmocka_unit_test(counts_beyond_the_bytes_are_refused),
		cmocka_unit_test(array_at_the_end_has_what_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
