// SPDX-License-Identifier: Apache-2.0
/* Constants are found whatever numbers their writer gave them, and as fast. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/clock.h"
#include "tests/unit/jfr_world.h"

#define N_CONSTANTS 131000
#define MAX_TIMES 15 /* as long as the fastest take */

static uint64_t counted(uint64_t i)
{
	return i + 1;
}

static uint64_t counted_late(uint64_t i)
{
	return 1000000007 + i;
}

/* As async-profiler's stacks: places in tables that are each twice as large as the one before. */
static uint64_t scattered(uint64_t i)
{
	return i * 9 / 8 * 9 / 8;
}

/* As HotSpot's methods: of each class from its number on. */
static uint64_t in_classes(uint64_t i)
{
	return (i / 20 + 300) << 16 | (i % 20 + 1);
}

static uint64_t addresses(uint64_t i)
{
	return 0x7f0012345680 + i * 192;
}

static uint64_t backwards(uint64_t i)
{
	return UINT64_MAX / 2 - i * 65536;
}

/* CPU time of reading a chunk with this many constants, of which the last one is asked for. */
static uint64_t time_of(uint64_t (*key_of)(uint64_t i))
{
	struct jfr_bytes b = { 0 };
	struct jfr_chunk c = jfr_chunk_begin(&b, 0);
	struct world_reading got = { 0 };
	uint64_t took, begun;
	size_t at;

	world_metadata(&c);
	at = checkpoint_begin(&c, false, 1);
	put_pool(&b, T_SYMBOL, N_CONSTANTS);
	for (uint64_t i = 0; i < N_CONSTANTS; i++) {
		put_varint(&b, key_of(i));
		put_string(&b, 3, "x");
	}
	event_end(&b, at);
	jfr_chunk_end(&c);
	begun = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	world_read(&got, b.data, b.len);
	took = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begun;
	assert_int_equal(got.err, 0);
	assert_int_equal(got.report.n_damages, 0);
	world_reading_deinit(&got);
	free(b.data);
	return took;
}

static void no_keys_take_long(void **state)
{
	static uint64_t (*const kinds[])(uint64_t) = { counted,	   counted_late, scattered,
						       in_classes, addresses,	 backwards };
	uint64_t times[sizeof(kinds) / sizeof(kinds[0])], least = UINT64_MAX;

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		times[i] = time_of(kinds[i]);
		least = times[i] < least ? times[i] : least;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		assert_in_range(times[i], least, MAX_TIMES * least);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_keys_take_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
