// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "runtimes/python_dump.h"
#include "tests/unit/python_world.h"

#define OLDEST 7
#define NEWEST WORLD_15T

static struct world world; /* made anew by every test */

static int dump(struct world *w, struct python_dump *d)
{
	return python_dump_memory(&w->m, 0, &w->l, WORLD_ADDR, NULL, 0, PYTHON_DUMP_ALL, NULL, d);
}

static const struct python_task *task_at(const struct python_dump *d, uint64_t addr)
{
	for (size_t i = 0; i < d->tasks.n; i++)
		if (d->tasks.tasks[i].addr == addr)
			return &d->tasks.tasks[i];
	fail_msg("no such task");
	return NULL;
}

static const char *function_of(const struct python_dump *d, const struct python_task *t, size_t i)
{
	const struct python_place *place = &d->tasks.places[t->first_place + i];

	assert_true(i < t->n_places);
	/* From 3.13 on it is at its first instruction before it begins. */
	assert_int_equal(place->line,
			 t->is_started || world.l.version >= PYTHON_FIRST(3, 13) ? 8 : 7);
	return python_functions_get(d->functions, place->function)->name;
}

static void tasks_have_their_chains_in_every_version(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		const struct python_task *main_task, *child;
		struct python_dump d;
		uint64_t tasks[2];

		world_pair(&world, minor, tasks);
		assert_int_equal(dump(&world, &d), 0);
		assert_int_equal(d.tasks.n, 2);
		assert_int_equal(d.tasks.n_changed, 0);
		assert_false(d.is_cut);
		main_task = task_at(&d, tasks[0]);
		child = task_at(&d, tasks[1]);
		assert_int_equal(main_task->state, PYTHON_TASK_WAITING);
		assert_int_equal(main_task->n_places, 1);
		assert_string_equal(function_of(&d, main_task, 0), "main");
		assert_true(main_task->awaits_task);
		assert_int_equal(main_task->awaits, tasks[1]);
		assert_int_equal(child->n_places, 2);
		assert_string_equal(function_of(&d, child, 0), "child");
		assert_string_equal(function_of(&d, child, 1), "sleep");
		assert_false(child->awaits_task);
		if (minor > 7)
			assert_string_equal(child->name, "Task-2");
		else
			assert_null(child->name);
		python_dump_deinit(&d);
	}
}

static void a_task_that_did_not_begin_says_so(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		struct python_dump d;
		uint64_t task;

		world_init(&world, minor);
		task = world_task(&world, world_coroutine(&world, "main", 0), 0, "Task-1");
		world_tasks(&world, 1, &task);
		assert_int_equal(dump(&world, &d), 0);
		assert_int_equal(d.tasks.n, 1);
		assert_int_equal(d.tasks.tasks[0].state, PYTHON_TASK_RUNNABLE);
		assert_false(d.tasks.tasks[0].is_started);
		assert_string_equal(function_of(&d, d.tasks.tasks, 0), "main");
		python_dump_deinit(&d);
	}
}

static void a_task_whose_future_is_done_is_about_to_go_on(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		struct python_dump d;
		uint64_t tasks[2], future;

		world_pair(&world, minor, tasks);
		memcpy(&future, world.made + (tasks[1] + world.at.task.waiter - WORLD_ADDR), 8);
		world_put(&world, future + world.at.future.state, 2, 4);
		assert_int_equal(dump(&world, &d), 0);
		assert_int_equal(task_at(&d, tasks[1])->state, PYTHON_TASK_RUNNABLE);
		assert_int_equal(task_at(&d, tasks[1])->n_places, 2);
		assert_int_equal(task_at(&d, tasks[0])->state, PYTHON_TASK_WAITING);
		python_dump_deinit(&d);
	}
}

static void a_task_that_was_freed_is_not_there(void **state)
{
	static const unsigned int minors[] = { 11, WORLD_14T };

	(void)state;
	for (size_t i = 0; i < sizeof(minors) / sizeof(*minors); i++) {
		struct python_dump d;
		uint64_t tasks[2];

		world_pair(&world, minors[i], tasks);
		for (uint16_t at = 0; at < world.l.object.type; at += 8)
			world_word(&world, tasks[1] + at, 0);
		assert_int_equal(dump(&world, &d), 0);
		assert_int_equal(d.tasks.n, 1);
		assert_int_equal(d.tasks.n_changed, 0);
		python_dump_deinit(&d);
	}
}

