// SPDX-License-Identifier: Apache-2.0
/* What a metadata event says about types, and what is refused of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "tests/unit/jfr_world.h"
#include "tests/unit/mutation.h"

/* An event of 68 bytes of header, which are left out, and the elements. */
static struct metadata *parse_types(struct jfr_types *t, int *err, const char **what)
{
	struct jfr_bytes b = { 0 };
	struct jfr_chunk c = jfr_chunk_begin(&b, 0);
	struct metadata *m;
	uint64_t where;

	put_metadata(&c, t);
	m = metadata_parse(b.data + 68, b.len - 68, err, what, &where);
	types_free(t);
	free(b.data);
	return m;
}

/* Of types that nothing is wrong with. */
static struct metadata *parse_good(struct jfr_types *t)
{
	const char *what;
	int err;
	struct metadata *m = parse_types(t, &err, &what);

	assert_int_equal(err, 0);
	return m;
}

static void types_are_found_by_id_and_by_name(void **state)
{
	struct jfr_types t = world_types();
	const struct jfr_type *type;
	struct metadata *m;
	const char *what;
	int err;

	(void)state;
	types_end(&t);
	m = parse_types(&t, &err, &what);
	assert_non_null(m);
	for (size_t i = 0; i < metadata_n_types(m); i++) {
		type = metadata_type(m, i);
		assert_ptr_equal(metadata_by_id(m, type->id), type);
		assert_ptr_equal(metadata_by_name(m, type->name), type);
		assert_true(!i || metadata_type(m, i - 1)->id < type->id);
	}
	type = metadata_by_name(m, "jdk.ExecutionSample");
	assert_int_equal(type->id, T_SAMPLE);
	assert_true(type->is_event);
	assert_int_equal(type->n_fields, 4);
	assert_int_equal(jfr_type_field(type, "stackTrace"), 2);
	assert_int_equal(jfr_type_field(type, "nothing"), -1);
	assert_string_equal(type->fields[1].type->name, "java.lang.Thread");
	assert_true(type->fields[1].is_constant);
	assert_int_equal(type->fields[0].unit, JFR_TIMESTAMP_TICKS);
	assert_true(metadata_by_name(m, "jdk.types.Symbol")->is_simple);
	assert_true(metadata_by_name(m, "jdk.types.StackTrace")->fields[1].is_array);
	assert_int_equal(metadata_by_name(m, "boolean")->kind, JFR_BOOLEAN);
	assert_null(metadata_by_id(m, 9999));
	assert_null(metadata_by_name(m, "jdk.Nothing"));
	assert_null(metadata_type(m, metadata_n_types(m)));
	metadata_unref(m);
}

