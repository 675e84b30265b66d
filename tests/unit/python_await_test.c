// SPDX-License-Identifier: Apache-2.0
/* What waits for the task of a sample, as the kernel half finds it, in memory made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/python_kernel_half.h"

#define OLDEST 7
#define NEWEST WORLD_15T
#define STACK 3 /* frames that are there already */

#include "unwinders/python_await.bpf.h"

/* The entries behind the stack's as a text: "[via] name name". "?": that is unsure. */
static const char *parents_of(const struct world *w, uint64_t task)
{
	static const char *const vias[] = {
		"await", "gather", "wait", "wait_for", "shield", "group"
	};
	static char text[2048];
	uint64_t n;
	size_t len = 0;

	tell(w);
	n = python_await_all(task, STACK);
	if (!n)
		return "?";
	*text = 0;
	for (uint64_t i = STACK; i < n; i++) {
		const struct wire_python_frame *f = &scratch.frames[i];
		uint64_t name = 0;

		if (f->addr & WIRE_PYTHON_ANCHOR) {
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s[%s]",
						len ? " " : "", vias[f->position]);
			continue;
		}
		assert_int_equal(read_user(f->addr + w->l.code.name, &name, 8), 0);
		len += (size_t)snprintf(text + len, sizeof(text) - len, " %s",
					(const char *)w->made +
						(name + w->l.str.ascii_header - WORLD_ADDR));
		assert_true(len < sizeof(text));
	}
	return text;
}

/* A task that is suspended in `name`, for which something is to wait. */
static uint64_t make_task(struct world *w, const char *name)
{
	return world_task(w, world_coroutine(w, name, 0), 0, name);
}

/* A task that waits, suspended in `name`, then in `inner`. */
static uint64_t make_waiting(struct world *w, const char *name, const char *inner, uint64_t future)
{
	uint64_t coro = world_coroutine(w, inner, world_iter(w, future));

	return world_task(w, world_coroutine(w, name, coro), future, name);
}

static void says(struct world *w, uint64_t child, uint64_t parent)
{
	if (w->at.future.awaited_by)
		world_word(w, child + w->at.future.awaited_by, parent);
}

static void the_parent_is_found_in_every_version(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		uint64_t tasks[2];

		world_pair(&world, minor, tasks);
		assert_string_equal(parents_of(&world, tasks[1]), "[await] main");
		assert_string_equal(parents_of(&world, tasks[0]), "");
	}
}

static void futures_lead_to_who_waits(void **state)
{
	static const struct {
		const char *future, *qualname, *said;
	} cases[] = {
		{ "_GatheringFuture", "gather.<locals>._done_callback", "[gather] main inner" },
		{ "_GatheringFuture", "_gather.<locals>._done_callback", "[gather] main inner" },
		{ "_asyncio.Future", "gather._done_callback", "" },
		{ "Derived", "gather.<locals>._done_callback", "?" },
		{ "_asyncio.Future", "_wait.<locals>._on_completion", "[wait] main inner" },
		{ "_asyncio.Future", "shield.<locals>._inner_done_callback",
		  "[shield] main inner" },
		{ "_asyncio.Future", "other.<locals>._done_callback", "" },
		{ "_asyncio.Future", "TaskGroup._spawn.<locals>.task_done", "?" },
	};

	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
			bool is_known = cases[i].said[0] == '[';
			uint64_t future, child, parent;

			world_init(&world, minor);
			child = make_task(&world, "child");
			future = world_future(&world, cases[i].future);
			parent = make_waiting(&world, "main", "inner", future);
			world_callback(&world, future, world_wakeup(&world, parent), true);
			world_callback(&world, child,
				       world_function(&world, cases[i].qualname, future), i & 1);
			says(&world, child, is_known ? parent : 0);
			assert_string_equal(parents_of(&world, child), cases[i].said);
		}
	}
}

