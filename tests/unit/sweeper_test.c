// SPDX-License-Identifier: Apache-2.0
/* When sweeps are made, and what they keep in memory of many processes. */
#include "bpf/sweeper.h"

#include <stdlib.h>

#include "bpf/shared.h"
#include "bpf/targets.h"
#include "core/profile.h"
#include "runtimes/python_memory.h"
#include "tests/unit/process_fixture.h"

#define N_CHILDREN 16

static void nothing(void *ctx)
{
	(void)ctx;
}

/* Most of what runs on a machine. */
static void a_process_without_tasks_takes_next_to_nothing(void **state)
{
	struct fixture *f = *state;
	struct targets targets = { .flags = TARGET_PIDS };
	struct sweeper *s = sweeper_new(f->ps, &targets, 1000000);
	struct profile *p = profile_new();
	struct budget budget = { 0 };
	pid_t children[N_CHILDREN];
	size_t before;

	profile_begin(p, "async_wall", "nanoseconds");
	assert_int_equal(sweeper_begin(s, p, &budget, 0), 0);
	before = sweeper_memory(s);
	for (size_t i = 0; i < N_CHILDREN; i++) {
		children[i] = start(nothing, NULL);
		pid_set_add(&targets.pids, children[i]);
	}
	for (int i = 0; i < 3; i++)
		sweeper_run(s, true);
	assert_in_range(sweeper_memory(s) - before, 1, 128 * N_CHILDREN);
	for (size_t i = 0; i < N_CHILDREN; i++)
		stop(children[i]);
	sweeper_free(s);
	profile_free(p);
	pid_set_deinit(&targets.pids);
}

static void what_is_remembered_of_a_program_counts(void **state)
{
	struct python_memory *m = python_memory_new();

	(void)state;
	assert_in_range(python_memory_size(m), sizeof(*m), sizeof(*m) + 64);
	assert_non_null(python_memory_functions(m));
	assert_in_range(python_memory_size(m), sizeof(*m) + 1, sizeof(*m) + (64u << 10));
	python_memory_free(m);
	python_memory_free(NULL);
}

static void pauses_that_are_hardly_longer_are_not_worth_a_word(void **state)
{
	const uint64_t ms = 1000000;

	(void)state;
	assert_false(sweeper_is_slow(100 * ms, 100 * ms));
	assert_false(sweeper_is_slow(104 * ms, 100 * ms)); /* "0.10 s instead of 0.10 s" */
	assert_false(sweeper_is_slow(110 * ms, 100 * ms));
	assert_true(sweeper_is_slow(111 * ms, 100 * ms));
	assert_true(sweeper_is_slow(2000 * ms, 100 * ms));
}

/* A program that is busy for 30 ms of 150, and what sweeps say of it that cost more while it is. */
static void looks_that_cost_more_at_a_busy_place_do_not_come_back_to_it(void **state)
{
	const uint64_t ms = 1000000, begin = 1000 * ms;
	uint64_t now = begin, usual = 0, busy = 0, before = 0;

	(void)state;
	srand(1);
	for (uint64_t i = 1; i < 100000; i++) {
		bool is_busy = now % (150 * ms) < 30 * ms;
		uint64_t cost = is_busy ? 7 * ms : 4 * ms, pause, wait;

		usual = sweeper_usual_cost(usual, before, cost, i);
		before = cost;
		pause = usual * SWEEP_SHARE + 1;
		wait = pause / 2 + (uint64_t)rand() % pause;
		now += wait;
		busy += now % (150 * ms) < 30 * ms ? wait : 0;
	}
	assert_in_range(busy * 1000 / (now - begin), 190, 210);
}

static void a_program_with_far_more_tasks_is_looked_at_less_at_once(void **state)
{
	const uint64_t ms = 1000000;

	(void)state;
	assert_int_equal(sweeper_usual_cost(2 * ms, 70 * ms, 80 * ms, 100), 70 * ms);
	assert_in_range(sweeper_usual_cost(2 * ms, 2 * ms, 4 * ms, 100), 2 * ms, 3 * ms);
	assert_in_range(sweeper_usual_cost(80 * ms, 80 * ms, 2 * ms, 100), 70 * ms, 80 * ms);
}

static void one_dear_look_makes_no_long_pause(void **state)
{
	const uint64_t ms = 1000000;

	(void)state;
	assert_int_equal(sweeper_usual_cost(0, 0, 30 * ms, 1), 0);
	assert_int_equal(sweeper_usual_cost(0, 30 * ms, 3 * ms, 2), 3 * ms);
	assert_in_range(sweeper_usual_cost(2 * ms, 2 * ms, 80 * ms, 100), 2 * ms, 3 * ms);
	assert_in_range(sweeper_usual_cost(2 * ms, 80 * ms, 2 * ms, 100), 2 * ms, 2 * ms);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pauses_that_are_hardly_longer_are_not_worth_a_word),
		cmocka_unit_test(looks_that_cost_more_at_a_busy_place_do_not_come_back_to_it),
		cmocka_unit_test(a_program_with_far_more_tasks_is_looked_at_less_at_once),
		cmocka_unit_test(one_dear_look_makes_no_long_pause),
		PROCESS_TEST(a_process_without_tasks_takes_next_to_nothing),
		cmocka_unit_test(what_is_remembered_of_a_program_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
