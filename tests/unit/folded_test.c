// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/golden.h"
#include "tests/unit/sample_profile.h"

static void sample_profile_is_written_as_the_golden_file(void **state)
{
	struct profile *p = sample_profile();
	size_t len;
	char *text = exported("folded", p, &len);

	(void)state;
	assert_golden("sample.folded", text);
	free(text);
	profile_free(p);
}

static void hostile_names_stay_in_their_frame_and_line(void **state)
{
	struct profile *p = hostile_profile();
	char *save, *line;
	size_t len, n_lines = 0;
	char *text = exported("folded", p, &len);

	(void)state;
	assert_int_equal(strlen(text), len);
	for (char *s = text; *s; s++)
		assert_true(*s == '\n' || (unsigned char)*s >= ' ');
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *count = strrchr(line, ' ');
		size_t n_frames = 1;

		assert_non_null(count);
		assert_string_equal(count, " 1");
		for (char *s = line; s < count; s++)
			n_frames += *s == ';';
		assert_int_equal(n_frames, 3); /* process, nameless, named */
		n_lines++;
	}
	assert_int_equal(n_lines, N_HOSTILE_NAMES);
	free(text);
	profile_free(p);
}

static void same_stack_of_two_threads_is_one_line(void **state)
{
	struct profile *p = sample_profile_empty();
	uint32_t leaf =
		sample_location(p, FRAME_NATIVE, 0, 1, sample_function(p, "f", "f", "", 0), 0);
	size_t len;
	char *text;

	(void)state;
	sample_add(p, sample_labels(p, 1, 1, "app", "a", NULL), 3, &leaf, 1);
	sample_add(p, sample_labels(p, 1, 2, "app", "b", NULL), 4, &leaf, 1);
	sample_add(p, 0, 5, &leaf, 1);
	sample_add(p, 0, 1, NULL, 0);
	text = exported("folded", p, &len);
	assert_string_equal(text, "app;f 7\nf 5\n");
	free(text);
	profile_free(p);
}

/* As of a JFR recording: CPU samples, and two allocations that are none. */
static void samples_of_another_kind_are_left_out(void **state)
{
	struct profile *p = sample_profile_empty();
	uint32_t f = sample_location(p, FRAME_JAVA, 0, 1, sample_function(p, "f", "f", "", 0), 0);
	uint32_t g = sample_location(p, FRAME_JAVA, 0, 2, sample_function(p, "g", "g", "", 0), 0);
	int64_t allocations[MAX_VALUES] = { 2, 0, 4096 };
	struct profile_header *h = profile_header(p);
	size_t len;
	char *text;

	(void)state;
	h->sample_types[h->n_sample_types++] =
		(struct value_type){ profile_string(p, "alloc_space"), profile_string(p, "bytes") };
	sample_add(p, 0, 3, &f, 1);
	profile_add(p, profile_stack(p, &g, 1), 0, (uint64_t)SAMPLE_TIME_NS, allocations);
	text = exported("folded", p, &len);
	assert_string_equal(text, "f_[j] 30303030\n");
	free(text);
	h->default_sample_type = h->sample_types[2].type;
	text = exported("folded", p, &len);
	assert_string_equal(text, "g_[j] 4096\n");
	free(text);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sample_profile_is_written_as_the_golden_file),
		cmocka_unit_test(hostile_names_stay_in_their_frame_and_line),
		cmocka_unit_test(same_stack_of_two_threads_is_one_line),
		cmocka_unit_test(samples_of_another_kind_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