static void annotations_are_units(void **state)
{
	static const struct {
		const char *annotation, *value;
		enum jfr_unit unit;
	} cases[] = {
		{ "jdk.jfr.Timestamp", "TICKS", JFR_TIMESTAMP_TICKS },
		{ "jdk.jfr.Timestamp", "NANOSECONDS_SINCE_EPOCH", JFR_TIMESTAMP_NS },
		{ "jdk.jfr.Timestamp", "MILLISECONDS_SINCE_EPOCH", JFR_TIMESTAMP_MS },
		{ "jdk.jfr.Timespan", "TICKS", JFR_TIMESPAN_TICKS },
		{ "jdk.jfr.Timespan", "NANOSECONDS", JFR_TIMESPAN_NS },
		{ "jdk.jfr.Timespan", "MICROSECONDS", JFR_TIMESPAN_US },
		{ "jdk.jfr.Timespan", "MILLISECONDS", JFR_TIMESPAN_MS },
		{ "jdk.jfr.Timespan", "SECONDS", JFR_TIMESPAN_S },
		{ "jdk.jfr.Timespan", "FORTNIGHTS", JFR_NO_UNIT },
		{ "jdk.jfr.DataAmount", "BYTES", JFR_BYTES },
		{ "jdk.jfr.DataAmount", "BITS", JFR_BITS },
		{ "jdk.jfr.Frequency", NULL, JFR_HERTZ },
		{ "jdk.jfr.MemoryAddress", NULL, JFR_ADDRESS },
		{ "jdk.jfr.Percentage", NULL, JFR_PERCENTAGE },
		{ "jdk.jfr.Label", "TICKS", JFR_NO_UNIT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct jfr_types t = { 0 };
		struct metadata *m;
		const char *what;
		int err;

		types_begin(&t);
		add_class(&t, T_LONG, "long", NULL);
		add_class(&t, 30, "test.Type", NULL);
		add_field(&t, "plain", T_LONG, 0);
		add_field(&t, "x", T_LONG, 0);
		add_annotation(&t, 31, cases[i].value);
		add_annotation(&t, 999, "of a type that is not described");
		add_class(&t, 31, cases[i].annotation, "java.lang.annotation.Annotation");
		m = parse_types(&t, &err, &what);
		assert_non_null(m);
		assert_int_equal(metadata_by_id(m, 30)->fields[1].unit, cases[i].unit);
		assert_int_equal(metadata_by_id(m, 30)->fields[0].unit, JFR_NO_UNIT);
		metadata_unref(m);
	}
}

static void strings_may_have_any_encoding(void **state)
{
	static const struct {
		unsigned int encoding;
		int err;
	} cases[] = { { 3, 0 },	       { 4, 0 },	{ 5, 0 },
		      { 2, -EBADMSG }, { 6, -EBADMSG }, { 255, -EBADMSG } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct jfr_types t = world_types();
		struct metadata *m;
		const char *what;
		int err;

		t.encoding = cases[i].encoding;
		m = parse_types(&t, &err, &what);
		assert_int_equal(!m, !!cases[i].err);
		assert_int_equal(err, cases[i].err);
		assert_true(m || strstr(what, "string"));
		metadata_unref(m);
	}
}

static void class_with(struct jfr_types *t, const char *id, const char *name)
{
	TYPES_ADD(t, 2, "class", "id", id, "name", name);
}

static void field_with(struct jfr_types *t, const char *class, const char *dimension)
{
	class_with(t, "5", "test.Type");
	TYPES_ADD(t, 3, "field", "name", "x", "class", class, "dimension", dimension);
}

static void no_types(struct jfr_types *t)
{
	(void)t;
}

static void class_without_id(struct jfr_types *t)
{
	TYPES_ADD(t, 2, "class", "name", "a");
}

static void id_that_is_text(struct jfr_types *t)
{
	class_with(t, "seven", "a");
}

static void id_that_is_negative(struct jfr_types *t)
{
	class_with(t, "-7", "a");
}

static void id_that_is_too_large(struct jfr_types *t)
{
	class_with(t, "18446744073709551616", "a");
}

static void class_without_name(struct jfr_types *t)
{
	TYPES_ADD(t, 2, "class", "id", "7");
}

static void field_without_class(struct jfr_types *t)
{
	field_with(t, NULL, NULL);
}

static void arrays_of_arrays(struct jfr_types *t)
{
	field_with(t, "5", "2");
}

static void elements_nested_deep(struct jfr_types *t)
{
	for (unsigned int i = 2; i < 40; i++)
		TYPES_ADD(t, i, "x", NULL);
}

static const struct {
	void (*make)(struct jfr_types *t);
	const char *what;
} refused[] = {
	{ no_types, "no types" },
	{ class_without_id, "type id" },
	{ id_that_is_text, "type id" },
	{ id_that_is_negative, "type id" },
	{ id_that_is_too_large, "type id" },
	{ class_without_name, "type without a name" },
	{ field_without_class, "type id" },
	{ arrays_of_arrays, "array of arrays" },
	{ elements_nested_deep, "nested too deep" },
};

static void what_makes_no_sense_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		struct jfr_types t = { 0 };
		const char *what;
		int err = 0;

		types_begin(&t);
		refused[i].make(&t);
		types_end(&t);
		assert_null(parse_types(&t, &err, &what));
		assert_int_equal(err, -EBADMSG);
		assert_non_null(strstr(what, refused[i].what));
	}
}

/* Behind the event's head: what follows is read, and what lacks is missed. */
static void numbers_that_cannot_be_are_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *what;
	} cases[] = {
		{ "\x80\x80\x80\x80\x08", 5, "number of strings" },
		{ "\x01\x03\x80\x80\x80\x80\x08", 7, "string" }, /* 2^31 bytes */
		{ "\x01\x04\x80\x80\x80\x80\x08", 7, "string" },
		{ "\x01\x01\x01\0\0", 5, "element's name" }, /* the second of one */
		{ "\x01\x01\0\x80\x80\x80\x80\x08\0", 9, "number of attributes" },
		{ "\x01\x01\0\x01\0\x05\0", 7, "attribute's value" },
		{ "\x01\x01\0\0\x80\x80\x80\x80\x08", 9, "number of children" },
		{ "\x01\x01\0\0\x01", 5, "number of children" },
		{ "\x01\x01\0\0", 4, "number of children" },
		{ "", 0, "number of strings" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct jfr_bytes b = { 0 };
		const char *what;
		uint64_t where;
		int err = 0;

		put_bytes(&b, "\x40\0\1\1\1", 5);
		put_bytes(&b, cases[i].bytes, cases[i].len);
		assert_null(metadata_parse(b.data, b.len, &err, &what, &where));
		assert_int_equal(err, -EBADMSG);
		assert_string_equal(what, cases[i].what);
		assert_true(where >= 5 && where <= b.len);
		free(b.data);
	}
}

