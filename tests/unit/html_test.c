// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/scoped.h"
#include "exporter/exporter.h"
#include "tests/unit/sample_profile.h"

extern const struct exporter_ops exporter_html;

SCOPED_DEFINE(struct profile, profile_free)
SCOPED_DEFINE(json_t, json_decref)

/* Inlined, GCC 12 takes the text it returns for its own variable. */
static __attribute__((noinline)) char *page_of(const struct profile *p)
{
	char *page = NULL;
	size_t len;
	FILE *out = open_memstream(&page, &len);

	assert_int_equal(exporter_html.write(p, out), 0);
	fclose(out);
	assert_int_equal(strlen(page), len);
	return page;
}

/* The bytes of the page's data block, allocated. */
static char *block_of(const struct profile *p)
{
	SCOPED(free) char *page = page_of(p);
	char *start = strstr(page, "id=\"profile\">"), *end;

	assert_non_null(start);
	start += strlen("id=\"profile\">");
	end = strstr(start, "</script>");
	assert_non_null(end);
	return strndup(start, (size_t)(end - start));
}

static json_t *data_of(const struct profile *p)
{
	SCOPED(free) char *block = block_of(p);
	json_error_t err;
	json_t *data = json_loads(block, 0, &err);

	if (!data)
		fail_msg("%s at %d", err.text, err.position);
	return data;
}

static json_int_t number(const json_t *data, const char *key, size_t i)
{
	return json_integer_value(json_array_get(json_object_get(data, key), i));
}

static const char *frame_text(const json_t *data, json_int_t frame, size_t field)
{
	size_t string = (size_t)number(data, "frames", (size_t)frame * 6 + field);

	return json_string_value(json_array_get(json_object_get(data, "strings"), string));
}

static const char *node_name(const json_t *data, size_t node)
{
	return frame_text(data, number(data, "frame", node), 0);
}

static json_int_t self_sum(const json_t *data, size_t type)
{
	json_t *self = json_array_get(json_object_get(data, "self"), type), *value;
	json_int_t sum = 0;
	size_t i;

	json_array_foreach(self, i, value) sum += json_integer_value(value);
	return sum;
}

static void selves_add_up_to_the_profile(void **state)
{
	SCOPED(profile_free) struct profile *p = sample_profile();
	SCOPED(json_decref) json_t *data = data_of(p);

	(void)state;
	assert_int_equal(self_sum(data, 0), 15);
	assert_int_equal(self_sum(data, 1), 15 * INT64_C(10101010));
}

static void stacks_are_paths_from_process_to_innermost_inlinee(void **state)
{
	static const struct {
		const char *name;
		int depth;
	} expected[] = {
		{ "server", 0 },
		{ "server", 1 },
		{ "main", 2 },
		{ "app::Engine<int>::run(int)", 3 },
		{ "clamp(int)", 4 },
		{ "std::min<int>(int const&, int const&)", 5 },
		{ "[libc.so.6]", 6 },
		{ "do_syscall_64", 7 },
		{ "vfs_write", 8 },
		{ "worker/0", 1 },
		{ "[broken: no unwind data]", 2 },
	};
	SCOPED(profile_free) struct profile *p = sample_profile();
	SCOPED(json_decref) json_t *data = data_of(p);

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		assert_string_equal(node_name(data, i), expected[i].name);
		assert_int_equal(number(data, "depth", i), expected[i].depth);
	}
	/* The same path twice is one node: 3 samples passed on, 5 ended there. */
	assert_int_equal(json_integer_value(json_array_get(
				 json_array_get(json_object_get(data, "self"), 0), 5)),
			 5);
	assert_int_equal(number(data, "frames", (size_t)number(data, "frame", 3) * 6 + 5), 0);
	assert_int_equal(number(data, "frames", (size_t)number(data, "frame", 4) * 6 + 5), 1);
	assert_int_equal(number(data, "line", 3), 51);
}

static void guesses_are_marked_with_their_weight(void **state)
{
	SCOPED(profile_free) struct profile *p = sample_profile();
	SCOPED(json_decref) json_t *data = data_of(p);

	(void)state;
	assert_int_equal(number(data, "marks", 0), 3);
	assert_int_equal(number(data, "marks", 1), LOCATION_GUESSED | LOCATION_FOLDED);
	assert_int_equal(number(data, "marks", 2), 8);
}

static void target_text_cannot_leave_its_block(void **state)
{
	SCOPED(profile_free) struct profile *p = hostile_profile();
	SCOPED(free) char *block = NULL;
	SCOPED(json_decref) json_t *data = NULL;

	(void)state;
	profile_count(p, "</script>", 1);
	block = block_of(p);
	data = data_of(p);
	assert_null(strpbrk(block, "<>&"));
	assert_null(strstr(block, "\xe2\x80\xa8"));
	for (const char *c = block; *c; c++)
		assert_true((unsigned char)*c >= ' ' || *c == '\n');
	assert_string_equal(node_name(data, 3), hostile_names[0]);
}

