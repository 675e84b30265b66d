// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtimes/python_dump.h"
#include "tests/unit/python_world.h"

#define OLDEST 7
#define NEWEST WORLD_15T

static struct world world; /* made anew by every test */

static int dump(struct world *w, struct python_dump *d)
{
	return python_dump_memory(&w->m, 0, &w->l, WORLD_ADDR, NULL, 0, PYTHON_DUMP_ALL, NULL, d);
}

static void threads_have_their_stacks_in_every_version(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		static const char *const names[] = { "inner", "outer" };
		const struct python_thread *t;
		struct python_dump d;
		uint64_t tasks[2];

		world_pair(&world, minor, tasks);
		world_stack(&world, world_coroutine(&world, "inner", WORLD_ADDR),
			    world_coroutine(&world, "outer", WORLD_ADDR));
		assert_int_equal(dump(&world, &d), 0);
		assert_int_equal(d.threads.n_threads, 1);
		t = &d.threads.threads[0];
		assert_int_equal(t->n_frames, 2);
		assert_false(t->is_torn);
		assert_false(t->is_cut);
		for (size_t i = 0; i < 2; i++)
			assert_string_equal(
				python_functions_get(d.functions, t->frames[i].place.function)
					->name,
				names[i]);
		python_dump_deinit(&d);
	}
}

static void a_stack_in_a_circle_is_cut(void **state)
{
	struct python_dump d;
	uint64_t tasks[2], coro;

	(void)state;
	world_pair(&world, 11, tasks);
	coro = world_coroutine(&world, "again", WORLD_ADDR);
	world_stack(&world, coro, coro);
	assert_int_equal(dump(&world, &d), 0);
	assert_true(d.threads.threads[0].is_cut);
	assert_true(d.threads.threads[0].n_frames <= PYTHON_MAX_STACK);
	python_dump_deinit(&d);
}

/* The innermost function goes on all the time, which is no harm, or its caller does. */
static void a_stack_that_keeps_changing_is_torn(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		for (int is_outer = 0; is_outer < 2; is_outer++) {
			struct python_dump d;
			uint64_t tasks[2], inner, outer;

			world_pair(&world, minor, tasks);
			inner = world_coroutine(&world, "inner", WORLD_ADDR);
			outer = world_coroutine(&world, "outer", WORLD_ADDR);
			world_stack(&world, inner, outer);
			world.moving =
				world_frame(&world, is_outer ? outer : inner) + world.l.frame.instr;
			world.m.ops = &world_moving_ops;
			assert_int_equal(dump(&world, &d), 0);
			assert_int_equal(d.threads.threads[0].is_torn, is_outer);
			python_dump_deinit(&d);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_have_their_stacks_in_every_version),
		cmocka_unit_test(a_stack_in_a_circle_is_cut),
		cmocka_unit_test(a_stack_that_keeps_changing_is_torn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
