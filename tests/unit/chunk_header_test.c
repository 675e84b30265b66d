// SPDX-License-Identifier: Apache-2.0
/* The header of a chunk, in all the states that writers leave it in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "jfr/chunk_header.h"
#include "tests/unit/jfr_writer.h"
#include "tests/unit/mutation.h"

static struct jfr_chunk good = {
	.major = 2,
	.minor = 1,
	.size = 1000,
	.constants_at = 900,
	.metadata_at = 100,
	.start_ns = WRITER_START_NS,
	.duration_ns = 17,
	.start_ticks = 5,
	.ticks_per_s = 2500000000,
	.flags = 1,
};

static int parse(const struct jfr_chunk *c, struct chunk_header *h, const char **what)
{
	struct jfr_bytes b = { 0 };
	int err;

	jfr_header(&b, c);
	assert_int_equal(b.len, CHUNK_HEADER_LEN);
	err = chunk_header_parse(b.data, b.len, h, what);
	free(b.data);
	return err;
}

static void fields_are_read(void **state)
{
	struct jfr_chunk c = good;
	struct chunk_header h;
	const char *what;

	(void)state;
	c.flags = 3;
	c.state = 7;
	assert_int_equal(parse(&c, &h, &what), 0);
	assert_int_equal(h.major, 2);
	assert_int_equal(h.minor, 1);
	assert_int_equal(h.size, 1000);
	assert_int_equal(h.constants_at, 900);
	assert_int_equal(h.metadata_at, 100);
	assert_int_equal(h.start_ns, WRITER_START_NS);
	assert_int_equal(h.duration_ns, 17);
	assert_int_equal(h.start_ticks, 5);
	assert_int_equal(h.ticks_per_s, 2500000000);
	assert_int_equal(h.state, 7);
	assert_true(h.is_final);
	assert_false(h.is_frequency_guess);
}

static void other_versions_are_refused_by_name(void **state)
{
	static const struct {
		uint16_t major, minor;
		unsigned int flags;
		int err;
		const char *what;
	} cases[] = {
		{ 0, 9, 1, -ENOTSUP, "0.9" },
		{ 1, 0, 1, 0, "" },
		{ 2, 0, 1, 0, "" },
		{ 2, 99, 3, 0, "" },
		{ 3, 0, 1, -ENOTSUP, "newer" },
		{ 2, 1, 0, -ENOTSUP, "fixed width" },
		{ 2, 1, 2, -ENOTSUP, "fixed width" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct jfr_chunk c = good;
		struct chunk_header h = { .size = 77 };
		const char *what = "";

		c.major = cases[i].major;
		c.minor = cases[i].minor;
		c.flags = cases[i].flags;
		assert_int_equal(parse(&c, &h, &what), cases[i].err);
		assert_non_null(strstr(what, cases[i].what));
		assert_int_equal(h.size, cases[i].err ? 77 : 1000);
	}
}

static void other_bytes_are_no_header(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *what;
	} cases[] = {
		{ "", 0, "no chunk" },
		{ "FLR", 3, "no chunk" },
		{ "flr\0\0\2\0\1", 8, "no chunk" },
		{ "FLR\1\0\2\0\1", 8, "no chunk" },
		{ "FLR\0", 4, "cut off" },
		{ "FLR\0\0\2\0\1", 8, "cut off" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct chunk_header h;
		const char *what;

		assert_int_equal(chunk_header_parse(cases[i].bytes, cases[i].len, &h, &what),
				 -EBADMSG);
		assert_non_null(strstr(what, cases[i].what));
	}
}

static void only_finished_chunks_are_whole(void **state)
{
	static const struct {
		uint64_t size, constants_at, metadata_at;
		unsigned int state;
		bool is_whole, is_open;
	} cases[] = {
		{ 1000, 900, 100, 0, true, false },
		{ 1001, 900, 100, 0, false, false }, /* the file has 1,000 */
		{ 1000, 900, 100, 1, false, false },
		{ 1000, 900, 100, 254, false, false },
		{ 1000, 900, 100, 255, false, false },
		{ 1000, 0, 100, 0, false, false },
		{ 1000, 900, 0, 0, false, false },
		{ 1000, 67, 100, 0, false, false },
		{ 1000, 68, 68, 0, true, false },
		{ 1000, 1000, 100, 0, false, false },
		{ 1000, 900, UINT64_MAX, 0, false, false },
		{ 0, 0, 0, 0, false, false },
		{ 67, 0, 0, 0, false, false },
		{ 68, 0, 0, 1, false, false }, /* HotSpot, before its first flush */
		{ UINT64_MAX, 900, 100, 0, false, false },
		{ INT64_MAX, 900, 100, 0, false, false },
		{ CHUNK_UNFINISHED_SIZE, 0, 0, 0, false, true }, /* async-profiler */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct jfr_chunk c = good;
		struct chunk_header h;
		const char *what;

		c.size = cases[i].size;
		c.constants_at = cases[i].constants_at;
		c.metadata_at = cases[i].metadata_at;
		c.state = cases[i].state;
		assert_int_equal(parse(&c, &h, &what), 0);
		assert_int_equal(chunk_header_is_whole(&h, 1000), cases[i].is_whole);
		assert_int_equal(chunk_header_is_open(&h), cases[i].is_open);
	}
}

