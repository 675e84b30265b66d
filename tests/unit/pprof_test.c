// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/text.h"
#include "exporter/exporter.h"
#include "exporter/gzip.h"
#include "exporter/pprof.h"
#include "exporter/pprof_comment.h"
#include "exporter/pprof_decode.h"
#include "exporter/protobuf.h"
#include "tests/unit/golden.h"
#include "tests/unit/mutation.h"
#include "tests/unit/profile_dump.h"
#include "tests/unit/sample_profile.h"

/* The message inside the gzip wrapper. */
static uint8_t *message_of(const struct profile *p, size_t *len)
{
	size_t packed_len;
	char *packed = exported("pprof", p, &packed_len);
	void *message = NULL;

	assert_int_equal(gzip_unpack(packed, packed_len, 1 << 20, &message, len), 0);
	free(packed);
	return message;
}

static struct profile *decoded(const void *bytes, size_t len, int want)
{
	struct profile *p = profile_new();
	struct pprof_report report;
	int err = pprof_decode(bytes, len, p, &report);

	if (err != want)
		fail_msg("decoding gave %d (%s), not %d", err, report.what, want);
	return p;
}

static void assert_dumps_as(const struct profile *p, const char *want)
{
	char *dump = profile_dump(p);

	assert_string_equal(dump, want);
	free(dump);
}

static void written_profile_reads_back_the_same(void **state)
{
	struct profile *p = sample_profile(), *copy;
	char *want = profile_dump(p), *bytes;
	size_t len;

	(void)state;
	bytes = exported("pprof", p, &len);
	copy = decoded(bytes, len, 0);
	assert_dumps_as(copy, want);
	assert_golden("sample.pprof.txt", want);
	profile_free(copy);
	profile_free(p);
	free(bytes);
	free(want);
}

static void hostile_names_are_valid_utf8_in_the_file(void **state)
{
	struct profile *p = hostile_profile(), *copy;
	struct protobuf_field f;
	struct reader r;
	size_t len;
	uint8_t *message = message_of(p, &len);

	(void)state;
	reader_init(&r, message, len);
	while (protobuf_next(&r, &f))
		if (f.number == PPROF_STRING_TABLE)
			assert_true(text_is_utf8((const char *)f.body.pos, reader_left(&f.body)));
	copy = decoded(message, len, 0);
	assert_int_equal(profile_n_samples(copy), N_HOSTILE_NAMES);
	assert_int_equal(profile_n_comments(copy), N_HOSTILE_NAMES);
	for (uint32_t i = 0; i < N_HOSTILE_NAMES; i++)
		if (text_is_utf8(hostile_names[i], strlen(hostile_names[i])))
			assert_string_equal(profile_get_comment(copy, i), hostile_names[i]);
	assert_string_equal(profile_get_string(copy, profile_get_header(copy)->hostname),
			    "bad\xef\xbf\xbd\xef\xbf\xbd(utf8\xef\xbf\xbd\xef\xbf\xbd");
	profile_free(copy);
	profile_free(p);
	free(message);
}

/* The ids of one table in order; Parca wants 1, 2, 3, ... */
static void ids_are_sequential_and_the_first_string_is_empty(void **state)
{
	struct profile *p = sample_profile();
	uint64_t last[PPROF_FUNCTION + 1] = { 0 };
	struct protobuf_field f, id;
	size_t len, n_strings = 0;
	uint8_t *message = message_of(p, &len);
	struct reader r;

	(void)state;
	reader_init(&r, message, len);
	while (protobuf_next(&r, &f)) {
		if (f.number == PPROF_STRING_TABLE && !n_strings++)
			assert_int_equal(reader_left(&f.body), 0);
		if (f.number < PPROF_MAPPING || f.number > PPROF_FUNCTION)
			continue;
		assert_true(protobuf_next(&f.body, &id));
		assert_int_equal(id.number, 1);
		assert_int_equal(id.value, ++last[f.number]);
	}
	assert_int_equal(last[PPROF_MAPPING], 4); /* with the empty one */
	assert_int_equal(last[PPROF_LOCATION], profile_n_locations(p));
	assert_int_equal(last[PPROF_FUNCTION], profile_n_functions(p));
	free(message);
	profile_free(p);
}

