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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sample_profile_is_written_as_the_golden_file),
		cmocka_unit_test(hostile_names_stay_in_their_frame_and_line),
		cmocka_unit_test(same_stack_of_two_threads_is_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