static void wait_for_of_old_versions_leads_to_who_waits(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= 11; minor++) {
		uint64_t future, child, parent, partial;

		world_init(&world, minor);
		child = make_task(&world, "child");
		future = world_future(&world, "_asyncio.Future");
		parent = make_waiting(&world, "main", "inner", future);
		partial = world_object(&world, "functools.partial", 48);
		world_field(&world, partial, PYTHON_PARTIAL_FUNCTION,
			    world_function(&world, "_release_waiter", 0));
		world_field(&world, partial, PYTHON_PARTIAL_ARGS, world_tuple(&world, 1, &future));
		world_callback(&world, future, world_wakeup(&world, parent), true);
		world_callback(&world, child, partial, true);
		assert_string_equal(parents_of(&world, child), "[wait_for] main inner");
	}
}

static void make_method(struct world *w, uint64_t child, const char *qualname)
{
	uint64_t method = world_object(w, "method", 48);

	world_field(w, method, PYTHON_METHOD_FUNCTION, world_function(w, qualname, 0));
	world_field(w, method, PYTHON_METHOD_SELF, world_object(w, "TaskGroup", 64));
	world_callback(w, child, method, true);
}

static void a_group_leads_to_its_task_where_that_is_written_down(void **state)
{
	(void)state;
	for (unsigned int minor = 11; minor <= NEWEST; minor++) {
		uint64_t future, child, parent;

		world_init(&world, minor);
		child = make_task(&world, "child");
		future = world_future(&world, "_asyncio.Future");
		parent = make_waiting(&world, "main", "inner", future);
		make_method(&world, child, "TaskGroup._on_task_done");
		says(&world, child, parent);
		/* Before, it is an attribute of the group, whose name nobody has seen yet. */
		assert_string_equal(parents_of(&world, child),
				    world.at.future.awaited_by ? "[group] main inner" : "?");
		world_init(&world, minor);
		child = make_task(&world, "child");
		make_method(&world, child, "Other._on_task_done");
		assert_string_equal(parents_of(&world, child), "");
	}
}

static void tasks_in_a_row_are_all_there_nearest_first(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		static const char *const names[] = { "one", "two", "three" };
		uint64_t child, task;

		world_init(&world, minor);
		child = task = make_task(&world, "child");
		for (size_t i = 0; i < 3; i++) {
			uint64_t parent = make_waiting(&world, names[i], "inner", task);

			world_callback(&world, task, world_wakeup(&world, parent), true);
			says(&world, task, parent);
			task = parent;
		}
		assert_string_equal(parents_of(&world, child),
				    "[await] one inner [await] two inner [await] three inner");
	}
}

enum odd {
	TWO_WAIT,
	A_DERIVED_FUTURE_WAITS_TOO,
	OF_A_DERIVED_CLASS,
	IS_DONE,
	IN_ANOTHER_LOOP,
	WAITS_FOR_ITSELF,
	CORO_IS_NONE,
	OTHER_IS_SAID,
	A_SET_IS_SAID,
	N_ODD
};

static void make_odd(struct world *w, enum odd odd, uint64_t child, uint64_t parent)
{
	uint64_t other = make_task(w, "other"), future;

	switch (odd) {
	case TWO_WAIT:
		world_callback(w, child, world_wakeup(w, other), false);
		break;
	case A_DERIVED_FUTURE_WAITS_TOO:
		future = world_future(w, "Derived");
		world_callback(w, child, world_function(w, "_wait.<locals>._on_completion", future),
			       false);
		break;
	case OF_A_DERIVED_CLASS:
		world_word(w, parent + w->l.object.type, world_type_based(w, "Derived", 0));
		break;
	case IS_DONE:
		world_put(w, parent + w->at.future.state, 2, 4);
		break;
	case IN_ANOTHER_LOOP:
		world_field(w, parent, PYTHON_FUTURE_LOOP, WORLD_ADDR + 16);
		break;
	case WAITS_FOR_ITSELF:
		world_callback(w, child, world_wakeup(w, child), true);
		says(w, child, child);
		break;
	case CORO_IS_NONE:
		world_word(w, parent + w->at.task.coro, other);
		break;
	case OTHER_IS_SAID:
		world_word(w, child + w->at.future.awaited_by, other);
		break;
	case A_SET_IS_SAID:
		world_put(w, child + w->at.future.awaited_by_is_set, 1, 1);
		break;
	case N_ODD:
		break;
	}
}

