// SPDX-License-Identifier: Apache-2.0
/* Files that have the same chunk, one of them not all of it: each event counts once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/jfr_world.h"

#define N_SAMPLES 40

static struct jfr_bytes a_chunk(void)
{
	struct jfr_bytes b = { 0 };
	struct jfr_chunk c = jfr_chunk_begin(&b, 0);

	world_metadata(&c);
	world_checkpoint(&c, 7, "p/A");
	for (int i = 0; i < N_SAMPLES; i++)
		world_sample(&c, i + 1, 7);
	jfr_chunk_end(&c);
	return b;
}

/* No event twice, and as many as the longer copy has by itself. */
static void each_event_is_there_once(const struct world_reading *got, size_t n)
{
	assert_int_equal(got->err, 0);
	assert_int_equal(got->n, n);
	assert_int_equal(got->counted, n);
	for (size_t i = 1; i < n; i++)
		assert_true(got->items[i].at > got->items[i - 1].at);
}

static size_t n_events(const struct jfr_bytes *b, size_t len)
{
	struct world_reading got = { 0 };
	size_t n;

	world_read(&got, b->data, len);
	n = got.n;
	world_reading_deinit(&got);
	return n;
}

static void copies_that_are_cut_off_anywhere_count_once(void **state)
{
	struct jfr_bytes b = a_chunk();
	const size_t lens[] = { b.len - 400, b.len - 205, b.len - 200, b.len - 77, b.len };

	(void)state;
	for (size_t i = 0; i < 5; i++)
		for (size_t j = 0; j < 5; j++) {
			struct world_reading got = { 0 };
			size_t most = lens[i] > lens[j] ? lens[i] : lens[j];

			world_read(&got, b.data, lens[i]);
			world_read(&got, b.data, lens[j]);
			each_event_is_there_once(&got, n_events(&b, most));
			if (most == b.len)
				assert_int_equal(got.n, N_SAMPLES);
			world_reading_deinit(&got);
		}
	free(b.data);
}

static void a_second_copy_that_is_cut_at_the_same_place_loses_nothing_more(void **state)
{
	struct jfr_bytes b = a_chunk();
	struct world_reading once = { 0 }, twice = { 0 };

	(void)state;
	world_read(&once, b.data, b.len - 205);
	world_read(&twice, b.data, b.len - 205);
	world_read(&twice, b.data, b.len - 205);
	assert_true(once.report.n_lost > 0);
	assert_int_equal(twice.report.n_lost, once.report.n_lost);
	assert_int_equal(twice.report.n_damages, once.report.n_damages);
	assert_int_equal(twice.report.n_duplicates, 1);
	world_reading_deinit(&once);
	world_reading_deinit(&twice);
	free(b.data);
}

/* As a repository has it, and then the dump: of the copy, the rest is read. */
static void a_chunk_that_was_not_finished_is_read_on_in_another_file(void **state)
{
	struct jfr_bytes b = a_chunk();
	struct world_reading got = { 0 };
	size_t flushed = b.len - 200;
	uint8_t *live = malloc(b.len);

	(void)state;
	while (n_events(&b, flushed) == n_events(&b, flushed - 1)) /* where an event ends */
		flushed--;
	memcpy(live, b.data, b.len);
	for (int i = 0; i < 8; i++)
		live[CHUNK_SIZE_AT + i] = (uint8_t)((uint64_t)flushed >> 8 * (7 - i));
	live[64] = 3;
	world_read(&got, live, b.len);
	assert_int_equal(got.report.n_open, 1);
	assert_true(got.n < N_SAMPLES);
	world_read(&got, b.data, b.len);
	each_event_is_there_once(&got, N_SAMPLES);
	assert_int_equal(got.report.n_damages, 0);
	world_reading_deinit(&got);
	free(live);
	free(b.data);
}

/* Where an event ended in the one, none begins in the other. */
static void a_chunk_that_was_rewritten_is_another_one(void **state)
{
	struct jfr_bytes b = a_chunk(), other = { 0 };
	struct jfr_chunk c = jfr_chunk_begin(&other, 0);
	struct world_reading got = { 0 };
	size_t n;

	(void)state;
	world_metadata(&c);
	world_note(&c, 5, "it has some more");
	world_checkpoint(&c, 7, "p/A");
	for (int i = 0; i < N_SAMPLES; i++)
		world_sample(&c, i + 1, 7);
	jfr_chunk_end(&c);
	world_read(&got, b.data, b.len - 200);
	n = got.n;
	world_read(&got, other.data, other.len);
	assert_int_equal(got.n, n + 1 + N_SAMPLES);
	world_reading_deinit(&got);
	free(other.data);
	free(b.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_that_are_cut_off_anywhere_count_once),
		cmocka_unit_test(a_second_copy_that_is_cut_at_the_same_place_loses_nothing_more),
		cmocka_unit_test(a_chunk_that_was_not_finished_is_read_on_in_another_file),
		cmocka_unit_test(a_chunk_that_was_rewritten_is_another_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
