// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/dump.h"
#include "tests/unit/python_world.h"

#define MINOR 12
#define PID 4711

static struct world world; /* made anew by every test */

static uint64_t sleeping(const char *coroutine, const char *name)
{
	uint64_t future = world_future(&world, "_asyncio.Future");

	return world_task(&world, world_coroutine(&world, coroutine, world_iter(&world, future)),
			  future, name);
}

static uint64_t awaiting(const char *coroutine, const char *name, uint64_t task)
{
	return world_task(&world, world_coroutine(&world, coroutine, world_iter(&world, task)),
			  task, name);
}

/* The world as text, or as JSON; to be freed. */
static char *dumped(bool is_json, bool all)
{
	struct python_dump d;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(python_dump_memory(&world.m, 0, &world.l, WORLD_ADDR, NULL, 0,
					    PYTHON_DUMP_ALL, NULL, &d),
			 0);
	if (is_json)
		dump_print_json(&d, PID, out);
	else
		assert_int_equal(dump_print_text(&d, PID, all, out), 0);
	fclose(out);
	python_dump_deinit(&d);
	return text;
}

/* What follows the line of the tasks' loop. */
static void assert_tasks(bool all, const char *want)
{
	char *text = dumped(false, all), *tasks = strstr(text, "tasks of ");

	assert_non_null(tasks);
	assert_string_equal(strchr(tasks, '\n') + 1, want);
	free(text);
}

static void tasks_hang_from_who_waits_for_them(void **state)
{
	uint64_t tasks[2];

	(void)state;
	world_init(&world, MINOR);
	tasks[0] = sleeping("child", "Task-2");
	tasks[1] = awaiting("main", "Task-1", tasks[0]);
	world_callback(&world, tasks[0], world_wakeup(&world, tasks[1]), true);
	world_tasks(&world, 2, tasks);
	assert_tasks(false, "    Task-1: waiting, task\n"
			    "            main (/srv.py:8)\n"
			    "        Task-2: waiting, future\n"
			    "                child (/srv.py:8)\n"
			    "\n");
}

static void a_task_that_two_wait_for_is_shown_whole_once(void **state)
{
	uint64_t tasks[3];

	(void)state;
	world_init(&world, MINOR);
	tasks[0] = sleeping("child", "Task-3");
	tasks[1] = awaiting("main", "Task-10", tasks[0]);
	tasks[2] = awaiting("main", "Task-2", tasks[0]);
	world_callback(&world, tasks[0], world_wakeup(&world, tasks[1]), true);
	world_callback(&world, tasks[0], world_wakeup(&world, tasks[2]), false);
	world_tasks(&world, 3, tasks);
	assert_tasks(false, "    Task-2: waiting, task\n"
			    "            main (/srv.py:8)\n"
			    "        Task-3: waiting, future\n"
			    "                child (/srv.py:8)\n"
			    "    Task-10: waiting, task\n"
			    "            main (/srv.py:8)\n"
			    "        Task-3: waiting, future (shown above)\n"
			    "\n");
}

static void tasks_that_wait_for_each_other_are_all_shown(void **state)
{
	uint64_t tasks[2];

	(void)state;
	world_init(&world, MINOR);
	tasks[0] = sleeping("one", "Task-1");
	tasks[1] = awaiting("two", "Task-2", tasks[0]);
	world_callback(&world, tasks[0], world_wakeup(&world, tasks[1]), true);
	world_callback(&world, tasks[1], world_wakeup(&world, tasks[0]), true);
	world_tasks(&world, 2, tasks);
	assert_tasks(false, "    Task-1: waiting, future\n"
			    "            one (/srv.py:8)\n"
			    "        Task-2: waiting, task\n"
			    "                two (/srv.py:8)\n"
			    "            Task-1: waiting, future (shown above)\n"
			    "\n");
}

static void equal_tasks_are_shown_once_unless_all_are_wanted(void **state)
{
	static const char *const names[] = { "Task-1", "Task-2", "Task-3", "Task-4" };
	uint64_t tasks[4], coroutine, future;

	(void)state;
	world_init(&world, MINOR);
	future = world_future(&world, "_asyncio.Future");
	coroutine = world_coroutine(&world, "worker", world_iter(&world, future));
	for (size_t i = 0; i < 4; i++)
		tasks[i] = i == 1 ? sleeping("other", names[i])
				  : world_task(&world, coroutine, future, names[i]);
	world_tasks(&world, 4, tasks);
	assert_tasks(false, "    Task-1: waiting, future, and 2 more like it\n"
			    "            worker (/srv.py:8)\n"
			    "    Task-2: waiting, future\n"
			    "            other (/srv.py:8)\n"
			    "\n");
	assert_tasks(true, "    Task-1: waiting, future\n"
			   "            worker (/srv.py:8)\n"
			   "    Task-2: waiting, future\n"
			   "            other (/srv.py:8)\n"
			   "    Task-3: waiting, future\n"
			   "            worker (/srv.py:8)\n"
			   "    Task-4: waiting, future\n"
			   "            worker (/srv.py:8)\n"
			   "\n");
}

