// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_share.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtimes/python_heap.h"
#include "tests/unit/python_part.h"
#include "tests/unit/python_world.h"

#define MILLION UINT64_C(1000000)

static void an_allowance_comes_back_with_time_and_no_further(void **state)
{
	static const struct allowance_limits limits = { 1000, 100 };
	static const struct {
		uint64_t now_ns, use, left;
	} cases[] = {
		{ 0, 0, 1000 },
		{ 5 * NS_PER_S, 0, 1000 },
		{ 5 * NS_PER_S, 1200, 1000 },
		{ 5 * NS_PER_S, 0, 0 },
		{ 6 * NS_PER_S, 0, 0 },
		{ 8 * NS_PER_S, 0, 100 },
		{ 8 * NS_PER_S + NS_PER_S / 100, 0, 101 },
		{ 4 * NS_PER_S, 0, 101 }, /* clocks may go back */
		{ 1000 * NS_PER_S, 0, 1000 },
		{ 1000 * NS_PER_S, UINT64_MAX, 1000 },
		{ UINT64_MAX, UINT64_MAX, 0 },
		{ UINT64_MAX, 0, 0 },
	};
	struct allowance a = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(allowance_left(&a, &limits, cases[i].now_ns), cases[i].left);
		allowance_use(&a, cases[i].use);
	}
}

/* Steps that a process gets which asks for more all the time. */
static uint64_t ask_for(struct python_part *p, uint64_t seconds)
{
	uint64_t sum = 0, start = p->share->now_ns;

	while (p->share->now_ns < start + seconds * NS_PER_S) {
		for (int i = 0; i < 100 && python_steps_take(p, MILLION); i++)
			sum += MILLION;
		p->share->now_ns += NS_PER_S / 100;
	}
	return sum;
}

static void a_process_gets_two_percent_and_all_of_them_five(void **state)
{
	struct python_share share = { 0 };
	struct python_part parts[20], *one = fresh_part();

	(void)state;
	assert_in_range(ask_for(one, 100), 2000 * MILLION, 2200 * MILLION);
	assert_true(one->share->n_refused > 0);
	for (int second = 0; second < 100; second++) {
		share.now_ns += NS_PER_S;
		for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
			if (!second)
				parts[i] = (struct python_part){ .share = &share };
			while (python_steps_take(&parts[i], MILLION))
				share.held += 1;
		}
	}
	assert_in_range(share.held, 5000, 5500); /* millions of steps */
}

static void a_search_ends_with_the_steps_and_uses_no_more(void **state)
{
	static struct world world;
	struct python_part *p = fresh_part();
	struct python_search search;
	struct python_heap h;
	uint64_t tasks[2], n = 0;

	(void)state;
	world_pair(&world, 12, tasks);
	python_steps_use(p, 99 * MILLION);
	assert_int_equal(python_search_begin(&search, p, &world.m, &world.l, 1 << 20, &h), 0);
	for (; h.n_left && n < MILLION; n++)
		python_word(&h, WORLD_ADDR + 8 * (n % 512));
	assert_int_equal(n, MILLION / PYTHON_STEPS_READ);
	python_search_end(&search, p, &h);
	assert_int_equal(python_steps_left(p), 0);
	p = fresh_part();
	assert_int_equal(python_search_begin(&search, p, &world.m, &world.l, 1 << 20, &h), 0);
	python_word(&h, WORLD_ADDR);
	python_word(&h, WORLD_ADDR + 8);
	python_search_end(&search, p, &h);
	assert_int_equal(python_steps_left(p),
			 100 * MILLION - PYTHON_STEPS_FETCH - 2 * PYTHON_STEPS_READ);
}

static void room_is_shared_by_all_and_given_back(void **state)
{
	struct python_share share = { .max = 1000, .max_each = 600 };
	struct python_part a = { .share = &share }, b = { .share = &share };

	(void)state;
	python_room_hold(&a, 599);
	assert_true(python_room_is_left(&a));
	python_room_hold(&a, 600);
	assert_false(python_room_is_left(&a));
	assert_true(python_room_is_left(&b));
	python_room_hold(&b, 400);
	assert_false(python_room_is_left(&b));
	python_room_hold(&a, 0);
	assert_true(python_room_is_left(&b));
	assert_int_equal(share.held, 400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_allowance_comes_back_with_time_and_no_further),
		cmocka_unit_test(a_process_gets_two_percent_and_all_of_them_five),
		cmocka_unit_test(a_search_ends_with_the_steps_and_uses_no_more),
		cmocka_unit_test(room_is_shared_by_all_and_given_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
