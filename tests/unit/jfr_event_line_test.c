// SPDX-License-Identifier: Apache-2.0
#include "jfr/event_line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <jansson.h>

#include "tests/unit/golden.h"
#include "tests/unit/jfr_meaning.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

enum shape { SAMPLE, PARK, THROWN, PROCESS, NOTE, LOAD };

static const struct event_shape shapes[] = {
	[SAMPLE] = { 201,
		     "jdk.ExecutionSample",
		     { START_FIELD, SAMPLED_FIELD, STACK_FIELD, STATE_FIELD } },
	[PARK] = { 202,
		   "jdk.ThreadPark",
		   { START_FIELD,
		     DURATION_FIELD,
		     THREAD_FIELD,
		     STACK_FIELD,
		     CLASS_FIELD("parkedClass"),
		     { "timeout", T_LONG, 0, T_TIMESPAN, "NANOSECONDS" },
		     { "until", T_LONG, 0, T_TIMESTAMP, "MILLISECONDS_SINCE_EPOCH" },
		     NUMBER_FIELD("address"),
		     TEXT_FIELD("traceId"),
		     NUMBER_FIELD("spanId") } },
	[THROWN] = { 203,
		     "jdk.JavaExceptionThrow",
		     { START_FIELD, THREAD_FIELD, STACK_FIELD, TEXT_FIELD("message"),
		       CLASS_FIELD("thrownClass") } },
	[PROCESS] = { 204,
		      "jdk.SystemProcess",
		      { START_FIELD, TEXT_FIELD("pid"), TEXT_FIELD("commandLine") } },
	[NOTE] = { 205,
		   "my.\"Note\"",
		   { START_FIELD, TEXT_FIELD("a\nname"), TEXT_FIELD("empty") } },
	[LOAD] = { 206,
		   "jdk.CPULoad",
		   { START_FIELD,
		     { "jvmUser", T_FLOAT, 0, 0, NULL },
		     { "isUp", T_BOOLEAN, 0, 0, NULL } } },
};

/* The lines of a recording, allocated. */
static char *lines_of(struct meaning *m, struct event_lines *l)
{
	char *text = NULL;
	size_t len;

	l->out = open_memstream(&text, &len);
	meaning_tell(m, event_lines_sink(l));
	assert_int_equal(m->err, 0);
	fclose(l->out);
	event_lines_deinit(l);
	meaning_deinit(m);
	return text;
}

/* Its only line, and nothing behind it. */
static json_t *only(char *text)
{
	json_error_t error;
	json_t *line = json_loads(text, 0, &error);

	if (!line)
		print_error("%s: %s\n", error.text, text);
	assert_non_null(line);
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	free(text);
	return line;
}

static const char *string(const json_t *line, const char *key)
{
	return json_string_value(json_object_get(line, key));
}

static int64_t integer(const json_t *line, const char *key)
{
	return json_integer_value(json_object_get(line, key));
}

static void lines_are_written_as_the_golden_file(void **state)
{
	static const struct event_line_key whose[] = {
		{ "serviceName", "orders" },
		{ "serviceVersion", "" },
		{ "hostname", "db1" },
	};
	struct event_lines l = { 0 };
	struct meaning m = { 0 };
	char *text;

	(void)state;
	event_lines_set_whose(&l, whose, N(whose), 4711);
	m.in.groups = UINT32_MAX;
	meaning_begin(&m, shapes, N(shapes));
	EVENT(&m, &shapes[SAMPLE], AT(1000), { .n = 1 }, { .n = 1 }, { .n = 5 });
	EVENT(&m, &shapes[PARK], AT(2000), { .n = TICKS(300) }, { .n = 2 }, { .n = 2 }, { .n = 1 },
	      { .n = INT64_MAX }, { .n = 1700000000123 }, { .n = 4096 },
	      { .text = "0af7651916cd43dd8448eb211c80319c" }, { .n = 0x42 });
	EVENT(&m, &shapes[THROWN], AT(3000), { .n = 1 }, { .n = 1 }, { .text = "token=abc" },
	      { .n = 2 });
	EVENT(&m, &shapes[PROCESS], AT(4000), { .text = "17" }, { .text = "curl -u me:secret" });
	EVENT(&m, &shapes[LOAD], AT(5000), { .real = 0.25 }, { .n = 1 });
	EVENT(&m, &shapes[SAMPLE], AT(6000), { .n = 0 }, { .n = 77 }, { .n = 0 });
	text = lines_of(&m, &l);
	assert_golden("jfr.json", text);
	free(text);
}