static void of_types_with_one_id_the_first_stays(void **state)
{
	struct jfr_types t = { 0 };
	struct metadata *m;

	(void)state;
	types_begin(&t);
	add_class(&t, T_LONG, "long", NULL);
	add_class(&t, 7, "test.Z", NULL);
	add_class(&t, 7, "test.A", NULL);
	add_field(&t, "x", T_LONG, 0);
	add_class(&t, 9, "test.Same", NULL);
	add_class(&t, 11, "test.Same", NULL);
	m = parse_good(&t);
	assert_string_equal(metadata_by_id(m, 7)->name, "test.Z");
	assert_int_equal(metadata_by_id(m, 7)->n_fields, 0);
	assert_null(metadata_by_name(m, "test.A"));
	assert_int_equal(metadata_by_name(m, "test.Same")->id, 11);
	metadata_unref(m);
}

static void ids_may_be_small_or_large(void **state)
{
	static const unsigned int ids[] = { 1, 4095, 4096, 4100, 70000, 4000000000 };
	const size_t n = sizeof(ids) / sizeof(ids[0]);
	struct jfr_types t = { 0 };
	struct metadata *m;

	(void)state;
	types_begin(&t);
	for (size_t i = 0; i < n; i++)
		add_class(&t, ids[i], "test.Type", NULL);
	m = parse_good(&t);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(metadata_by_id(m, ids[i])->id, ids[i]);
		assert_null(metadata_by_id(m, ids[i] + 2));
	}
	metadata_unref(m);
}

static void same_bytes_at_another_time_are_the_same_metadata(void **state)
{
	struct jfr_bytes b = { 0 };
	struct jfr_chunk c;
	struct metadata *m;
	const char *what;
	uint64_t where;
	size_t second;
	int err;

	(void)state;
	c = jfr_chunk_begin(&b, 0);
	world_metadata(&c);
	second = b.len;
	c = jfr_chunk_begin(&b, 5000);
	world_metadata(&c);
	m = metadata_parse(b.data + 68, second - 68, &err, &what, &where);
	assert_true(metadata_is(m, b.data + second + 68, b.len - second - 68));
	b.data[b.len - 1] ^= 1;
	assert_false(metadata_is(m, b.data + second + 68, b.len - second - 68));
	assert_false(metadata_is(m, b.data, 3));
	metadata_unref(m);
	free(b.data);
}

static void parse_and_use(const uint8_t *bytes, size_t len)
{
	const char *what;
	uint64_t where;
	int err;
	struct metadata *m = metadata_parse(bytes, len, &err, &what, &where);

	if (!m)
		assert_true(err < 0 && what && where <= len);
	for (size_t i = 0; m && i < metadata_n_types(m); i++) {
		const struct jfr_type *type = metadata_type(m, i);

		assert_non_null(metadata_by_name(m, type->name));
		layout_free(layout_new(type, &err));
	}
	metadata_unref(m);
}

static void survives_mutation(void **state)
{
	struct jfr_bytes b = { 0 };
	struct jfr_chunk c = jfr_chunk_begin(&b, 0);
	struct jfr_types t = { 0 };

	(void)state;
	types_begin(&t);
	add_class(&t, T_LONG, "long", NULL);
	add_class(&t, T_TIMESTAMP, "jdk.jfr.Timestamp", "java.lang.annotation.Annotation");
	world_events(&t);
	types_end(&t);
	put_metadata(&c, &t);
	types_free(&t);
	mutate(b.data + 68, b.len - 68, parse_and_use);
	free(b.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_are_found_by_id_and_by_name),
		cmocka_unit_test(annotations_are_units),
		cmocka_unit_test(strings_may_have_any_encoding),
		cmocka_unit_test(what_makes_no_sense_is_named),
		cmocka_unit_test(numbers_that_cannot_be_are_refused),
		cmocka_unit_test(of_types_with_one_id_the_first_stays),
		cmocka_unit_test(ids_may_be_small_or_large),
		cmocka_unit_test(same_bytes_at_another_time_are_the_same_metadata),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
