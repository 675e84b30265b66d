// SPDX-License-Identifier: Apache-2.0
/* The kernel half's choice of ticks, on the host: time and chance are the test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/types.h>
#include <math.h>
#include <stdlib.h>

#ifndef __always_inline
#define __always_inline inline
#endif

#define PERIOD_NS 1000000

static const __u64 sample_period_ns = PERIOD_NS;
static __u64 now_ns, random_state;

static __u32 bpf_get_prandom_u32(void)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (__u32)(random_state >> 32);
}

static __u64 bpf_ktime_get_ns(void)
{
	return now_ns;
}

#include "bpf/jitter.bpf.h"

struct grid {
	struct cpu_state cpu;
	struct tick_length length;
	__u64 last_ns, next_change_ns, change_ns;
	double spread, choice;
};

static double fraction(void)
{
	return bpf_get_prandom_u32() / 4294967296.0;
}

static void grid_choose(struct grid *g)
{
	g->choice = fmod(g->choice + 0.6180339887498949, 1);
	g->length.tick_ns = (__u64)(577350 / (1 + g->spread * (2 * g->choice - 1)));
}

/* Ticks of PERIOD_NS / sqrt(3), whose rate changes within spread every change_ns (0: never), as
   ticker.c has them. */
static struct grid grid_new(double spread, __u64 change_ns)
{
	struct grid g = { .last_ns = 1000000000,
			  .spread = spread,
			  .choice = fraction(),
			  .change_ns = change_ns };

	grid_choose(&g);
	g.next_change_ns = change_ns ? g.last_ns + change_ns : UINT64_MAX;
	return g;
}

static void grid_change(struct grid *g)
{
	now_ns = g->next_change_ns;
	g->length.cut_ns = now_ns - g->last_ns;
	g->length.since_ns = now_ns;
	grid_choose(g);
	g->length.n_changes++;
	g->last_ns = now_ns;
	g->next_change_ns += (__u64)((double)g->change_ns * (0.75 + fraction() / 2));
}

/* To the next tick; it is at now_ns. */
static void grid_tick(struct grid *g)
{
	while (g->next_change_ns < g->last_ns + g->length.tick_ns)
		grid_change(g);
	g->last_ns += g->length.tick_ns;
	now_ns = g->last_ns;
}

static void samples_are_worth_the_time_that_passed(void **state)
{
	static const __u64 changes_ns[] = { 0, 2000000, 7000000, 74000000 };

	(void)state;
	for (size_t i = 0; i < sizeof(changes_ns) / sizeof(*changes_ns); i++) {
		struct grid g = grid_new(0.3, changes_ns[i]);
		__u64 begin_ns = g.last_ns, n = 0;
		double periods;

		for (int tick = 0; tick < 20000; tick++) {
			grid_tick(&g);
			n += jitter_takes(&g.cpu, &g.length);
		}
		periods = (double)(now_ns - begin_ns) / PERIOD_NS;
		if (fabs((double)n - periods) > 3)
			fail_msg("%llu samples in %.0f periods, a change every %llu ns",
				 (unsigned long long)n, periods, (unsigned long long)changes_ns[i]);
	}
}

/* A CPU that is idle for most of the time has no ticks then. What a change cuts off belongs to the
   tick after it, idle or not. */
static void time_that_was_cut_off_an_idle_cpu_is_nobodys(void **state)
{
	struct grid g = grid_new(0.3, 74000000);
	__u64 n = 0, busy_ns = 0;

	(void)state;
	for (int tick = 0; tick < 400000; tick++) {
		__u64 before_ns = g.last_ns;

		grid_tick(&g);
		if (now_ns / 10000000 % 20)
			continue;
		busy_ns += now_ns - before_ns;
		n += jitter_takes(&g.cpu, &g.length);
	}
	assert_true(fabs((double)n * PERIOD_NS / (double)busy_ns - 1) < 0.01);
}

static void in_each_period_there_is_a_sample(void **state)
{
	struct grid g = grid_new(0.3, 74000000);
	__u64 last_ns = g.last_ns;

	(void)state;
	for (int tick = 0; tick < 20000; tick++) {
		grid_tick(&g);
		if (!jitter_takes(&g.cpu, &g.length))
			continue;
		/* From the start of one period to the end of the next, and a tick. */
		assert_true(now_ns - last_ns <= 3 * PERIOD_NS);
		last_ns = now_ns;
	}
}

/* Percentage points between what n samples say of a phase of 30 % and the truth. */
static double lockstep_error(struct grid *g, double ratio, double phase, int n)
{
	int n_first = 0;

	for (int taken = 0; taken < n;) {
		double at;

		grid_tick(g);
		if (!jitter_takes(&g->cpu, &g->length))
			continue;
		at = (double)(now_ns - 1000000000) / (PERIOD_NS * ratio) + phase;
		n_first += at - floor(at) < 0.3;
		taken++;
	}
	return 100.0 * n_first / n - 30;
}

static void no_program_is_in_step_with_the_samples(void **state)
{
	double worst = 0, squares = 0, error;
	int n = 0;

	(void)state;
	random_state = 1;
	for (double ratio = 0.1; ratio < 8; ratio += 0.0373) {
		for (double phase = 0; phase < 1; phase += 0.5) {
			struct grid g = grid_new(0.3, 74000000);

			error = lockstep_error(&g, ratio, phase, 3000);
			squares += error * error;
			n++;
			if (fabs(error) > worst)
				worst = fabs(error);
		}
	}
	print_message("# %d programs: %.2f points rms, %.2f at worst\n", n, sqrt(squares / n),
		      worst);
	assert_true(sqrt(squares / n) < 0.9);
	assert_true(worst < 5);
}

/* The period of the ticks themselves, its half, third and double: what a fixed grid never sees. */
static void no_program_is_in_step_with_the_ticks(void **state)
{
	static const double ratios[] = { 0.57735, 0.57735 / 2, 0.57735 / 3, 0.57735 * 2 };
	double squares = 0, error;
	int n = 0;

	(void)state;
	random_state = 2;
	for (size_t i = 0; i < sizeof(ratios) / sizeof(*ratios); i++) {
		for (double phase = 0; phase < 1; phase += 0.05) {
			struct grid g = grid_new(0.3, 74000000);

			error = lockstep_error(&g, ratios[i], phase, 3000);
			squares += error * error;
			n++;
		}
	}
	print_message("# %d programs: %.2f points rms\n", n, sqrt(squares / n));
	assert_true(sqrt(squares / n) < 1.2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_worth_the_time_that_passed),
		cmocka_unit_test(time_that_was_cut_off_an_idle_cpu_is_nobodys),
		cmocka_unit_test(in_each_period_there_is_a_sample),
		cmocka_unit_test(no_program_is_in_step_with_the_samples),
		cmocka_unit_test(no_program_is_in_step_with_the_ticks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