static void what_is_not_plain_is_left_to_user_space(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		for (int odd = 0; odd < N_ODD; odd++) {
			uint64_t tasks[2];

			world_pair(&world, minor, tasks);
			if (!world.at.future.awaited_by && odd >= OTHER_IS_SAID)
				continue;
			make_odd(&world, (enum odd)odd, tasks[1], tasks[0]);
			if (strcmp(parents_of(&world, tasks[1]), "?") != 0)
				fail_msg("3.%u: case %d", minor, odd);
		}
	}
}

/* The chain of one task, and of many. */
static void chains_have_a_bound(void **state)
{
	uint64_t child, coro, parent;

	(void)state;
	for (size_t n = PYTHON_AWAIT_FRAMES - 1; n <= PYTHON_AWAIT_FRAMES; n++) {
		world_init(&world, 12);
		child = make_task(&world, "child");
		coro = world_coroutine(&world, "f", world_iter(&world, child));
		for (size_t i = 0; i < n; i++)
			coro = world_coroutine(&world, "f", coro);
		parent = world_task(&world, coro, child, "parent");
		world_callback(&world, child, world_wakeup(&world, parent), true);
		assert_int_equal(!strcmp(parents_of(&world, child), "?"), n == PYTHON_AWAIT_FRAMES);
	}
}

/* Each of them within its own bounds: the work has one besides. */
static void the_work_of_one_search_has_a_bound(void **state)
{
	uint64_t child, task;

	(void)state;
	world_init(&world, 12);
	child = task = make_task(&world, "child");
	for (size_t i = 0; i < PYTHON_AWAIT_TASKS - 1; i++) {
		uint64_t parent = make_waiting(&world, "f", "f", task);

		world_callback(&world, task, world_wakeup(&world, parent), true);
		task = parent;
	}
	assert_string_not_equal(parents_of(&world, child), "?");
	assert_true(scratch.awaits.n_things < PYTHON_AWAIT_THINGS);
	tell(&world);
	scratch.awaits.n_things = PYTHON_AWAIT_THINGS;
	assert_int_equal(python_thing_of(child), PYTHON_THING_OTHER);
	assert_true(scratch.awaits.is_unsure);
}

static void a_generator_among_them_is_left_to_user_space(void **state)
{
	uint64_t child, parent, generator;

	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		world_init(&world, minor);
		child = make_task(&world, "child");
		generator = world_coroutine(&world, "old", world_iter(&world, child));
		world_word(&world, generator + world.l.object.type,
			   world_type_based(&world, "generator", 0));
		parent = world_task(&world, world_coroutine(&world, "main", generator), child, "p");
		world_callback(&world, child, world_wakeup(&world, parent), true);
		says(&world, child, parent);
		assert_string_equal(parents_of(&world, child), "?");
	}
}

/* What anext() returns for a default, around what an async generator's __anext__() does. */
static void wrappers_lead_to_what_they_are_around(void **state)
{
	static const char *const around[] = { "async_generator_asend", "anext_awaitable" };

	(void)state;
	for (unsigned int minor = 10; minor <= NEWEST; minor++) {
		uint64_t child, object, parent;

		world_init(&world, minor);
		child = make_task(&world, "child");
		object = world_coroutine(&world, "producer", world_iter(&world, child));
		world_word(&world, object + world.l.object.type,
			   world_type_based(&world, "async_generator", 0));
		for (size_t i = 0; i < 2; i++) {
			uint64_t wrapper = world_object(&world, around[i], 32);

			world_field(&world, wrapper, PYTHON_FIRST_FIELD, object);
			object = wrapper;
		}
		parent = world_task(&world, world_coroutine(&world, "main", object), child, "p");
		world_callback(&world, child, world_wakeup(&world, parent), true);
		says(&world, child, parent);
		assert_string_equal(parents_of(&world, child), "[await] main producer");
	}
}