static void main_program_is_first_and_flags_say_what_every_location_has(void **state)
{
	static const struct {
		const char *path;
		bool has_functions, has_lines, has_inlines;
	} want[] = {
		{ "/src/app/server", true, true, true },
		{ "/usr/lib/libc.so.6", false, false, false },
		{ "[kernel.kallsyms]", true, false, false },
	};
	struct profile *p = sample_profile(), *copy;
	size_t len;
	uint8_t *message = message_of(p, &len);

	(void)state;
	copy = decoded(message, len, 0);
	for (uint32_t i = 0; i < 3; i++) {
		const struct profile_mapping *m = profile_get_mapping(copy, i + 1);

		assert_string_equal(profile_get_string(copy, m->filename), want[i].path);
		assert_int_equal(m->has_functions, want[i].has_functions);
		assert_int_equal(m->has_line_numbers, want[i].has_lines);
		assert_int_equal(m->has_inline_frames, want[i].has_inlines);
	}
	profile_free(copy);
	profile_free(p);
	free(message);
}

static void code_named_by_its_place_still_wants_a_name(void **state)
{
	struct profile *p = sample_profile_empty(), *copy;
	struct location l = { .address = 0x1288, .kind = FRAME_NATIVE, .flags = LOCATION_UNNAMED };
	struct line line = { .function = sample_function(p, "a.so+0x1200", "a.so+0x1200", "", 0) };
	uint8_t *message;
	uint32_t id;
	size_t len;

	(void)state;
	l.mapping = sample_mapping(p, "/usr/lib/a.so", 0x1000, 0x2000, 0x1000, "c0ffee");
	id = profile_location(p, &l, &line, 1);
	profile_add(p, profile_stack(p, &id, 1), 0, 0, (int64_t[MAX_VALUES]){ 1 });
	message = message_of(p, &len);
	copy = decoded(message, len, 0);
	assert_int_equal(profile_get_mapping(copy, 1)->has_functions, false);
	assert_int_equal(profile_get_location(copy, 1).flags, LOCATION_UNNAMED);
	assert_int_equal(profile_get_location(copy, 1).address, 0x1288);
	assert_string_equal(profile_get_string(copy, profile_get_function(copy, 1)->name),
			    "a.so+0x1200");
	profile_free(copy);
	profile_free(p);
	free(message);
}

/* A message as a writer of another mind makes it: nothing packed, large ids, strings last. */
static void foreign_message(struct protobuf *top)
{
	static const char *const strings[] = { "",	"samples", "count", "run", "/src/main.go",
					       "bytes", "weird" };
	struct protobuf part, line;

	protobuf_init(top);
	protobuf_init(&part);
	protobuf_init(&line);
	protobuf_put_uint(&part, PPROF_SAMPLE_LOCATION_ID, UINT64_MAX);
	protobuf_put_uint(&part, PPROF_SAMPLE_LOCATION_ID, 7);
	protobuf_put_int(&part, PPROF_SAMPLE_VALUE, -5);
	protobuf_put_uint(&line, PPROF_LABEL_KEY, 5);
	protobuf_put_int(&line, PPROF_LABEL_NUM, -1);
	protobuf_put_uint(&line, PPROF_LABEL_NUM_UNIT, 5);
	protobuf_put_message(&part, PPROF_SAMPLE_LABEL, &line);
	protobuf_put_message(top, PPROF_SAMPLE, &part);
	protobuf_clear(&part);
	protobuf_put_uint(&part, PPROF_LOCATION_ID, UINT64_MAX);
	protobuf_clear(&line);
	protobuf_put_uint(&line, PPROF_LINE_FUNCTION, UINT64_C(1) << 40);
	protobuf_put_uint(&line, PPROF_LINE_LINE, 12);
	protobuf_put_message(&part, PPROF_LOCATION_LINE, &line);
	protobuf_put_message(top, PPROF_LOCATION, &part);
	protobuf_clear(&part);
	protobuf_put_uint(&part, PPROF_LOCATION_ID, 7);
	protobuf_put_uint(&part, PPROF_LOCATION_ADDRESS, 0x1234);
	protobuf_put_bytes(&part, 77, "later", 5);
	protobuf_put_message(top, PPROF_LOCATION, &part);
	protobuf_clear(&part);
	protobuf_put_uint(&part, PPROF_FUNCTION_NAME, 3);
	protobuf_put_uint(&part, PPROF_FUNCTION_ID, UINT64_C(1) << 40);
	protobuf_put_uint(&part, PPROF_FUNCTION_FILENAME, 4);
	protobuf_put_message(top, PPROF_FUNCTION, &part);
	protobuf_clear(&part);
	protobuf_put_uint(&part, PPROF_VALUE_TYPE_TYPE, 1);
	protobuf_put_uint(&part, PPROF_VALUE_TYPE_UNIT, 2);
	protobuf_put_message(top, PPROF_SAMPLE_TYPE, &part);
	for (size_t i = 0; i < sizeof(strings) / sizeof(*strings); i++)
		protobuf_put_bytes(top, PPROF_STRING_TABLE, strings[i], strlen(strings[i]));
	protobuf_put_uint(top, PPROF_COMMENT, 6);
	protobuf_deinit(&part);
	protobuf_deinit(&line);
}

