// SPDX-License-Identifier: Apache-2.0
/* What the kernel half's ticks are worth, on the host: time and chance are the test's. */
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

#define CHANGE_NS (UINT64_C(64) * PERIOD_NS)

static __u64 now_ns, random_state;

static __u64 bpf_ktime_get_ns(void)
{
	return now_ns;
}

#include "bpf/tick.bpf.h"

struct grid {
	struct cpu_state cpu;
	struct tick_length length;
	__u64 last_ns, next_change_ns, change_ns;
	double spread, choice;
};

static double fraction(void)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (double)(random_state >> 32) / 4294967296.0;
}

static void grid_choose(struct grid *g)
{
	g->choice = fmod(g->choice + 0.6180339887498949, 1);
	g->length.tick_ns = (__u64)(PERIOD_NS / (1 + g->spread * (2 * g->choice - 1)));
}

/* Ticks of PERIOD_NS on average, whose rate changes within spread every change_ns (0: never), as
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

static void ticks_are_worth_the_time_that_passed(void **state)
{
	static const __u64 changes_ns[] = { 0, 2000000, 7000000, CHANGE_NS };

	(void)state;
	for (size_t i = 0; i < sizeof(changes_ns) / sizeof(*changes_ns); i++) {
		struct grid g = grid_new(0.3, changes_ns[i]);
		__u64 begin_ns = g.last_ns, worth_ns = 0;

		for (int tick = 0; tick < 20000; tick++) {
			grid_tick(&g);
			worth_ns += tick_worth_ns(&g.cpu, &g.length);
		}
		assert_int_equal(worth_ns, now_ns - begin_ns);
	}
}

/* A CPU that is idle for most of the time has no ticks then. What a change cuts off belongs to the
   tick after it, idle or not. */
static void time_that_was_cut_off_an_idle_cpu_is_nobodys(void **state)
{
	struct grid g = grid_new(0.3, CHANGE_NS);
	__u64 worth_ns = 0, busy_ns = 0;

	(void)state;
	for (int tick = 0; tick < 400000; tick++) {
		__u64 before_ns = g.last_ns;

		grid_tick(&g);
		if (now_ns / 10000000 % 20)
			continue;
		busy_ns += now_ns - before_ns;
		worth_ns += tick_worth_ns(&g.cpu, &g.length);
	}
	assert_true(fabs((double)worth_ns / (double)busy_ns - 1) < 0.01);
}

/* Percentage points between what n samples say of a phase of 30 % and the truth. */
static double lockstep_error(struct grid *g, double ratio, double phase, int n)
{
	double first_ns = 0, all_ns = 0;

	for (int i = 0; i < n; i++) {
		double at, worth_ns;

		grid_tick(g);
		worth_ns = (double)tick_worth_ns(&g->cpu, &g->length);
		at = (double)(now_ns - 1000000000) / (PERIOD_NS * ratio) + phase;
		first_ns += at - floor(at) < 0.3 ? worth_ns : 0;
		all_ns += worth_ns;
	}
	return 100 * first_ns / all_ns - 30;
}

static void no_program_is_in_step_with_the_ticks(void **state)
{
	double worst = 0, squares = 0, error;
	int n = 0;

	(void)state;
	random_state = 1;
	for (double ratio = 0.1; ratio < 8; ratio += 0.0373) {
		for (double phase = 0; phase < 1; phase += 0.5) {
			struct grid g = grid_new(0.3, CHANGE_NS);

			error = lockstep_error(&g, ratio, phase, 3000);
			squares += error * error;
			n++;
			if (fabs(error) > worst)
				worst = fabs(error);
		}
	}
	print_message("# %d programs: %.2f points rms, %.2f at worst\n", n, sqrt(squares / n),
		      worst);
	assert_true(sqrt(squares / n) < 0.8);
	assert_true(worst < 5);
}

/* Their mean length, its half, third, double and triple: what a fixed grid never sees. */
static void no_program_is_in_step_with_their_mean(void **state)
{
	static const double ratios[] = { 1, 1.0 / 2, 1.0 / 3, 2, 3 };
	double squares = 0, error;
	int n = 0;

	(void)state;
	random_state = 2;
	for (size_t i = 0; i < sizeof(ratios) / sizeof(*ratios); i++) {
		for (double phase = 0; phase < 1; phase += 0.05) {
			struct grid g = grid_new(0.3, CHANGE_NS);

			error = lockstep_error(&g, ratios[i], phase, 3000);
			squares += error * error;
			n++;
		}
	}
	print_message("# %d programs: %.2f points rms\n", n, sqrt(squares / n));
	assert_true(sqrt(squares / n) < 1.0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ticks_are_worth_the_time_that_passed),
		cmocka_unit_test(time_that_was_cut_off_an_idle_cpu_is_nobodys),
		cmocka_unit_test(no_program_is_in_step_with_the_ticks),
		cmocka_unit_test(no_program_is_in_step_with_their_mean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
