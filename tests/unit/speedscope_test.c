// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "core/text.h"
#include "tests/unit/golden.h"
#include "tests/unit/sample_profile.h"

static json_t *speedscope_of(const struct profile *p)
{
	size_t len;
	char *text = exported("speedscope", p, &len);
	json_error_t error;
	json_t *json = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);

	if (!json)
		fail_msg("%s at line %d", error.text, error.line);
	free(text);
	return json;
}

static void sample_profile_is_written_as_the_golden_file(void **state)
{
	struct profile *p = sample_profile();
	size_t len;
	char *text = exported("speedscope", p, &len);

	(void)state;
	assert_golden("sample.speedscope.json", text);
	free(text);
	profile_free(p);
}

/* What speedscope's schema and its importer ask of a sampled profile. */
static void assert_sampled(json_t *profile, size_t n_frames)
{
	json_t *samples = json_object_get(profile, "samples"),
	       *weights = json_object_get(profile, "weights");
	json_t *stack, *frame, *weight;
	json_int_t total = 0;
	size_t i, j;

	assert_string_equal(json_string_value(json_object_get(profile, "type")), "sampled");
	assert_true(json_is_string(json_object_get(profile, "name")));
	assert_string_equal(json_string_value(json_object_get(profile, "unit")), "nanoseconds");
	assert_int_equal(json_array_size(samples), json_array_size(weights));
	json_array_foreach(samples, i, stack)
	{
		json_array_foreach(stack, j, frame)
			assert_in_range(json_integer_value(frame), 0, n_frames - 1);
	}
	json_array_foreach(weights, i, weight) total += json_integer_value(weight);
	assert_int_equal(json_integer_value(json_object_get(profile, "startValue")), 0);
	assert_int_equal(json_integer_value(json_object_get(profile, "endValue")), total);
}

static void each_thread_is_a_sampled_profile_over_shared_frames(void **state)
{
	struct profile *p = sample_profile();
	json_t *json = speedscope_of(p), *profiles = json_object_get(json, "profiles"), *profile;
	json_t *frames = json_object_get(json_object_get(json, "shared"), "frames");
	size_t i;

	(void)state;
	assert_string_equal(json_string_value(json_object_get(json, "$schema")),
			    "https://www.speedscope.app/file-format-schema.json");
	assert_int_equal(json_array_size(profiles), 3);
	json_array_foreach(profiles, i, profile) assert_sampled(profile, json_array_size(frames));
	profile = json_array_get(profiles, 0);
	assert_string_equal(json_string_value(json_object_get(profile, "name")),
			    "server 42, server 42");
	json_decref(json);
	profile_free(p);
}

/* Recordings of JVMs have threads and no processes. */
static void names_say_what_is_known_and_no_zeros(void **state)
{
	static const struct {
		const char *process, *thread;
		int64_t pid, tid;
		const char *name;
	} cases[] = {
		{ "server", "worker/0", 42, 44, "server 42, worker/0 44" },
		{ "", "main", 0, 7, "main 7" },
		{ "", "virtual-17", 0, 0, "virtual-17" },
		{ "server", "", 42, 0, "server 42" },
		{ "", "", 42, 44, "42, 44" },
		{ "", "", 0, 0, "all samples" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile *p = profile_new();
		const int64_t values[] = { 1, 1 };
		struct label labels[4];
		uint32_t at;
		json_t *json;

		profile_begin(p, "cpu", "nanoseconds");
		labels[0] = (struct label){ .key = profile_string(p, "process"),
					    .str = profile_string(p, cases[i].process) };
		labels[1] = (struct label){ .key = profile_string(p, "thread"),
					    .str = profile_string(p, cases[i].thread) };
		labels[2] = (struct label){ .key = profile_string(p, "pid"), .num = cases[i].pid };
		labels[3] = (struct label){ .key = profile_string(p, "tid"), .num = cases[i].tid };
		at = profile_mark(p, "f");
		profile_add(p, profile_stack(p, &at, 1), profile_label_set(p, labels, 4), 0,
			    values);
		json = speedscope_of(p);
		assert_string_equal(
			json_string_value(json_object_get(
				json_array_get(json_object_get(json, "profiles"), 0), "name")),
			cases[i].name);
		json_decref(json);
		profile_free(p);
	}
}

static void hostile_names_are_valid_json_and_come_back(void **state)
{
	struct profile *p = hostile_profile();
	json_t *json = speedscope_of(p);
	json_t *frames = json_object_get(json_object_get(json, "shared"), "frames");

	(void)state;
	assert_int_equal(json_array_size(frames), 2 * N_HOSTILE_NAMES);
	for (size_t i = 0; i < N_HOSTILE_NAMES; i++) {
		const char *name = json_string_value(
			json_object_get(json_array_get(frames, 2 * i + 1), "name"));

		if (text_is_utf8(hostile_names[i], strlen(hostile_names[i])))
			assert_string_equal(name, hostile_names[i]);
	}
	json_decref(json);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sample_profile_is_written_as_the_golden_file),
		cmocka_unit_test(each_thread_is_a_sampled_profile_over_shared_frames),
		cmocka_unit_test(names_say_what_is_known_and_no_zeros),
		cmocka_unit_test(hostile_names_are_valid_json_and_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