static void differing_lines_are_told(void **state)
{
	SCOPED(profile_free) struct profile *p = sample_profile_empty();
	uint32_t f = sample_function(p, "f", "f", "f.c", 1), labels = 0;
	SCOPED(json_decref) json_t *data = NULL;

	(void)state;
	sample_add(p, labels, 1, (uint32_t[]){ sample_location(p, FRAME_NATIVE, 0, 0x10, f, 5) },
		   1);
	sample_add(p, labels, 1, (uint32_t[]){ sample_location(p, FRAME_NATIVE, 0, 0x20, f, 6) },
		   1);
	data = data_of(p);
	assert_int_equal(json_array_size(json_object_get(data, "depth")), 1);
	assert_int_equal(number(data, "line", 0), -1);
}

static void negative_samples_are_counted_not_drawn(void **state)
{
	SCOPED(profile_free) struct profile *p = sample_profile();
	SCOPED(json_decref) json_t *data = NULL;
	json_t *first;

	(void)state;
	sample_add(p, 0, -7, (uint32_t[]){ 1 }, 1);
	data = data_of(p);
	first = json_array_get(json_object_get(data, "counts"), 0);
	assert_string_equal(json_string_value(json_array_get(first, 0)), "samples.negative");
	assert_int_equal(json_integer_value(json_array_get(first, 1)), 1);
	assert_int_equal(self_sum(data, 0), 15);
}

static void samples_without_stack_or_label_are_shown(void **state)
{
	SCOPED(profile_free) struct profile *p = sample_profile_empty();
	SCOPED(json_decref) json_t *data = NULL;

	(void)state;
	sample_add(p, 0, 4, (uint32_t[]){ 0 }, 0);
	data = data_of(p);
	assert_string_equal(node_name(data, 0), "[no stack]");
	assert_int_equal(self_sum(data, 0), 4);
}

static void an_empty_profile_is_a_page(void **state)
{
	SCOPED(profile_free) struct profile *p = profile_new();
	SCOPED(json_decref) json_t *data = data_of(p);

	(void)state;
	assert_int_equal(json_array_size(json_object_get(data, "depth")), 0);
}

/* Wide and flat: process 0 has functions of one sample each, one heavy, and one with a child. */
static struct profile *crowd(uint32_t n)
{
	struct profile *p = sample_profile_empty();
	uint32_t labels = sample_labels(p, 1, 1, "crowd", "crowd", NULL);

	for (uint32_t i = 0; i < n; i++) {
		char name[32];
		uint32_t location;

		snprintf(name, sizeof(name), "f%u", i);
		location = sample_location(p, FRAME_NATIVE, 0, i,
					   sample_function(p, name, name, "", 0), 0);
		sample_add(p, labels, i == 7 ? 1000 : 1 + i % 2, &location, 1);
	}
	return p;
}

static void too_many_nodes_keep_their_sum(void **state)
{
	SCOPED(profile_free) struct profile *p = crowd(300000);
	SCOPED(json_decref) json_t *data = data_of(p);
	size_t n = json_array_size(json_object_get(data, "depth"));

	(void)state;
	assert_in_range(n, 3, 250001);
	assert_int_equal(self_sum(data, 0), 300000 / 2 * 3 - 2 + 1000);
	assert_string_equal(node_name(data, 0), "crowd"); /* no thread level in a tree this large */
	assert_string_equal(node_name(data, n - 1), "[small frames left out]");
}

static void a_failing_stream_is_an_error(void **state)
{
	SCOPED(profile_free) struct profile *p = sample_profile();
	SCOPED(fclose) FILE *full = fopen("/dev/full", "w");

	(void)state;
	assert_int_equal(exporter_html.write(p, full), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(selves_add_up_to_the_profile),
		cmocka_unit_test(stacks_are_paths_from_process_to_innermost_inlinee),
		cmocka_unit_test(guesses_are_marked_with_their_weight),
		cmocka_unit_test(target_text_cannot_leave_its_block),
		cmocka_unit_test(differing_lines_are_told),
		cmocka_unit_test(negative_samples_are_counted_not_drawn),
		cmocka_unit_test(samples_without_stack_or_label_are_shown),
		cmocka_unit_test(an_empty_profile_is_a_page),
		cmocka_unit_test(too_many_nodes_keep_their_sum),
		cmocka_unit_test(a_failing_stream_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
