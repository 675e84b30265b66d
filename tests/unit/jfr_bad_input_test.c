// SPDX-License-Identifier: Apache-2.0
/* What recordings may be like that no JVM finished or that somebody damaged: what is still read of
   each, and what is said of the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <time.h>

#include "core/hurry.h"
#include "jfr/window.h"
#include "tests/unit/jfr_world.h"

#define MAX_SAYS 4
#define N_EVENTS 12 /* of the good chunk, four in each of three parts */
#define TWO_GB ((uint64_t)1 << 31)

/* A chunk of which a case may change what it likes before it is ended. */
struct bad {
	struct jfr_bytes b;
	struct jfr_chunk c;
	size_t events[N_EVENTS], checkpoints[2], metadata;
};

static void put_part(struct bad *bad, size_t first, unsigned int id)
{
	for (size_t i = first; i < first + 4; i++)
		bad->events[i] = i % 4 == 3 ? world_note(&bad->c, (int64_t)i, "note")
					    : world_sample(&bad->c, (int64_t)i, id);
}

static void make_good(struct bad *bad)
{
	bad->c = jfr_chunk_begin(&bad->b, 0);
	bad->metadata = bad->b.len;
	world_metadata(&bad->c);
	put_part(bad, 0, 7);
	bad->checkpoints[0] = bad->b.len;
	world_checkpoint(&bad->c, 7, "p/A");
	put_part(bad, 4, 7);
	bad->checkpoints[1] = bad->b.len;
	world_checkpoint(&bad->c, 8, "p/B");
	put_part(bad, 8, 8);
	bad->c.size = bad->b.len;
}

/* The four bytes of an event's size. */
static void set_size(struct bad *bad, size_t at, uint64_t size)
{
	struct jfr_bytes field = { 0 };

	put_padded(&field, size, 4);
	memcpy(bad->b.data + at, field.data, 4);
	free(field.data);
}

#define CASE(name) static void name(struct bad *bad)

CASE(size_0)
{
	bad->c.size = 0;
}

CASE(size_67)
{
	bad->c.size = 67;
}

CASE(size_68)
{
	bad->c.size = 68;
}

CASE(size_of_minus_1)
{
	bad->c.size = UINT64_MAX;
}

CASE(size_of_int64_max)
{
	bad->c.size = INT64_MAX;
}

CASE(size_less_than_real)
{
	bad->c.size = bad->events[9];
}

CASE(size_beyond_file)
{
	bad->c.size += 100;
}

CASE(constants_at_0)
{
	bad->c.constants_at = 0;
}

CASE(constants_at_minus_1)
{
	bad->c.constants_at = UINT64_MAX;
}

CASE(constants_in_an_event)
{
	bad->c.constants_at = bad->events[5] + 3;
}

CASE(constants_at_metadata)
{
	bad->c.constants_at = bad->c.metadata_at;
}

CASE(metadata_at_0)
{
	bad->c.metadata_at = 0;
}

CASE(metadata_beyond_size)
{
	bad->c.metadata_at = bad->c.size + 5;
}

CASE(metadata_in_an_event)
{
	bad->c.metadata_at = bad->events[5] + 3;
}

CASE(metadata_at_constants)
{
	bad->c.metadata_at = bad->c.constants_at;
}

/* The delta's place is behind size, type, five bytes of time and a duration. */
static void set_delta(struct bad *bad, size_t i, const char *two_bytes)
{
	memcpy(bad->b.data + bad->checkpoints[i] + 11, two_bytes, 1);
}

CASE(delta_0)
{
	uint8_t *delta = bad->b.data + bad->checkpoints[1] + 11;

	assert_int_equal(*delta & 0x80, 0x80); /* nine bytes of a negative number */
	memcpy(delta, "\x80\x80\x80\x80\x80\x80\x80\x80\0", 9);
}

CASE(delta_positive)
{
	set_delta(bad, 0, "\1");
}

