// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/profile_merge.h"
#include "tests/unit/profile_dump.h"
#include "tests/unit/sample_profile.h"

static void assert_same(const struct profile *a, const struct profile *b)
{
	char *x = profile_dump(a), *y = profile_dump(b);

	assert_string_equal(x, y);
	free(x);
	free(y);
}

static void a_merge_into_nothing_is_the_same_profile(void **state)
{
	struct profile *from = sample_profile(), *into = profile_new();

	(void)state;
	assert_int_equal(profile_merge(into, from), 0);
	assert_same(into, from);
	assert_int_equal(profile_n_strings(into), profile_n_strings(from));
	assert_int_equal(profile_n_locations(into), profile_n_locations(from));
	for (uint32_t id = 1; id <= profile_n_strings(from); id++)
		assert_string_equal(profile_get_string(into, id), profile_get_string(from, id));
	profile_free(into);
	profile_free(from);
}

static void a_merge_with_its_like_doubles_values_and_counts_only(void **state)
{
	struct profile *from = sample_profile(), *into = sample_profile();
	uint32_t n_types = profile_get_header(from)->n_sample_types;

	(void)state;
	assert_int_equal(profile_merge(into, from), 0);
	assert_int_equal(profile_n_strings(into), profile_n_strings(from));
	assert_int_equal(profile_n_functions(into), profile_n_functions(from));
	assert_int_equal(profile_n_mappings(into), profile_n_mappings(from));
	assert_int_equal(profile_n_locations(into), profile_n_locations(from));
	assert_int_equal(profile_n_stacks(into), profile_n_stacks(from));
	assert_int_equal(profile_n_label_sets(into), profile_n_label_sets(from));
	assert_int_equal(profile_n_samples(into), profile_n_samples(from));
	for (uint32_t i = 0; i < profile_n_samples(from); i++)
		for (uint32_t v = 0; v < n_types; v++)
			assert_int_equal(profile_get_sample(into, i)->values[v],
					 2 * profile_get_sample(from, i)->values[v]);
	for (uint32_t i = 0; i < profile_n_counts(from); i++) {
		uint64_t one, both;

		assert_string_equal(profile_get_count(from, i, &one),
				    profile_get_count(into, i, &both));
		assert_int_equal(both, 2 * one);
	}
	profile_free(into);
	profile_free(from);
}

static void add_labelled(struct profile *p, struct label *labels, size_t n, uint64_t time_ns)
{
	const int64_t values[] = { 1, 10 };

	profile_add(p, profile_stack(p, NULL, 0), profile_label_set(p, labels, n), time_ns, values);
}

static void labels_are_the_same_under_other_ids(void **state)
{
	struct profile *into = profile_new(), *from = profile_new();
	size_t n;

	(void)state;
	profile_begin(into, "cpu", "nanoseconds");
	struct label there[] = {
		{ .key = profile_string(into, "thread"), .str = profile_string(into, "main") },
		{ .key = profile_string(into, "size"),
		  .num = 7,
		  .num_unit = profile_string(into, "bytes") },
	};
	add_labelled(into, there, 2, 5);
	profile_string(from, "bytes"); /* so that ids are in another order */
	profile_string(from, "size");
	profile_begin(from, "cpu", "nanoseconds");
	struct label here[] = {
		{ .key = profile_string(from, "size"),
		  .num = 7,
		  .num_unit = profile_string(from, "bytes") },
		{ .key = profile_string(from, "thread"), .str = profile_string(from, "main") },
	};
	add_labelled(from, here, 2, 9);
	assert_int_equal(profile_merge(into, from), 0);
	assert_int_equal(profile_n_samples(into), 1);
	assert_int_equal(profile_get_sample(into, 0)->values[1], 20);
	assert_int_equal(profile_get_sample(into, 0)->time_ns, 5); /* of the first */
	profile_get_labels(into, profile_get_sample(into, 0)->labels, &n);
	assert_int_equal(n, 2);
	profile_free(into);
	profile_free(from);
}

/* A location without lines, in a stack with one sample. */
static struct profile *unsymbolized(uint32_t *location)
{
	const int64_t values[] = { 1, 1 };
	struct location l = { .address = 0x1234,
			      .kind = FRAME_NATIVE,
			      .flags = LOCATION_UNSYMBOLIZED };
	struct profile *p = profile_new();

	profile_begin(p, "cpu", "nanoseconds");
	*location = profile_location(p, &l, NULL, 0);
	profile_add(p, profile_stack(p, location, 1), 0, 0, values);
	return p;
}

static void set_name(struct profile *p, uint32_t location, const char *name)
{
	struct function f = { .name = profile_string(p, name) };
	struct line line = { .function = profile_function(p, &f), .line = 3 };

	profile_set_lines(p, location, &line, 1, LOCATION_FOLDED);
}

static const char *name_of(const struct profile *p, uint32_t location)
{
	size_t n;
	const struct line *lines = profile_get_lines(p, location, &n);
	const struct function *f = profile_get_function(p, n ? lines[0].function : 0);

	return profile_get_string(p, f->name);
}

static void lines_that_were_found_later_come_along(void **state)
{
	static const struct {
		const char *into, *from, *merged;
	} cases[] = {
		{ NULL, NULL, "" },
		{ NULL, "f", "f" },
		{ "g", NULL, "g" },
		{ "g", "f", "g" }, /* what is known stays */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t a, b;
		struct profile *into = unsymbolized(&a), *from = unsymbolized(&b);
		bool is_known = cases[i].into || cases[i].from;

		if (cases[i].into)
			set_name(into, a, cases[i].into);
		if (cases[i].from)
			set_name(from, b, cases[i].from);
		assert_int_equal(profile_merge(into, from), 0);
		assert_int_equal(profile_n_samples(into), 1);
		assert_int_equal(profile_n_locations(into), 1);
		assert_string_equal(name_of(into, a), cases[i].merged);
		assert_int_equal(profile_get_location(into, a).flags,
				 is_known ? LOCATION_FOLDED : LOCATION_UNSYMBOLIZED);
		profile_free(into);
		profile_free(from);
	}
}

static void other_sample_types_are_refused(void **state)
{
	struct profile *into = profile_new(), *from = profile_new();

	(void)state;
	profile_begin(into, "cpu", "nanoseconds");
	profile_begin(from, "wall", "nanoseconds");
	profile_string(from, "more");
	assert_int_equal(profile_merge(into, from), -EINVAL);
	assert_int_equal(profile_find_string_n(into, "more", 4), 0);
	profile_free(into);
	profile_free(from);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_merge_into_nothing_is_the_same_profile),
		cmocka_unit_test(a_merge_with_its_like_doubles_values_and_counts_only),
		cmocka_unit_test(labels_are_the_same_under_other_ids),
		cmocka_unit_test(lines_that_were_found_later_come_along),
		cmocka_unit_test(other_sample_types_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