static void a_callback_that_cannot_be_read_may_be_anything(void **state)
{
	static const uint64_t nowhere = WORLD_ADDR - 4096;

	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		uint64_t child, function, method, list;

		world_init(&world, minor);
		child = make_task(&world, "child");
		for (int is_first = 0; is_first < 2; is_first++) {
			world_callback(&world, child, nowhere, is_first);
			assert_string_equal(parents_of(&world, child), "?");
		}
		world_word(&world, child + world.at.future.callbacks, 0);
		function = world_function(&world, "other", 0);
		world_callback(&world, child, function, true);
		assert_string_equal(parents_of(&world, child), "");
		world_word(&world, function + world.at.function.qualname, nowhere);
		assert_string_equal(parents_of(&world, child), "?");
		method = world_object(&world, "method", 48);
		world_field(&world, method, PYTHON_METHOD_FUNCTION, nowhere);
		world_callback(&world, child, method, true);
		assert_string_equal(parents_of(&world, child), "?");
		world_callback(&world, child, 0, true);
		list = world_list(&world, 1, &nowhere);
		world_word(&world, child + world.at.future.callbacks, list);
		assert_string_equal(parents_of(&world, child), "?");
	}
}

static void a_callback_of_a_derived_class_may_be_asyncios(void **state)
{
	static const struct {
		const char *name, *base, *said;
	} cases[] = {
		{ "Plain", "object", "" },
		{ "Partial", "functools.partial", "?" },
		{ "Further", "Partial", "?" },
	};

	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
			uint64_t child, object, base;

			world_init(&world, minor);
			child = make_task(&world, "child");
			base = world_type_based(&world, cases[i].base, 0);
			world_type_based(&world, cases[i].name, base);
			object = world_object(&world, cases[i].name, 48);
			world_callback(&world, child, object, true);
			assert_string_equal(parents_of(&world, child), cases[i].said);
		}
	}
}

/* Any byte may be any other: nothing is written outside, and every loop ends. */
static void survives_mutation(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= 15; minor += 4) {
		uint64_t tasks[2];

		world_pair(&world, minor, tasks);
		tell(&world);
		for (size_t i = 0; i < 8 * world.len; i++) {
			world.made[i / 8] ^= (uint8_t)(1 << i % 8);
			python_await_all(tasks[1], STACK);
			world.made[i / 8] ^= (uint8_t)(1 << i % 8);
		}
		for (size_t len = world.len; len > 0; len--) {
			uint8_t *copy = malloc(len);

			memcpy(copy, world.made, len);
			world.bytes = copy;
			world.len = len;
			python_await_all(tasks[1], STACK);
			free(copy);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_parent_is_found_in_every_version),
		cmocka_unit_test(futures_lead_to_who_waits),
		cmocka_unit_test(wait_for_of_old_versions_leads_to_who_waits),
		cmocka_unit_test(a_group_leads_to_its_task_where_that_is_written_down),
		cmocka_unit_test(tasks_in_a_row_are_all_there_nearest_first),
		cmocka_unit_test(what_is_not_plain_is_left_to_user_space),
		cmocka_unit_test(chains_have_a_bound),
		cmocka_unit_test(the_work_of_one_search_has_a_bound),
		cmocka_unit_test(a_generator_among_them_is_left_to_user_space),
		cmocka_unit_test(wrappers_lead_to_what_they_are_around),
		cmocka_unit_test(a_callback_that_cannot_be_read_may_be_anything),
		cmocka_unit_test(a_callback_of_a_derived_class_may_be_asyncios),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
