// SPDX-License-Identifier: Apache-2.0
#include "jfr/held.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct held hold(const uint64_t *at, size_t n)
{
	struct held h = { 0 };

	for (size_t i = 0; i < n; i++)
		assert_int_equal(held_add(&h, at[i]), 0);
	return h;
}

static void it_is_the_same_as_bytes_and_back(void **state)
{
	static const uint64_t at[] = { UINT64_MAX, 68, UINT64_C(1) << 40 };
	struct held h = hold(at, 3), back = { 0 };
	uint8_t bytes[3 * HELD_LEN];

	(void)state;
	held_sort(&h);
	held_encode(&h, bytes);
	assert_int_equal(held_decode(&back, bytes, sizeof(bytes)), 0);
	assert_int_equal(back.n, 3);
	assert_memory_equal(back.at, h.at, sizeof(bytes));
	assert_true(back.at[0] == 68 && back.at[2] == UINT64_MAX);
	held_deinit(&h);
	held_deinit(&back);
	assert_int_equal(held_decode(&back, NULL, 0), 0);
	assert_int_equal(back.n, 0);
}

static void there_is_a_limit(void **state)
{
	struct held h = { 0 }, back = { 0 };
	uint8_t *bytes = calloc(MAX_HELD + 1, HELD_LEN);

	(void)state;
	for (uint64_t i = 0; i < MAX_HELD; i++)
		assert_int_equal(held_add(&h, i), 0);
	assert_int_equal(held_add(&h, MAX_HELD), -E2BIG);
	assert_int_equal(h.n, MAX_HELD);
	held_encode(&h, bytes);
	assert_int_equal(held_decode(&back, bytes, MAX_HELD * HELD_LEN), 0);
	held_deinit(&back);
	memset(bytes + MAX_HELD * HELD_LEN, 0xff, HELD_LEN);
	assert_int_equal(held_decode(&back, bytes, (MAX_HELD + 1) * HELD_LEN), -EBADMSG);
	held_deinit(&h);
	free(bytes);
}

/* Each copy in an allocation of its own size. */
static int decode(const uint8_t *bytes, size_t len)
{
	uint8_t *copy = malloc(len + !len);
	struct held h = { 0 };
	int err;

	memcpy(copy, bytes, len);
	err = held_decode(&h, copy, len);
	free(copy);
	for (size_t i = 1; i < h.n; i++)
		assert_true(h.at[i] > h.at[i - 1]);
	held_deinit(&h);
	return err;
}

static void survives_mutation(void **state)
{
	static const uint64_t at[] = { 68, 100, 5000, 70000 };
	struct held h = hold(at, 4);
	uint8_t bytes[4 * HELD_LEN];

	(void)state;
	held_encode(&h, bytes);
	held_deinit(&h);
	for (size_t n = 0; n <= sizeof(bytes); n++)
		assert_int_equal(decode(bytes, n), n % HELD_LEN ? -EBADMSG : 0);
	for (size_t bit = 0; bit < 8 * sizeof(bytes); bit++) {
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		decode(bytes, sizeof(bytes));
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_the_same_as_bytes_and_back),
		cmocka_unit_test(there_is_a_limit),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests_name("jfr/held", tests, NULL, NULL);
}