/* Its coroutine awaits another future than the one that the task waits for. */
static void a_task_that_contradicts_itself_is_left_out(void **state)
{
	struct python_dump d;
	uint64_t tasks[2];

	(void)state;
	world_pair(&world, 11, tasks);
	world_word(&world, tasks[1] + world.at.task.waiter,
		   world_future(&world, "_asyncio.Future"));
	assert_int_equal(dump(&world, &d), 0);
	assert_int_equal(d.tasks.n, 1);
	assert_int_equal(d.tasks.n_changed, 1);
	python_dump_deinit(&d);
}

static void a_task_that_ended_is_done(void **state)
{
	struct python_dump d;
	uint64_t tasks[2];

	(void)state;
	world_pair(&world, 11, tasks);
	world_put(&world, tasks[1] + world.at.future.state, 2, 4);
	assert_int_equal(dump(&world, &d), 0);
	assert_int_equal(task_at(&d, tasks[1])->state, PYTHON_TASK_DONE);
	python_dump_deinit(&d);
}

/* How the parent of world_pair() comes to wait for the child: a callback of the child's. */
static uint64_t make_waiting(struct world *w, const char *qualname, const char *between,
			     uint64_t parent)
{
	uint64_t future = world_future(w, between), partial, arg = future;

	world_callback(w, future, world_wakeup(w, parent), false);
	if (strcmp(qualname, "_release_waiter") != 0)
		return world_function(w, qualname, future);
	partial = world_object(w, "functools.partial", 48);
	world_field(w, partial, PYTHON_PARTIAL_FUNCTION, world_function(w, qualname, 0));
	world_field(w, partial, PYTHON_PARTIAL_ARGS, world_tuple(w, 1, &arg));
	return partial;
}

static void callbacks_tell_who_waits_and_how(void **state)
{
	static const struct {
		const char *qualname, *between;
		enum python_via via;
	} cases[] = {
		{ "gather.<locals>._done_callback", "_GatheringFuture", PYTHON_VIA_GATHER },
		{ "_wait.<locals>._on_completion", "_asyncio.Future", PYTHON_VIA_WAIT },
		{ "shield.<locals>._inner_done_callback", "_asyncio.Future", PYTHON_VIA_SHIELD },
		{ "_release_waiter", "_asyncio.Future", PYTHON_VIA_WAIT_FOR },
	};

	(void)state;
	for (unsigned int minor = OLDEST; minor <= WORLD_13T; minor++) {
		for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
			const struct python_task *child;
			struct python_dump d;
			uint64_t tasks[2];

			world_pair(&world, minor, tasks);
			world_callback(
				&world, tasks[1],
				make_waiting(&world, cases[i].qualname, cases[i].between, tasks[0]),
				i % 2);
			if (!(i % 2))
				world_word(&world, tasks[1] + world.at.future.callback, 0);
			assert_int_equal(dump(&world, &d), 0);
			child = task_at(&d, tasks[1]);
			assert_int_equal(child->n_waiters, 1);
			assert_int_equal(d.tasks.waiters.items[child->first_waiter].task, tasks[0]);
			assert_int_equal(d.tasks.waiters.items[child->first_waiter].via,
					 cases[i].via);
			python_dump_deinit(&d);
		}
	}
}

static void other_callbacks_are_nobody_who_waits(void **state)
{
	static const char *const names[] = { "app.<locals>.callback", "done_callback", "",
					     "shield.<locals>._outer_done_callback" };
	const struct python_task *child;
	struct python_dump d;
	uint64_t tasks[2];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		world_pair(&world, 11, tasks);
		world_callback(&world, tasks[1],
			       make_waiting(&world, names[i], "_asyncio.Future", tasks[0]), true);
		assert_int_equal(dump(&world, &d), 0);
		child = task_at(&d, tasks[1]);
		assert_int_equal(child->n_waiters, 0);
		python_dump_deinit(&d);
	}
}