CASE(delta_to_itself)
{
	memcpy(bad->b.data + bad->checkpoints[1] + 11, "\xff\xff\xff\xff\xff\xff\xff\xff\xff", 9);
}

CASE(frequency_0)
{
	bad->c.ticks_per_s = 0;
}

CASE(frequency_of_minus_1)
{
	bad->c.ticks_per_s = UINT64_MAX;
}

CASE(frequency_of_1)
{
	bad->c.ticks_per_s = 1;
}

CASE(start_behind_all_events)
{
	bad->c.start_ticks = INT64_MAX;
}

CASE(state_255)
{
	bad->c.state = 255;
}

CASE(state_7)
{
	bad->c.state = 7;
}

CASE(live_with_a_tail)
{
	bad->c.state = 7;
	bad->c.size = bad->events[8];
}

CASE(async_profiler_live)
{
	bad->c.size = (uint64_t)1 << 30;
	bad->c.constants_at = bad->c.metadata_at = 0;
}

CASE(event_size_0)
{
	set_size(bad, bad->events[5], 0);
}

CASE(event_size_1)
{
	set_size(bad, bad->events[5], 1);
}

CASE(event_size_of_its_head)
{
	set_size(bad, bad->events[5], 4);
}

CASE(event_size_beyond_the_chunk)
{
	set_size(bad, bad->events[5], 1 << 27);
}

CASE(event_size_a_little_large)
{
	set_size(bad, bad->events[5], 14);
}

CASE(last_event_size_beyond_the_chunk)
{
	set_size(bad, bad->events[11], 1 << 27);
}

CASE(event_of_ones)
{
	memset(bad->b.data + bad->events[5], 0xff, 13);
}

CASE(event_of_unknown_type)
{
	bad->b.data[bad->events[5] + 4] = 55;
}

CASE(event_of_another_type)
{
	bad->b.data[bad->events[5] + 4] = T_NOTE;
}

CASE(string_of_encoding_6)
{
	bad->b.data[bad->events[7] + 10] = 6;
}

CASE(string_of_2_gb)
{
	memcpy(bad->b.data + bad->events[7] + 11, "\xff\xff\xff\xff", 4);
}

CASE(checkpoint_of_a_type_that_is_not_described)
{
	bad->b.data[bad->checkpoints[1] + 22] = 99;
}

CASE(zeros_in_the_middle)
{
	memset(bad->b.data + bad->events[5], 0, bad->events[7] - bad->events[5]);
}

CASE(zeros_behind)
{
	for (int i = 0; i < 1000; i++)
		put_u8(&bad->b, 0);
}

CASE(garbage_behind)
{
	for (int i = 0; i < 1000; i++)
		put_u8(&bad->b, (unsigned int)(i * 7 + i / 3));
}

CASE(part_of_a_header_behind)
{
	put_bytes(&bad->b, "FLR\0\0\2\0\1\0\0", 10);
}

CASE(magic_in_lower_case)
{
	memcpy(bad->b.data, "flr", 3); /* again when the header is written */
}

/* at: -1 - i is where event i begins, other numbers are offsets; len 0: any. */
#define AT_EVENT(i) (-1 - (i))

