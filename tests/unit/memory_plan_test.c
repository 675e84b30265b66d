// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bpf/memory_plan.h"

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)
/* In use before the first stack beside tables, ring and what each CPU takes: processes, targets and
   the kernel's symbols, as --stats shows it. */
#define REST (11 * MIB)

static const int cpus[] = { 1, 2, 4, 8, 10, 11, 16, 26, 32, 64, 128, 512, 4096 };

#define N_CPUS (sizeof(cpus) / sizeof(cpus[0]))

static uint64_t fixed_use(uint64_t budget, int n_possible, int n_online)
{
	struct memory_plan plan = memory_plan(budget, n_possible, n_online);

	return REST + plan.table_len + plan.ring_len + plan.seen_len +
	       104 * KIB * (uint64_t)n_possible +
	       (4 * KIB + plan.sideband_len) * (uint64_t)n_online;
}

/* What budget.c leaves to stacks. */
static uint64_t room(uint64_t budget, int n_possible, int n_online)
{
	uint64_t use = fixed_use(budget, n_possible, n_online), limit = budget - budget / 16;

	return use < limit ? limit - use : 0;
}

static void every_machine_has_room_for_stacks(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_CPUS; i++) {
		int n = cpus[i];

		assert_true(room(memory_least(n, n), n, n) > 0);
		assert_true(memory_plan(memory_least(n, n), n, n).table_len >= 8 * MIB);
		assert_true(room(memory_default(n, n), n, n) >= 8 * MIB);
		assert_true(room(memory_default(512, n), 512, n) >= 8 * MIB);
		for (uint64_t mib = memory_least(n, n) / MIB; mib < 4096; mib += 1 + mib / 16)
			assert_true(room(mib * MIB, n, n) > 0);
	}
}

static void the_least_and_the_default_grow_with_the_machine(void **state)
{
	static const struct {
		int n_possible, n_online;
		uint64_t least;
	} cases[] = {
		{ 1, 1, 24 },	{ 2, 2, 24 },	  { 6, 6, 24 },	     { 7, 7, 25 },
		{ 32, 32, 29 }, { 128, 128, 46 }, { 512, 512, 115 }, { 240, 2, 50 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int possible = cases[i].n_possible, online = cases[i].n_online;

		assert_int_equal(memory_least(possible, online) / MIB, cases[i].least);
		assert_int_equal(memory_default(possible, online) / MIB, 2 * cases[i].least);
	}
}

static bool is_power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

static void sizes_are_powers_of_two_within_their_bounds(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_CPUS; i++)
		for (uint64_t budget = 1; budget < UINT64_C(1) << 50; budget *= 3) {
			struct memory_plan plan = memory_plan(budget, cpus[i], cpus[i]);

			assert_true(is_power_of_two(plan.table_len));
			assert_true(plan.table_len <= 512 * MIB && plan.table_len >= 64 * KIB);
			assert_true(is_power_of_two(plan.ring_len));
			assert_true(plan.ring_len <= 64 * MIB && plan.ring_len >= 2 * MIB);
			assert_true(is_power_of_two(plan.sideband_len));
			assert_true(plan.sideband_len <= 512 * KIB &&
				    plan.sideband_len >= 64 * KIB);
		}
}

static void a_small_machine_has_large_buffers(void **state)
{
	struct memory_plan plan = memory_plan(48 * MIB, 2, 2);

	(void)state;
	assert_int_equal(plan.table_len, 16 * MIB);
	assert_int_equal(plan.ring_len, 4 * MIB);
	assert_int_equal(plan.sideband_len, 512 * KIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_machine_has_room_for_stacks),
		cmocka_unit_test(the_least_and_the_default_grow_with_the_machine),
		cmocka_unit_test(sizes_are_powers_of_two_within_their_bounds),
		cmocka_unit_test(a_small_machine_has_large_buffers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
