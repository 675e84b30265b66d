// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/word_pool.h"

enum { N_WORDS = 4096, N_RANGES = 64 };

static void ranges_do_not_overlap_and_all_come_back(void **state)
{
	uint32_t first[N_RANGES] = { 0 }, len[N_RANGES] = { 0 };
	struct word_pool *p = word_pool_new(N_WORDS);
	uint32_t empty = word_pool_used(p);
	static uint8_t owner[N_WORDS];
	uint64_t now = 0;

	(void)state;
	memset(owner, 0, sizeof(owner));
	srand(1);
	for (int turn = 0; turn < 20000; turn++) {
		int i = rand() % N_RANGES;

		now += WORD_POOL_GRACE_NS / 3;
		word_pool_settle(p, now);
		if (first[i]) {
			for (uint32_t k = 0; k < len[i]; k++) {
				assert_int_equal(owner[first[i] + k], i + 1);
				owner[first[i] + k] = 0;
			}
			word_pool_put(p, first[i], len[i], now);
			first[i] = 0;
			continue;
		}
		len[i] = 1 + (uint32_t)rand() % 150;
		first[i] = word_pool_get(p, len[i]);
		for (uint32_t k = 0; first[i] && k < len[i]; k++) {
			assert_true(first[i] + k < N_WORDS);
			assert_int_equal(owner[first[i] + k], 0);
			owner[first[i] + k] = (uint8_t)(i + 1);
		}
		assert_int_equal(first[i] % 2, 0);
	}
	for (int i = 0; i < N_RANGES; i++) {
		if (first[i])
			word_pool_put(p, first[i], len[i], now);
	}
	word_pool_settle(p, now + WORD_POOL_GRACE_NS);
	assert_int_equal(word_pool_used(p), empty);
	assert_int_not_equal(word_pool_get(p, N_WORDS - 8), 0);
	word_pool_free(p);
}

static void given_back_words_rest_before_they_are_used_again(void **state)
{
	struct word_pool *p = word_pool_new(64);
	uint32_t first = word_pool_get(p, 56);

	(void)state;
	assert_int_not_equal(first, 0);
	word_pool_put(p, first, 56, 1000);
	word_pool_settle(p, 1000 + WORD_POOL_GRACE_NS - 1);
	assert_int_equal(word_pool_get(p, 8), 0);
	word_pool_settle(p, 1000 + WORD_POOL_GRACE_NS);
	assert_int_equal(word_pool_get(p, 56), first);
	word_pool_free(p);
}

static void what_cannot_fit_is_refused(void **state)
{
	static const uint32_t sizes[] = { 0, 57, 64, UINT32_MAX, UINT32_MAX - 7 };
	struct word_pool *p = word_pool_new(64), *tiny = word_pool_new(8);

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		assert_int_equal(word_pool_get(p, sizes[i]), 0);
	assert_int_equal(word_pool_get(tiny, 1), 0);
	word_pool_free(p);
	word_pool_free(tiny);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_do_not_overlap_and_all_come_back),
		cmocka_unit_test(given_back_words_rest_before_they_are_used_again),
		cmocka_unit_test(what_cannot_fit_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