static void ticks_become_time_without_overflow(void **state)
{
	static const struct {
		uint64_t ticks_per_s;
		int64_t start_ticks, ticks, time_ns, duration_ns;
	} cases[] = {
		{ 1000000000, 5, 6, WRITER_START_NS + 1, 6 },
		{ 1000000000, 5, 4, WRITER_START_NS - 1, 4 },
		{ 2500000000, 5, 5 + INT64_C(250000000000000),
		  WRITER_START_NS + INT64_C(100000000000000), INT64_C(100000000000002) },
		{ 1, 0, 3, WRITER_START_NS + INT64_C(3000000000), INT64_C(3000000000) },
		{ 0, 0, 7, WRITER_START_NS + 7, 7 }, /* no frequency: nanoseconds */
		{ UINT64_MAX, 0, 7, WRITER_START_NS + 7, 7 },
		{ 1, 0, INT64_MAX, INT64_MAX, INT64_MAX },
		{ 1, INT64_MAX, INT64_MIN, INT64_MIN, INT64_MIN },
		{ INT64_MAX, INT64_MIN, INT64_MAX, WRITER_START_NS + 2000000000, 1000000000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct jfr_chunk c = good;
		struct chunk_header h;
		const char *what;

		c.ticks_per_s = cases[i].ticks_per_s;
		c.start_ticks = cases[i].start_ticks;
		assert_int_equal(parse(&c, &h, &what), 0);
		assert_int_equal(chunk_header_time_ns(&h, cases[i].ticks), cases[i].time_ns);
		assert_int_equal(chunk_header_duration_ns(&h, cases[i].ticks),
				 cases[i].duration_ns);
	}
}

/* As wide numbers give it, towards zero. */
static int64_t exact_ns(uint64_t ticks_per_s, int64_t ticks)
{
	__int128 ns = (__int128)ticks * 1000000000 / (__int128)ticks_per_s;

	return ns > INT64_MAX ? INT64_MAX : ns < INT64_MIN ? INT64_MIN : (int64_t)ns;
}

static uint64_t any_number(void)
{
	uint64_t n = (uint64_t)random() << 62 ^ (uint64_t)random() << 31 ^ (uint64_t)random();

	return n >> random() % 64;
}

static void every_number_of_ticks_is_exact(void **state)
{
	static const uint64_t clocks[] = { 1,	       10000000,   24000000,
					   1000000000, 1000000001, 2499997707,
					   2500000000, 3000000000, INT64_MAX };

	(void)state;
	srandom(3);
	for (int i = 0; i < 100000; i++) {
		size_t pick = (size_t)random() % (2 * sizeof(clocks) / sizeof(*clocks));
		struct jfr_chunk c = good;
		struct chunk_header h;
		int64_t ticks = (int64_t)any_number() * (random() & 1 ? 1 : -1);
		const char *what;

		c.ticks_per_s =
			pick < sizeof(clocks) / sizeof(*clocks) ? clocks[pick] : any_number() | 1;
		if (c.ticks_per_s > INT64_MAX)
			continue;
		if (random() % 4 == 0) /* just about a whole number of nanoseconds */
			ticks = (int64_t)(any_number() % 1000000000 * c.ticks_per_s / 1000000000);
		assert_int_equal(parse(&c, &h, &what), 0);
		assert_int_equal(chunk_header_duration_ns(&h, ticks),
				 exact_ns(c.ticks_per_s, ticks));
	}
}

static void frequency_that_cannot_be_is_a_guess(void **state)
{
	static const struct {
		uint64_t ticks_per_s;
		bool is_guess;
	} cases[] = { { 0, true }, { UINT64_MAX, true }, { 1, false }, { INT64_MAX, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct jfr_chunk c = good;
		struct chunk_header h;
		const char *what;

		c.ticks_per_s = cases[i].ticks_per_s;
		assert_int_equal(parse(&c, &h, &what), 0);
		assert_int_equal(h.is_frequency_guess, cases[i].is_guess);
	}
}

static void parse_bytes(const uint8_t *bytes, size_t len)
{
	const char *what = NULL;
	struct chunk_header h;

	if (chunk_header_parse(bytes, len, &h, &what)) {
		assert_non_null(what);
		return;
	}
	chunk_header_is_whole(&h, UINT64_MAX);
	chunk_header_time_ns(&h, INT64_MIN);
	chunk_header_time_ns(&h, INT64_MAX);
	chunk_header_duration_ns(&h, INT64_MIN);
}

static void survives_mutation(void **state)
{
	struct jfr_bytes b = { 0 };

	(void)state;
	jfr_header(&b, &good);
	mutate(b.data, b.len, parse_bytes);
	free(b.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_read),
		cmocka_unit_test(other_versions_are_refused_by_name),
		cmocka_unit_test(other_bytes_are_no_header),
		cmocka_unit_test(only_finished_chunks_are_whole),
		cmocka_unit_test(ticks_become_time_without_overflow),
		cmocka_unit_test(every_number_of_ticks_is_exact),
		cmocka_unit_test(frequency_that_cannot_be_is_a_guess),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