static void other_writers_are_understood(void **state)
{
	struct protobuf top;
	struct profile *p;

	(void)state;
	foreign_message(&top);
	p = decoded(top.bytes, top.len, 0);
	assert_dumps_as(p, "type samples/count\n"
			   "default \n"
			   "period 0 /\n"
			   "time 0 duration 0\n"
			   "host \n"
			   "comment weird\n"
			   "sample -5 at 0\n"
			   "  bytes=-1bytes\n"
			   "  0x0 go\n"
			   "    run () /src/main.go:12:0 from 0\n"
			   "  0x1234 unknown unsymbolized\n");
	profile_free(p);
	protobuf_deinit(&top);
}

/* The files were written by Go 1.26's runtime/pprof: a program that spins, labelled job=spin. */
static void profiles_of_the_go_runtime_are_read(void **state)
{
	static const char *const paths[] = { "tests/golden/go-cpu.pb.gz",
					     "tests/golden/go-heap.pb.gz" };
	static const uint32_t n_types[] = { 2, 4 };
	static const char *const has[] = { "    main.spin (main.spin) ",
					   "type inuse_space/bytes\n" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		char bytes[4096], *dump;
		FILE *f = fopen(paths[i], "rb");
		struct profile *p;
		size_t len;

		assert_non_null(f);
		len = fread(bytes, 1, sizeof(bytes), f);
		fclose(f);
		p = decoded(bytes, len, 0);
		dump = profile_dump(p);
		assert_int_equal(profile_get_header(p)->n_sample_types, n_types[i]);
		assert_non_null(strstr(dump, has[i]));
		assert_true(i == 1 || strstr(dump, "  job=spin\n"));
		free(dump);
		profile_free(p);
	}
}