static void what_may_be_secret_is_written_only_when_asked_for(void **state)
{
	(void)state;
	for (int asked = 0; asked < 2; asked++) {
		struct event_lines l = { .shows_secrets = asked };
		struct meaning m = { 0 };
		json_t *line, *fields;

		m.in.groups = 1 << GROUP_EXCEPTION;
		meaning_begin(&m, shapes, N(shapes));
		EVENT(&m, &shapes[THROWN], AT(0), { .n = 1 }, { .n = 1 }, { .text = "token=abc" },
		      { .n = 2 });
		line = only(lines_of(&m, &l));
		fields = json_object_get(line, "fields");
		assert_string_equal(string(fields, "message"), asked ? "token=abc" : "[redacted]");
		json_decref(line);
	}
}

static void a_secret_that_is_none_stays_empty(void **state)
{
	struct event_lines l = { 0 };
	struct meaning m = { 0 };
	json_t *line;

	(void)state;
	m.in.groups = 1 << GROUP_EXCEPTION;
	meaning_begin(&m, shapes, N(shapes));
	EVENT(&m, &shapes[THROWN], AT(0), { .n = 1 }, { .n = 1 }, { 0 }, { .n = 2 });
	line = only(lines_of(&m, &l));
	assert_string_equal(string(json_object_get(line, "fields"), "message"), "");
	json_decref(line);
}

static void hostile_names_stay_within_their_strings(void **state)
{
	static const char *const names[] = {
		"\x1b[31mred",	"a\"b\\c",	"two\nlines\r\t", "\xff\xfe\x80", "cut \xe2\x82",
		"</script><b>", "\xe2\x80\xa8", "\x7f\x01\x02",	  "\",\"x\":\"y", "é€😀",
	};

	(void)state;
	for (size_t i = 0; i < N(names); i++) {
		struct event_lines l = { 0 };
		struct meaning m = { 0 };
		json_t *line, *trace, *frame;

		meaning_begin(&m, shapes, N(shapes));
		world_checkpoint(&m.c, 3, names[i]);
		m.in.groups = 1 << GROUP_CPU;
		EVENT(&m, &shapes[SAMPLE], AT(0), { .n = 3 }, { .n = 3 }, { .n = 5 });
		line = only(lines_of(&m, &l));
		assert_null(strchr(string(line, "topClass"), '\xff'));
		/* What stands in a string is JSON, too. */
		trace = json_loads(string(line, "stackTrace"), 0, NULL);
		assert_int_equal(json_array_size(trace), 1);
		frame = json_array_get(json_object_get(line, "stackFrames"), 0);
		assert_string_equal(string(json_array_get(trace, 0), "class"),
				    string(line, "topClass"));
		assert_string_equal(string(frame, "class"), string(line, "topClass"));
		assert_int_equal(integer(json_array_get(trace, 0), "line"), 42);
		json_decref(trace);
		json_decref(line);
	}
}