static void a_place_right_below_itself_is_counted(void **state)
{
	uint64_t future, coroutine, deep, task;

	(void)state;
	world_init(&world, MINOR);
	future = world_future(&world, "_asyncio.Future");
	coroutine = world_coroutine(&world, "leaf", world_iter(&world, future));
	for (int i = 0; i < 6; i++) {
		deep = world_coroutine(&world, "deep", coroutine);
		/* All of them run the code of the first. */
		if (i)
			world_copy_code(&world, deep, coroutine);
		coroutine = deep;
	}
	task = world_task(&world, coroutine, future, "Task-1");
	world_tasks(&world, 1, &task);
	assert_tasks(false, "    Task-1: waiting, future\n"
			    "            deep (/srv.py:8)\n"
			    "            deep (/srv.py:8)\n"
			    "            deep (/srv.py:8)\n"
			    "            [the same 3 more times]\n"
			    "            leaf (/srv.py:8)\n"
			    "\n");
}

static void text_of_the_target_is_made_safe(void **state)
{
	uint64_t task;
	json_t *root;
	char *text;

	(void)state;
	world_init(&world, MINOR);
	task = sleeping("evil\033[2J\"", "\033]0;name\007");
	world_tasks(&world, 1, &task);
	text = dumped(false, false);
	assert_null(strchr(text, '\033'));
	assert_null(strchr(text, '\007'));
	free(text);
	text = dumped(true, false);
	assert_null(strchr(text, '\033'));
	root = json_loads(text, 0, NULL);
	assert_non_null(root);
	json_decref(root);
	free(text);
}

static void json_says_the_same(void **state)
{
	uint64_t tasks[2];
	json_t *root, *list, *child = NULL, *waiter;
	char *text;

	(void)state;
	world_init(&world, MINOR);
	tasks[0] = sleeping("child", "Task-2");
	tasks[1] = awaiting("main", "Task-1", tasks[0]);
	world_callback(&world, tasks[0], world_wakeup(&world, tasks[1]), true);
	world_tasks(&world, 2, tasks);
	text = dumped(true, false);
	root = json_loads(text, 0, NULL);
	assert_non_null(root);
	assert_int_equal(json_integer_value(json_object_get(root, "pid")), PID);
	list = json_object_get(root, "tasks");
	assert_int_equal(json_array_size(list), 2);
	for (size_t i = 0; i < 2; i++)
		if (!strcmp(json_string_value(json_object_get(json_array_get(list, i), "name")),
			    "Task-2"))
			child = json_array_get(list, i);
	assert_non_null(child);
	waiter = json_array_get(json_object_get(child, "awaited_by"), 0);
	assert_string_equal(json_string_value(json_object_get(waiter, "via")), "await");
	assert_string_equal(json_string_value(json_object_get(child, "state")), "waiting");
	json_decref(root);
	free(text);
}

static void packages_have_short_paths(void **state)
{
	uint64_t task;

	(void)state;
	world_init(&world, MINOR);
	world.file = "/venv/lib/python3.12/site-packages/shop/cart.py";
	task = sleeping("worker", "one");
	world_tasks(&world, 1, &task);
	assert_tasks(false, "    one: waiting, future\n"
			    "            worker (shop/cart.py:8)\n\n");
	assert_tasks(true,
		     "    one: waiting, future\n"
		     "            worker (/venv/lib/python3.12/site-packages/shop/cart.py:8)\n\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tasks_hang_from_who_waits_for_them),
		cmocka_unit_test(a_task_that_two_wait_for_is_shown_whole_once),
		cmocka_unit_test(tasks_that_wait_for_each_other_are_all_shown),
		cmocka_unit_test(equal_tasks_are_shown_once_unless_all_are_wanted),
		cmocka_unit_test(a_place_right_below_itself_is_counted),
		cmocka_unit_test(packages_have_short_paths),
		cmocka_unit_test(text_of_the_target_is_made_safe),
		cmocka_unit_test(json_says_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