/* One message that breaks a rule; the rest of it is fine. */
static void broken_rules_are_damage(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} cases[] = {
		{ "\x12\x02\x08\x01", 4 },		   /* an unknown location */
		{ "\x12\x02\x10\x01", 4 },		   /* a value of no type */
		{ "\x22\x04\x08\x01\x10\x09", 6 },	   /* an unknown mapping */
		{ "\x22\x06\x08\x01\x22\x02\x08\x05", 8 }, /* an unknown function */
		{ "\x22\x02\x08\x01\x22\x02\x08\x01", 8 }, /* an id twice */
		{ "\x22\x02\x18\x01", 4 },		   /* no id */
		{ "\x2a\x04\x08\x01\x10\x07", 6 },	   /* a string beyond the table */
		{ "\x32\x00\x2a\x04\x08\x01\x10\x01", 8 }, /* just beyond it */
		{ "\x70\x07", 2 },
		{ "\x03", 1 }, /* a group, unknown to proto3 */
		{ "\x00\x00", 2 },
		{ "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10 },
		{ "\x1f\x8b\x08", 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		profile_free(decoded(cases[i].bytes, cases[i].len, -EBADMSG));
	profile_free(decoded("", 0, 0));
}

/* A location of 1,000 inlined calls in 300,000 samples: small to store, large to show. */
static void samples_that_show_too_many_frames_are_refused(void **state)
{
	struct protobuf top, part;

	(void)state;
	protobuf_init(&top);
	protobuf_init(&part);
	protobuf_put_uint(&part, PPROF_LOCATION_ID, 1);
	for (int i = 0; i < 1000; i++)
		protobuf_put_bytes(&part, PPROF_LOCATION_LINE, "", 0);
	protobuf_put_message(&top, PPROF_LOCATION, &part);
	protobuf_clear(&part);
	protobuf_put_uint(&part, PPROF_SAMPLE_LOCATION_ID, 1);
	for (int i = 0; i < 300000; i++)
		protobuf_put_message(&top, PPROF_SAMPLE, &part);
	profile_free(decoded(top.bytes, top.len, -E2BIG));
	protobuf_deinit(&part);
	protobuf_deinit(&top);
}

static void bomb_is_refused(void **state)
{
	static char zeros[1 << 20];
	char *bytes = NULL;
	size_t len;
	FILE *out = open_memstream(&bytes, &len);
	struct gzip *z = gzip_new(out);

	(void)state;
	for (int i = 0; i < 300; i++)
		assert_int_equal(gzip_write(z, zeros, sizeof(zeros)), 0);
	assert_int_equal(gzip_finish(z), 0);
	gzip_free(z);
	fclose(out);
	profile_free(decoded(bytes, len, -E2BIG));
	free(bytes);
}

static void decode_damaged(const uint8_t *bytes, size_t len)
{
	struct profile *p = profile_new();
	struct pprof_report report;

	pprof_sniff(bytes, len);
	pprof_decode(bytes, len, p, &report);
	free(profile_dump(p));
	profile_free(p);
}

static void survives_mutation(void **state)
{
	struct profile *p = sample_profile();
	struct protobuf top;
	size_t len;
	uint8_t *bytes = message_of(p, &len);

	(void)state;
	mutate(bytes, len, decode_damaged);
	free(bytes);
	bytes = (uint8_t *)exported("pprof", p, &len);
	mutate(bytes, len, decode_damaged);
	free(bytes);
	foreign_message(&top);
	mutate(top.bytes, top.len, decode_damaged);
	protobuf_deinit(&top);
	profile_free(p);
}

/* What go tool pprof -raw says of a profile, or NULL when it refused it. */
static char *raw_by_go(const struct profile *p)
{
	char path[] = "/tmp/weft-pprof-XXXXXX", command[128];
	char *text = calloc(1, 65536);
	FILE *pipe;

	close(mkstemp(path));
	assert_int_equal(exporter_write_file(exporter_by_name("pprof"), p, path, false), 0);
	snprintf(command, sizeof(command), "go tool pprof -symbolize=none -raw %s 2>&1", path);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	fread(text, 1, 65535, pipe);
	if (pclose(pipe)) {
		print_error("%s", text);
		free(text);
		text = NULL;
	}
	unlink(path);
	return text;
}

static void counts_of_zero_are_left_out(void **state)
{
	struct profile *p = profile_new(), *back;
	char *text, *bytes = NULL;
	uint64_t n;
	size_t len;
	FILE *out = open_memstream(&bytes, &len);

	(void)state;
	profile_count(p, "ticks.sampled", 0);
	profile_count(p, "ticks.idle", 0);
	profile_count(p, "end.root", 7);
	profile_count(p, "end.stuck", 0);
	text = pprof_comment_counts(p);
	assert_string_equal(text, "weft.count: ticks.sampled 0, end.root 7");
	assert_int_equal(exporter_by_name("pprof")->write(p, out), 0);
	fclose(out);
	back = decoded(bytes, len, 0);
	assert_int_equal(profile_n_counts(back), 2);
	assert_string_equal(profile_get_count(back, 1, &n), "end.root");
	assert_int_equal(n, 7);
	profile_free(p);
	profile_free(back);
	free(text);
	free(bytes);
}

static void go_tool_pprof_accepts_it(void **state)
{
	static const char *const has[] = {
		"samples/count cpu/nanoseconds[dflt]",
		"5   50505050: 4 5",
		"pid:[42] tid:[44]",
		"8: 0x0 M=4 [broken: no unwind data]",
		"clamp(int) /src/app/main.cc:12:0 s=10(_ZL5clampi)",
		"1: 0x1000/0x9000/0x1000 /src/app/server 0123abcd [FN][FL][LN][IN]",
		"Comment: weft.count: ticks.sampled 15, ticks.lost_ring 3",
	};
	struct profile *p = sample_profile();
	char *text;

	(void)state;
	if (system("go version >/dev/null 2>&1")) {
		profile_free(p);
		skip();
	}
	text = raw_by_go(p);
	assert_non_null(text);
	for (size_t i = 0; i < sizeof(has) / sizeof(*has); i++)
		if (!strstr(text, has[i]))
			fail_msg("no \"%s\" in:\n%s", has[i], text);
	free(text);
	profile_free(p);
	p = hostile_profile();
	text = raw_by_go(p);
	assert_non_null(text);
	free(text);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_profile_reads_back_the_same),
		cmocka_unit_test(hostile_names_are_valid_utf8_in_the_file),
		cmocka_unit_test(ids_are_sequential_and_the_first_string_is_empty),
		cmocka_unit_test(main_program_is_first_and_flags_say_what_every_location_has),
		cmocka_unit_test(code_named_by_its_place_still_wants_a_name),
		cmocka_unit_test(other_writers_are_understood),
		cmocka_unit_test(profiles_of_the_go_runtime_are_read),
		cmocka_unit_test(broken_rules_are_damage),
		cmocka_unit_test(samples_that_show_too_many_frames_are_refused),
		cmocka_unit_test(bomb_is_refused),
		cmocka_unit_test(survives_mutation),
		cmocka_unit_test(counts_of_zero_are_left_out),
		cmocka_unit_test(go_tool_pprof_accepts_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