static void hostile_fields_stay_within_theirs(void **state)
{
	struct event_lines l = { 0 };
	struct meaning m = { 0 };
	json_t *line, *fields;

	(void)state;
	meaning_begin(&m, shapes, N(shapes));
	m.in.groups = 1u << 31; /* of nothing: single types are named */
	m.in.events = "my.*";
	EVENT(&m, &shapes[NOTE], AT(0), { .text = "\",\n\x1b\xff" }, { 0 });
	line = only(lines_of(&m, &l));
	assert_string_equal(string(line, "eventType"), "my.\"Note\"");
	fields = json_object_get(line, "fields");
	assert_string_equal(string(fields, "a\nname"), "\",\n\x1b\xef\xbf\xbd");
	assert_string_equal(string(fields, "empty"), "");
	json_decref(line);
}

static void only_addresses_of_locks_are_called_so(void **state)
{
	static const struct event_shape read_shape = {
		201,
		"jdk.SocketRead",
		{ START_FIELD, DURATION_FIELD, TEXT_FIELD("address") },
	};
	struct event_lines l = { 0 };
	struct meaning m = { 0 };
	json_t *line;

	(void)state;
	m.in.groups = 1 << GROUP_IO;
	meaning_begin(&m, &read_shape, 1);
	EVENT(&m, &read_shape, AT(0), { .n = 1 }, { .text = "10.0.0.1" });
	line = only(lines_of(&m, &l));
	assert_null(string(line, "lockAddress"));
	assert_string_equal(string(json_object_get(line, "fields"), "address"), "10.0.0.1");
	json_decref(line);
}

static void times_are_utc_with_nanoseconds(void **state)
{
	static const struct {
		int64_t start_ns;
		const char *text; /* NULL: none */
	} cases[] = {
		{ 1700000000000000000, "2023-11-14T22:13:20.000000010Z" },
		{ 0, "1970-01-01T00:00:00.000000010Z" },
		{ -10, "1970-01-01T00:00:00.000000000Z" },
		{ -11, "1969-12-31T23:59:59.999999999Z" },
		{ -1000000000, "1969-12-31T23:59:59.000000010Z" },
		{ INT64_MAX - 10, "2262-04-11T23:47:16.854775807Z" },
		{ INT64_MIN, "1677-09-21T00:12:43.145224202Z" },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct event_lines l = { 0 };
		struct meaning m = { 0 };
		json_t *line;

		m.in.groups = 1 << GROUP_CPU;
		meaning_begin(&m, shapes, N(shapes));
		m.c.start_ns = cases[i].start_ns;
		EVENT(&m, &shapes[SAMPLE], AT(10), { .n = 1 }, { .n = 1 }, { .n = 5 });
		line = only(lines_of(&m, &l));
		assert_string_equal(string(line, "timestamp"), cases[i].text);
		json_decref(line);
	}
}

static void records_have_ids_that_stay_and_differ(void **state)
{
	char *first[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct event_lines l = { 0 };
		struct meaning m = { 0 };

		m.in.groups = 1 << GROUP_CPU;
		meaning_begin(&m, shapes, N(shapes));
		EVENT(&m, &shapes[SAMPLE], AT(10), { .n = 1 }, { .n = 1 }, { .n = 5 });
		EVENT(&m, &shapes[SAMPLE], AT(10), { .n = 1 }, { .n = 1 }, { .n = 5 });
		first[i] = lines_of(&m, &l);
	}
	assert_string_equal(first[0], first[1]);
	*strchr(first[0], '\n') = '\0';
	assert_string_not_equal(strstr(first[0], "recordId"),
				strstr(strchr(first[1], '\n'), "recordId"));
	free(first[0]);
	free(first[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_written_as_the_golden_file),
		cmocka_unit_test(what_may_be_secret_is_written_only_when_asked_for),
		cmocka_unit_test(a_secret_that_is_none_stays_empty),
		cmocka_unit_test(hostile_names_stay_within_their_strings),
		cmocka_unit_test(hostile_fields_stay_within_theirs),
		cmocka_unit_test(only_addresses_of_locks_are_called_so),
		cmocka_unit_test(times_are_utc_with_nanoseconds),
		cmocka_unit_test(records_have_ids_that_stay_and_differ),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("jfr/event_line", tests, NULL, NULL);
}