static const struct bad_case {
	const char *name;
	void (*make)(struct bad *bad);
	size_t n, named; /* events that are read, and those of them with their names */
	int64_t at;	 /* of the first damage */
	uint64_t len;
	const char *says; /* NULL: nothing */
} cases[] = {
	{ "size 0", size_0, 12, 9, 8, 24, "do not fit" },
	{ "size 67", size_67, 12, 9, 8, 24, "do not fit" },
	{ "size 68", size_68, 12, 9, 8, 24, "do not fit" },
	{ "size -1", size_of_minus_1, 12, 9, 0, 0, "" },
	{ "size INT64_MAX", size_of_int64_max, 12, 9, 0, 0, "the file ends before" },
	{ "size too small", size_less_than_real, 12, 9, 8, 8, "before its events do" },
	{ "size beyond the file", size_beyond_file, 12, 9, 0, 100, "the file ends before" },
	{ "constants at 0", constants_at_0, 12, 9, 8, 24, "do not fit" },
	{ "constants at -1", constants_at_minus_1, 12, 9, 8, 24, "do not fit" },
	{ "constants in an event", constants_in_an_event, 12, 9, 0, 0, NULL },
	{ "constants at metadata", constants_at_metadata, 12, 9, 0, 0, NULL },
	{ "metadata at 0", metadata_at_0, 12, 9, 8, 24, "do not fit" },
	{ "metadata beyond", metadata_beyond_size, 12, 9, 8, 24, "do not fit" },
	{ "metadata in an event", metadata_in_an_event, 12, 9, 0, 0, NULL },
	{ "metadata at constants", metadata_at_constants, 12, 9, 0, 0, NULL },
	{ "delta 0 too early", delta_0, 12, 9, 0, 0, NULL },
	{ "delta forward", delta_positive, 12, 9, 0, 0, NULL },
	{ "delta of one byte", delta_to_itself, 12, 9, 0, 0, NULL },
	{ "no frequency", frequency_0, 12, 9, 0, 0, NULL },
	{ "frequency -1", frequency_of_minus_1, 12, 9, 0, 0, NULL },
	{ "frequency 1", frequency_of_1, 12, 9, 0, 0, NULL },
	{ "start behind all events", start_behind_all_events, 12, 9, 0, 0, NULL },
	{ "state 255", state_255, 12, 9, 0, 0, NULL },
	{ "state 7", state_7, 12, 9, 0, 0, NULL },
	{ "live with a tail", live_with_a_tail, 8, 6, 0, 0, NULL },
	{ "async-profiler, live", async_profiler_live, 12, 9, 0, 0, NULL },
	{ "event size 0", event_size_0, 11, 8, AT_EVENT(5), 13, "no event" },
	{ "event size 1", event_size_1, 11, 8, AT_EVENT(5), 13, "no event" },
	{ "event size 4", event_size_of_its_head, 11, 8, AT_EVENT(5), 13, "no event" },
	{ "event too large", event_size_beyond_the_chunk, 11, 8, AT_EVENT(5), 13, "no event" },
	{ "event of one more", event_size_a_little_large, 11, 8, AT_EVENT(5), 13, "no event" },
	{ "last event too large", last_event_size_beyond_the_chunk, 11, 9, AT_EVENT(11), 0,
	  "cut off" },
	{ "event of ones", event_of_ones, 11, 8, AT_EVENT(5), 13, "no event" },
	{ "unknown type", event_of_unknown_type, 11, 8, 0, 0, NULL },
	{ "another type", event_of_another_type, 11, 8, AT_EVENT(5), 13, "damaged" },
	{ "encoding 6", string_of_encoding_6, 11, 9, AT_EVENT(7), 0, "damaged" },
	{ "string of 2 GB", string_of_2_gb, 11, 9, AT_EVENT(7), 0, "damaged" },
	{ "undescribed constants", checkpoint_of_a_type_that_is_not_described, 12, 6, 0, 0,
	  "damaged" },
	{ "zeros in the middle", zeros_in_the_middle, 10, 7, AT_EVENT(5), 26, "no event" },
	{ "zeros behind", zeros_behind, 12, 9, 0, 1000, "no chunk begins here" },
	{ "garbage behind", garbage_behind, 12, 9, 0, 1000, "no chunk begins here" },
	{ "part of a header", part_of_a_header_behind, 12, 9, 0, 10, "cut off" },
	{ "magic in lower case", magic_in_lower_case, 12, 9, 0, 68, "no chunk begins here" },
};

