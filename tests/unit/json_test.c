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

/* Event i of the lines, owned by the caller; NULL behind the last. */
static json_t *event(const char *lines, int i)
{
	const char *end;
	json_error_t error;
	json_t *json;

	while (i-- && lines)
		lines = strchr(lines, '\n') ? strchr(lines, '\n') + 1 : NULL;
	if (!lines || !*lines)
		return NULL;
	end = strchr(lines, '\n');
	assert_non_null(end);
	json = json_loadb(lines, (size_t)(end - lines), JSON_REJECT_DUPLICATES, &error);
	if (!json)
		fail_msg("%s at column %d of: %.*s", error.text, error.column, (int)(end - lines),
			 lines);
	return json;
}

static const char *text_of(const json_t *json, const char *key)
{
	const char *s = json_string_value(json_object_get(json, key));

	return s ? s : "(none)";
}

static long long number_of(const json_t *json, const char *key)
{
	assert_true(json_is_integer(json_object_get(json, key)));
	return json_integer_value(json_object_get(json, key));
}

static void sample_profile_is_written_as_the_golden_file(void **state)
{
	struct profile *p = sample_profile();
	size_t len;
	char *text = exported("json", p, &len);

	(void)state;
	assert_golden("sample.json", text);
	free(text);
	profile_free(p);
}

static void event_has_the_flat_keys_of_profile_events(void **state)
{
	static const struct {
		const char *key, *value;
	} cases[] = {
		{ "timestamp", "2023-11-14T22:13:20.003Z" },
		{ "eventType", "ebpf.CPUSample" },
		{ "profileType", "cpu" },
		{ "profileSource", "ebpf" },
		{ "hostname", "builder" },
		{ "serviceName", "server" },
		{ "threadName", "server" },
		{ "containerId", "deadbeefcafe" },
		{ "topFunction", "vfs_write" },
		{ "topMethod", "vfs_write" },
		{ "language", "native" },
		{ "resolutionStatus", "partial" },
		{ "process.executable.name", "server" },
	};
	static const struct {
		const char *key;
		long long value;
	} numbers[] = {
		{ "pid", 42 },	       { "tid", 42 },	      { "threadId", 42 },
		{ "stackDepth", 7 },   { "sampleWeight", 3 }, { "totalSamples", 15 },
		{ "kernelFrames", 2 }, { "userFrames", 5 },   { "durationNs", 30303030 },
	};
	struct profile *p = sample_profile();
	size_t len;
	char *text = exported("json", p, &len);
	json_t *json = event(text, 0);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(text_of(json, cases[i].key), cases[i].value);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		assert_int_equal(number_of(json, numbers[i].key), numbers[i].value);
	assert_float_equal(json_real_value(json_object_get(json, "selfTimeMs")), 30.303, 0.001);
	assert_float_equal(json_real_value(json_object_get(json, "selfTimePercent")), 20, 0.001);
	json_decref(json);
	free(text);
	profile_free(p);
}

static void stand_in_for_a_name_is_not_resolved(void **state)
{
	struct profile *p = sample_profile_empty();
	uint32_t mapping = sample_mapping(p, "/bin/a", 0, 0x2000, 0, "");
	uint32_t function = sample_function(p, "a+0x1200", "a+0x1200", "", 0);
	uint32_t id = sample_location(p, FRAME_NATIVE, mapping, 0x1234, function, 0);
	struct line line = { .function = function };
	size_t len;
	char *text;
	json_t *json;

	(void)state;
	profile_set_lines(p, id, &line, 1, LOCATION_UNNAMED);
	profile_add(p, profile_stack(p, &id, 1), 0, 0, (int64_t[MAX_VALUES]){ 1, 1 });
	text = exported("json", p, &len);
	json = event(text, 0);
	assert_string_equal(text_of(json, "resolutionStatus"), "unresolved");
	assert_string_equal(text_of(json, "topFunction"), "a+0x1200");
	json_decref(json);
	free(text);
	profile_free(p);
}

static void stack_trace_is_json_in_a_string_and_agrees_with_the_frames(void **state)
{
	struct profile *p = sample_profile();
	size_t len;
	char *text = exported("json", p, &len);
	json_t *json;

	(void)state;
	for (int i = 0; (json = event(text, i)); i++) {
		json_t *trace = json_loads(text_of(json, "stackTrace"), 0, NULL);
		json_t *frames = json_object_get(json, "stackFrames"), *frame;
		size_t depth;

		assert_int_equal(json_array_size(trace), number_of(json, "stackDepth"));
		assert_int_equal(json_array_size(frames), json_array_size(trace));
		json_array_foreach(frames, depth, frame)
		{
			assert_int_equal(number_of(frame, "depth"), depth);
			assert_string_equal(text_of(frame, "method"),
					    text_of(json_array_get(trace, depth), "method"));
		}
		json_decref(trace);
		json_decref(json);
	}
	free(text);
	profile_free(p);
}

static void hostile_names_are_valid_json_and_come_back(void **state)
{
	struct profile *p = hostile_profile();
	size_t len;
	char *text = exported("json", p, &len);

	(void)state;
	for (uint32_t i = 0; i < N_HOSTILE_NAMES; i++) {
		const char *name = hostile_names[i];
		json_t *json = event(text, (int)i);

		if (text_is_utf8(name, strlen(name))) {
			assert_string_equal(text_of(json, "threadName"), name);
			assert_string_equal(text_of(json, "topFunction"), name);
		}
		json_decref(json);
	}
	assert_null(event(text, N_HOSTILE_NAMES));
	assert_null(strpbrk(text, "<>\x1b"));
	free(text);
	profile_free(p);
}

static void python_reads_every_line(void **state)
{
	struct profile *p = hostile_profile();
	size_t len;
	char *text = exported("json", p, &len);
	FILE *python;

	(void)state;
	if (system("python3 -c '' 2>/dev/null")) {
		free(text);
		profile_free(p);
		skip();
	}
	python = popen(
		"python3 -c 'import json, sys\nfor l in sys.stdin.buffer: json.loads(l.decode())'",
		"w");
	fwrite(text, 1, len, python);
	assert_int_equal(pclose(python), 0);
	free(text);
	profile_free(p);
}

static void other_labels_are_kept_apart(void **state)
{
	struct profile *p = sample_profile_empty();
	struct label labels[] = {
		{ .key = profile_string(p, "pid"), .num = 1 },
		{ .key = profile_string(p, "job"), .str = profile_string(p, "spin") },
		{ .key = profile_string(p, "bytes"), .num = 64 },
	};
	json_t *json, *others;
	size_t len;
	char *text;

	(void)state;
	sample_add(p, profile_label_set(p, labels, 3), 1, NULL, 0);
	text = exported("json", p, &len);
	json = event(text, 0);
	others = json_object_get(json, "labels");
	assert_int_equal(json_object_size(others), 2);
	assert_string_equal(text_of(others, "job"), "spin");
	assert_int_equal(number_of(others, "bytes"), 64);
	/* Without weft's own counts it is somebody else's file, not a kernel sample. */
	assert_string_equal(text_of(json, "profileSource"), "pprof");
	json_decref(json);
	free(text);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sample_profile_is_written_as_the_golden_file),
		cmocka_unit_test(event_has_the_flat_keys_of_profile_events),
		cmocka_unit_test(stand_in_for_a_name_is_not_resolved),
		cmocka_unit_test(stack_trace_is_json_in_a_string_and_agrees_with_the_frames),
		cmocka_unit_test(hostile_names_are_valid_json_and_come_back),
		cmocka_unit_test(python_reads_every_line),
		cmocka_unit_test(other_labels_are_kept_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