/* What the interpreter wrote down counts, not what callbacks would mean. */
static void awaited_by_is_believed_from_314_on(void **state)
{
	(void)state;
	for (unsigned int minor = 14; minor <= NEWEST; minor++) {
		for (int is_set = 0; is_set < 2; is_set++) {
			const struct python_task *child;
			struct python_dump d;
			uint64_t tasks[2];

			world_pair(&world, minor, tasks);
			if (!world.at.future.awaited_by)
				continue;
			world_word(&world, tasks[1] + world.at.future.callback, 0);
			if (is_set)
				world_word(&world, tasks[1] + world.at.future.awaited_by,
					   world_set(&world, 1, tasks));
			world_put(&world, tasks[1] + world.at.future.awaited_by_is_set,
				  (uint64_t)is_set, 1);
			assert_int_equal(dump(&world, &d), 0);
			child = task_at(&d, tasks[1]);
			assert_int_equal(child->n_waiters, 1);
			assert_int_equal(d.tasks.waiters.items[child->first_waiter].task, tasks[0]);
			python_dump_deinit(&d);
		}
	}
}

static void circles_end(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		struct python_dump d;
		uint64_t tasks[2], coro, inner, future;

		/* A coroutine that awaits itself by another one. */
		world_pair(&world, minor, tasks);
		inner = world_coroutine(&world, "inner", WORLD_ADDR);
		coro = world_coroutine(&world, "outer", inner);
		for (uint64_t at = inner; at < coro; at += 8)
			if (!memcmp(world.made + (at - WORLD_ADDR), &(uint64_t){ WORLD_ADDR }, 8))
				world_word(&world, at, coro);
		if (!world.at.gen.iframe) /* its frame is a place of its own, in between */
			assert_true(inner < coro);
		world_word(&world, tasks[0] + world.at.task.coro, coro);
		/* Futures that finish one another, and tasks that wait for each other. */
		future = world_future(&world, "_GatheringFuture");
		world_callback(&world, future,
			       world_function(&world, "gather.<locals>._done_callback", future),
			       true);
		world_callback(&world, tasks[1],
			       world_function(&world, "gather.<locals>._done_callback", future),
			       false);
		world_callback(&world, tasks[0], world_wakeup(&world, tasks[1]), true);
		/* Lists of threads and of interpreters without an end. */
		world_word(&world, world.thread + world.l.thread.next, world.thread);
		world_word(&world, world.interp + world.l.interp.next, world.interp);
		/* A list of tasks that never comes back to where it began. */
		if (world.at.task.node)
			world_word(&world, tasks[1] + world.at.task.node,
				   tasks[1] + world.at.task.node);
		assert_int_equal(dump(&world, &d), 0);
		assert_int_equal(d.tasks.n, 2);
		assert_true(task_at(&d, tasks[0])->is_cut);
		assert_int_equal(d.threads.n_threads, 1);
		assert_int_equal(d.threads.n_interps, 1);
		python_dump_deinit(&d);
	}
}

static void tasks_that_keep_changing_are_counted_and_left_out(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		struct python_dump d;
		uint64_t tasks[2], coro;

		world_pair(&world, minor, tasks);
		coro = world_coroutine(&world, "busy", WORLD_ADDR);
		world_word(&world, tasks[1] + world.at.task.coro, coro);
		world.moving = world_frame(&world, coro) + world.l.frame.instr;
		world.m.ops = &world_moving_ops;
		assert_int_equal(dump(&world, &d), 0);
		assert_int_equal(d.tasks.n, 1);
		assert_int_equal(d.tasks.tasks[0].addr, tasks[0]);
		assert_int_equal(d.tasks.n_changed, 1);
		python_dump_deinit(&d);
	}
}

static void interpreters_that_were_not_started_are_malformed(void **state)
{
	struct python_dump d;

	(void)state;
	world_init(&world, 11);
	world_word(&world, WORLD_ADDR + world.l.runtime.interpreters_head, 0);
	assert_int_equal(dump(&world, &d), -EBADMSG);
	python_dump_deinit(&d);
}