/* Prints what is not as it should be. */
static bool is_as_said(const struct bad_case *c, const struct bad *bad,
		       const struct world_reading *got)
{
	const struct recording_report *report = &got->report;
	const struct damage none = { .what = "" };
	const struct damage *d = report->n_damages ? report->damages : &none;
	uint64_t at = c->at < 0 ? bad->events[AT_EVENT(c->at)] : (uint64_t)c->at;
	size_t named = 0;
	bool is_right;

	for (size_t i = 0; i < got->n; i++)
		named += !strncmp(got->items[i].method, "p.", 2);
	is_right = !got->err && got->n == c->n && named == c->named && got->counted == c->n &&
		   !c->says == !report->n_damages;
	if (is_right && c->says)
		is_right = strstr(d->what, c->says) && (!at || d->at == at) &&
			   (!c->len || d->len == c->len);
	if (!is_right)
		print_error("%s: %d; %zu events, %zu counted, %zu with names; %zu damages, %zu + "
			    "%zu %s\n",
			    c->name, got->err, got->n, (size_t)got->counted, named,
			    report->n_damages, (size_t)d->at, (size_t)d->len, d->what);
	return is_right;
}

static void what_is_not_damaged_is_read_and_what_is_is_said(void **state)
{
	size_t n_wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct world_reading got = { 0 };
		struct bad bad = { 0 };
		struct jfr_bytes header = { 0 };

		make_good(&bad);
		cases[i].make(&bad);
		jfr_header(&header, &bad.c);
		memcpy(bad.b.data, header.data, header.len);
		if (cases[i].make == magic_in_lower_case)
			magic_in_lower_case(&bad);
		world_read(&got, bad.b.data, bad.b.len);
		n_wrong += !is_as_said(&cases[i], &bad, &got);
		world_reading_deinit(&got);
		free(header.data);
		free(bad.b.data);
	}
	assert_int_equal(n_wrong, 0);
}

static void files_without_a_chunk_say_so(void **state)
{
	static const char magic[] = "FLR";

	(void)state;
	for (size_t len = 0; len <= CHUNK_HEADER_LEN; len++) {
		struct jfr_bytes b = { 0 };
		struct jfr_chunk c = jfr_chunk_begin(&b, 0);
		struct world_reading got = { 0 };

		c.size = 1000;
		c.metadata_at = c.constants_at = 100;
		jfr_chunk_end(&c);
		world_read(&got, b.data, len);
		assert_int_equal(got.err, 0);
		assert_int_equal(got.n, 0);
		assert_int_equal(got.report.n_chunks, 0);
		assert_int_equal(!got.report.n_damages, !len);
		assert_true(len < sizeof(magic) || strstr(got.report.damages[0].what, "chunk"));
		world_reading_deinit(&got);
		free(b.data);
	}
}

static void other_versions_are_said(void **state)
{
	static const struct {
		uint16_t major, minor;
		unsigned int flags;
		size_t n;
		const char *says;
	} versions[] = {
		{ 0, 9, 1, 0, "0.9" },	 { 1, 0, 1, 12, NULL },		{ 2, 0, 3, 12, NULL },
		{ 3, 0, 1, 0, "newer" }, { 2, 1, 0, 0, "fixed width" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
		struct world_reading got = { 0 };
		struct bad bad = { 0 };

		make_good(&bad);
		bad.c.major = versions[i].major;
		bad.c.minor = versions[i].minor;
		bad.c.flags = versions[i].flags;
		jfr_chunk_end(&bad.c);
		world_read(&got, bad.b.data, bad.b.len);
		assert_int_equal(got.n, versions[i].n);
		assert_int_equal(!got.report.n_damages, !versions[i].says);
		if (versions[i].says)
			assert_non_null(strstr(got.report.damages[0].what, versions[i].says));
		world_reading_deinit(&got);
		free(bad.b.data);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_damaged_is_read_and_what_is_is_said),
		cmocka_unit_test(files_without_a_chunk_say_so),
		cmocka_unit_test(other_versions_are_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
