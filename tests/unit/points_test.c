// SPDX-License-Identifier: Apache-2.0
/* The kernel half's choice of waits, on the host: time and chance are the test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/types.h>
#include <math.h>

#ifndef __always_inline
#define __always_inline inline
#endif

#define PERIOD_NS 10101010ULL
#define SECOND_NS 1000000000ULL

static const __u64 sample_period_ns = PERIOD_NS;
static __u64 random_state;

static __u32 bpf_get_prandom_u32(void)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (__u32)(random_state >> 32);
}

#include "bpf/points.bpf.h"

/* Two kinds of wait in turn, one after the other on the clock of n_threads. What share of all they
   are worth in %. */
static double share_of_first(const __u64 len[2], unsigned int n_threads, __u64 n, __u64 *total_ns)
{
	struct points p = { 0 };
	__u64 now_ns = 5 * SECOND_NS, worth[2] = { 0 };

	for (__u64 i = 0; i < n; i++) {
		now_ns += len[i % 2] / n_threads;
		worth[i % 2] += points_take(&p, len[i % 2], now_ns);
	}
	*total_ns = worth[0] + worth[1];
	return 100.0 * (double)worth[0] / (double)*total_ns;
}

/* The second pair is half a period each, so that two of them are in step with the cells; in the
   last one the long wait crosses the end of a cell each time, and the short one hardly ever. */
static void waits_are_worth_their_length(void **state)
{
	static const struct {
		__u64 len[2];
	} cases[] = {
		{ { 5000000, 5100000 } },  { { PERIOD_NS / 2, PERIOD_NS - PERIOD_NS / 2 } },
		{ { 20000, 80000 } },	   { { 1000, 5000000 } },
		{ { 50000000, 1000000 } }, { { 300, 700 } },
		{ { 3333333, 15151515 } }, { { 2 * PERIOD_NS, 6 * PERIOD_NS } },
	};

	(void)state;
	random_state = 1;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const __u64 *len = cases[i].len;
		__u64 n = 2 * (3000 * PERIOD_NS / (len[0] + len[1]) + 1500), total_ns;
		double sum = (double)(n / 2) * (double)(len[0] + len[1]);
		double part = (double)len[0] / (double)(len[0] + len[1]);
		double share = share_of_first(len, 1, n, &total_ns);

		/* Four times the standard error of as many independent points. */
		assert_true(fabs(share - 100 * part) <
			    400 * sqrt(part * (1 - part) / (sum / PERIOD_NS)));
		/* The second it begins anew each time is what is lost of exactness. */
		assert_true(fabs((double)total_ns - sum) < 0.03 * sum);
	}
}

static void the_sum_is_exact_to_a_cell_in_each_second(void **state)
{
	struct points p = { 0 };
	__u64 now_ns = 5 * SECOND_NS, sum = 0, worth = 0;

	(void)state;
	random_state = 2;
	for (int i = 0; i < 190; i++) {
		now_ns += 5100000;
		sum += 5100000;
		worth += points_take(&p, 5100000, now_ns);
		assert_true(worth <= sum + PERIOD_NS && sum <= worth + PERIOD_NS);
	}
}

/* 500 threads that all wait come to 500 seconds in each one. */
static void many_threads_make_no_more_samples(void **state)
{
	static const __u64 len[2] = { 4000000, 6000000 };
	struct points p = { 0 };
	__u64 now_ns = 5 * SECOND_NS, n_samples = 0, worth = 0, n = 1000000;

	(void)state;
	random_state = 3;
	for (__u64 i = 0; i < n; i++) {
		__u64 weight;

		now_ns += len[i % 2] / 500;
		weight = points_take(&p, len[i % 2], now_ns);
		worth += weight;
		/* The first second is not known yet. */
		n_samples += weight && now_ns > 6 * SECOND_NS;
	}
	assert_true(n_samples < (now_ns - 6 * SECOND_NS) / PERIOD_NS * 11 / 10);
	assert_true(fabs((double)worth / ((double)n * 5000000) - 1) < 0.05);
}

/* Two kinds of wait, of which nobody knows which will come next: both are expected to last as long.
 */
static void what_was_expected_makes_no_difference_on_average(void **state)
{
	static const __u64 len[2] = { 20000, 5000000 };
	static const __u64 expected[] = { POINTS_MIN_NS, 1000000, 5000000, 40000000 };

	(void)state;
	for (size_t e = 0; e < sizeof(expected) / sizeof(*expected); e++) {
		struct points p = { 0 };
		__u64 now_ns = 5 * SECOND_NS, n = 400000;
		double worth[2] = { 0 }, sum;

		random_state = 4;
		for (__u64 i = 0; i < n; i++) {
			__u64 taken_ns = points_take(&p, expected[e], now_ns);

			now_ns += len[i % 2];
			worth[i % 2] += (double)points_worth(len[i % 2], expected[e], taken_ns);
		}
		sum = (double)(n / 2) * 5020000;
		assert_true(fabs((worth[0] + worth[1]) / sum - 1) < 0.05);
		assert_true(fabs(worth[0] / (worth[0] + worth[1]) - 20000.0 / 5020000) < 0.0005);
	}
}

static void long_waits_are_expected_for_a_while(void **state)
{
	__u64 expected_ns = 5000000;

	(void)state;
	expected_ns = points_expect(20000, expected_ns);
	assert_in_range(expected_ns, 4000000, 4999999);
	for (int i = 0; i < 100; i++)
		expected_ns = points_expect(20000, expected_ns);
	assert_int_equal(expected_ns, POINTS_MIN_NS);
	assert_int_equal(points_expect(7000000, expected_ns), 7000000);
	assert_int_equal(points_expect(86400 * SECOND_NS, expected_ns), POINTS_MAX_NS);
}

static void no_wait_is_too_long(void **state)
{
	__u64 day_ns = 86400 * SECOND_NS;

	(void)state;
	assert_int_equal(points_worth(day_ns, PERIOD_NS, PERIOD_NS), day_ns);
	assert_int_equal(points_worth(day_ns, POINTS_MAX_NS, 3 * POINTS_MAX_NS), 3 * day_ns);
	assert_int_equal(points_worth(1000, 0, 0), 0);
	assert_int_equal(points_worth(1000, PERIOD_NS, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_are_worth_their_length),
		cmocka_unit_test(the_sum_is_exact_to_a_cell_in_each_second),
		cmocka_unit_test(many_threads_make_no_more_samples),
		cmocka_unit_test(what_was_expected_makes_no_difference_on_average),
		cmocka_unit_test(long_waits_are_expected_for_a_while),
		cmocka_unit_test(no_wait_is_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