static void unknown_builds_are_refused(void **state)
{
	struct python_heap_layout at;
	struct python_layout l = { .version = PYTHON_VERSION(3u, 6u, 15u) };

	(void)state;
	assert_int_equal(python_heap_layout_of(&l, &at), -ENOTSUP);
	l.version = PYTHON_VERSION(3u, 16u, 0u);
	assert_int_equal(python_heap_layout_of(&l, &at), -ENOTSUP);
}

static void what_asyncio_says_of_itself_is_taken(void **state)
{
	static const uint64_t words[] = { 168,	  136,	 96,  108, 109, 128, 152,
					  999999, 10888, 936, 864, 872, 880 };
	static const size_t bad[] = { 1, 5, 8, 10, 12 };
	struct python_layout l = { .version = PYTHON_VERSION(3u, 14u, 0u), .object.type = 8 };
	struct python_heap_layout at, before;

	(void)state;
	python_heap_layout_of(&l, &at);
	before = at;
	assert_int_equal(python_heap_layout_learn(&at, words, sizeof(words)), 0);
	assert_int_equal(at.interp.tasks, 10888);
	before.interp.tasks = 10888;
	assert_memory_equal(&at, &before, sizeof(at));
	for (size_t i = 0; i < sizeof(words); i++)
		assert_int_equal(python_heap_layout_learn(&at, words, i), -EBADMSG);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		uint64_t wrong[13];

		memcpy(wrong, words, sizeof(words));
		wrong[bad[i]] = 1000000;
		assert_int_equal(python_heap_layout_learn(&at, wrong, sizeof(wrong)), -EBADMSG);
		wrong[bad[i]] = 8;
		assert_int_equal(python_heap_layout_learn(&at, wrong, sizeof(wrong)), -EBADMSG);
	}
	assert_memory_equal(&at, &before, sizeof(at));
}

static void dump_damaged(size_t at, uint8_t flip)
{
	uint8_t *copy = malloc(world.len);
	struct python_dump d;

	memcpy(copy, world.made, world.len);
	copy[at] ^= flip;
	world.bytes = copy;
	dump(&world, &d);
	python_dump_deinit(&d);
	free(copy);
}

/* Every bit of what is not 0, and some of what is: a whole dump of it all takes its time. */
static void survives_mutation(void **state)
{
	static const unsigned int minors[] = { 9, 12 };

	(void)state;
	for (size_t i = 0; i < sizeof(minors) / sizeof(*minors); i++) {
		uint64_t tasks[2];
		size_t len;

		world_pair(&world, minors[i], tasks);
		world_callback(&world, tasks[1],
			       make_waiting(&world, "_release_waiter", "_asyncio.Future", tasks[0]),
			       false);
		world_stack(&world, world_coroutine(&world, "inner", WORLD_ADDR),
			    world_coroutine(&world, "outer", WORLD_ADDR));
		for (size_t at = 0; at < world.len; at++)
			for (int bit = 0; bit < 8; bit++)
				if (world.made[at] || (at % 8 == 0 && bit == 3))
					dump_damaged(at, (uint8_t)(1 << bit));
		len = world.len;
		for (size_t cut = 0; cut < len; cut += 8) {
			world.len = cut ? cut : 1;
			dump_damaged(0, 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tasks_have_their_chains_in_every_version),
		cmocka_unit_test(a_task_that_did_not_begin_says_so),
		cmocka_unit_test(a_task_whose_future_is_done_is_about_to_go_on),
		cmocka_unit_test(a_task_that_was_freed_is_not_there),
		cmocka_unit_test(a_task_that_contradicts_itself_is_left_out),
		cmocka_unit_test(a_task_that_ended_is_done),
		cmocka_unit_test(callbacks_tell_who_waits_and_how),
		cmocka_unit_test(other_callbacks_are_nobody_who_waits),
		cmocka_unit_test(awaited_by_is_believed_from_314_on),
		cmocka_unit_test(circles_end),
		cmocka_unit_test(tasks_that_keep_changing_are_counted_and_left_out),
		cmocka_unit_test(interpreters_that_were_not_started_are_malformed),
		cmocka_unit_test(unknown_builds_are_refused),
		cmocka_unit_test(what_asyncio_says_of_itself_is_taken),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
