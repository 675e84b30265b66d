// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/profile.h"
#include "runtimes/python_logical.h"

#define ADDR 0x1000
#define MAX_TASKS 8

/* A dump made by hand: task i is at ADDR + i and has one place, line i + 1. */
struct made {
	struct python_dump d;
	struct python_task tasks[MAX_TASKS];
	struct python_place places[2 * MAX_TASKS];
	struct python_waiter waiters[2 * MAX_TASKS];
};

static void make(struct made *m, size_t n)
{
	*m = (struct made){ 0 };
	m->d.functions = python_functions_new();
	m->d.tasks.tasks = m->tasks;
	m->d.tasks.places = m->places;
	m->d.tasks.waiters.items = m->waiters;
	m->d.tasks.n = n;
	for (size_t i = 0; i < n; i++) {
		m->places[i].line = (int)i + 1;
		m->tasks[i] = (struct python_task){ .addr = ADDR + i,
						    .state = PYTHON_TASK_WAITING,
						    .first_place = (uint32_t)i,
						    .n_places = 1,
						    .first_waiter = 2 * (uint32_t)i };
	}
}

static void wait_for(struct made *m, size_t parent, size_t child, enum python_via via)
{
	struct python_task *t = &m->tasks[child];

	m->waiters[t->first_waiter + t->n_waiters++] = (struct python_waiter){ ADDR + parent, via };
	if (parent < m->d.tasks.n && via == PYTHON_VIA_AWAIT)
		m->tasks[parent].awaits = t->addr;
}

static void unmake(struct made *m)
{
	python_functions_free(m->d.functions);
}

/* The stack of a task as text, its root first: lines, and names of marks. */
static const char *stack_of(const struct made *m, size_t task)
{
	static char text[512];
	static uint32_t locations[PYTHON_LOGICAL_MAX];
	struct python_logical *l = python_logical_new(&m->d);
	struct profile *p = profile_new();
	size_t n = python_logical_locations(l, python_logical_id(l, task), p, locations);
	size_t len = 0;

	*text = '\0';
	for (; n > 0; n--) {
		struct location location = profile_get_location(p, locations[n - 1]);
		size_t n_lines;
		const struct line *line = profile_get_lines(p, locations[n - 1], &n_lines);
		const char *name =
			profile_get_string(p, profile_get_function(p, line->function)->name);

		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s", len ? " " : "");
		if (location.kind == FRAME_MARK)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s", name);
		else
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%u", line->line);
	}
	profile_free(p);
	python_logical_free(l);
	return text;
}

static enum python_logical_end end_of(const struct made *m, size_t task)
{
	struct python_logical *l = python_logical_new(&m->d);
	enum python_logical_end end = python_logical_end(l, python_logical_id(l, task));

	python_logical_free(l);
	return end;
}

static void a_stack_goes_on_into_what_waits_for_it(void **state)
{
	struct made m;

	(void)state;
	make(&m, 3);
	wait_for(&m, 0, 1, PYTHON_VIA_GATHER);
	wait_for(&m, 1, 2, PYTHON_VIA_AWAIT);
	m.tasks[2].n_places = 2;
	m.tasks[2].first_place = 3;
	m.places[3].line = 30;
	m.places[4].line = 31;
	assert_string_equal(stack_of(&m, 0), "1");
	assert_string_equal(stack_of(&m, 1), "1 [gather] 2");
	assert_string_equal(stack_of(&m, 2), "1 [gather] 2 [await] 30 31");
	assert_int_equal(end_of(&m, 2), PYTHON_LOGICAL_WHOLE);
	unmake(&m);
}

static void equal_stacks_have_the_same_number(void **state)
{
	struct python_logical *l;
	struct made m;

	(void)state;
	make(&m, 4);
	m.places[2] = m.places[3] = m.places[1];
	wait_for(&m, 0, 1, PYTHON_VIA_GATHER);
	wait_for(&m, 0, 2, PYTHON_VIA_GATHER);
	wait_for(&m, 0, 3, PYTHON_VIA_WAIT);
	l = python_logical_new(&m.d);
	assert_int_equal(python_logical_id(l, 1), python_logical_id(l, 2));
	assert_int_not_equal(python_logical_id(l, 1), python_logical_id(l, 3));
	assert_int_equal(python_logical_id(l, 4), 0);
	python_logical_free(l);
	unmake(&m);
}

/* Which of them it is waiting for cannot be one of them; unless nobody could tell them apart. */
static void several_who_wait_are_one_only_when_they_are_alike(void **state)
{
	struct made m;

	(void)state;
	make(&m, 3);
	wait_for(&m, 0, 2, PYTHON_VIA_AWAIT);
	wait_for(&m, 1, 2, PYTHON_VIA_AWAIT);
	assert_string_equal(stack_of(&m, 2), "[several tasks wait for it] 3");
	assert_int_equal(end_of(&m, 2), PYTHON_LOGICAL_SEVERAL);
	m.places[1] = m.places[0];
	assert_string_equal(stack_of(&m, 2), "1 [await] 3");
	unmake(&m);
}

static void a_parent_that_is_not_known_is_marked(void **state)
{
	struct made m;

	(void)state;
	make(&m, 2);
	wait_for(&m, 7, 1, PYTHON_VIA_GATHER); /* it was left out */
	assert_string_equal(stack_of(&m, 1), "[broken: who waits for it changed meanwhile] 2");
	assert_int_equal(end_of(&m, 1), PYTHON_LOGICAL_CHANGED);
	/* One that is known, besides, does not make it known. */
	wait_for(&m, 0, 1, PYTHON_VIA_AWAIT);
	assert_int_equal(end_of(&m, 1), PYTHON_LOGICAL_CHANGED);
	unmake(&m);
}

/* It was read when it waited for something else. */
static void a_parent_read_at_another_time_is_none(void **state)
{
	static const struct {
		uint64_t awaits;
		enum python_task_state state;
		const char *stack;
	} cases[] = {
		{ ADDR + 1, PYTHON_TASK_WAITING, "1 [await] 2" },
		{ ADDR + 5, PYTHON_TASK_WAITING, "[broken: who waits for it changed meanwhile] 2" },
		{ 0, PYTHON_TASK_RUNNING, "[broken: who waits for it changed meanwhile] 2" },
		{ 0, PYTHON_TASK_DONE, "2" }, /* it waits no more */
	};
	struct made m;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		make(&m, 2);
		wait_for(&m, 0, 1, PYTHON_VIA_AWAIT);
		m.tasks[0].awaits = cases[i].awaits;
		m.tasks[0].state = (uint8_t)cases[i].state;
		assert_string_equal(stack_of(&m, 1), cases[i].stack);
		unmake(&m);
	}
}

/* Read at different times, they go together when both are still so at the end. */
static void a_parent_read_later_counts_while_neither_moves(void **state)
{
	static const struct {
		uint32_t batch;
		bool has_parent_moved, has_child_moved;
		enum python_logical_end end;
	} cases[] = {
		{ 1, false, false, PYTHON_LOGICAL_WHOLE },
		{ 2, false, false, PYTHON_LOGICAL_WHOLE },
		{ 2, true, false, PYTHON_LOGICAL_CHANGED },
		{ 2, false, true, PYTHON_LOGICAL_CHANGED },
		{ 1, true, true, PYTHON_LOGICAL_WHOLE }, /* there was a moment with both */
	};
	struct made m;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		make(&m, 2);
		wait_for(&m, 0, 1, PYTHON_VIA_GATHER);
		m.tasks[0].batch = 1;
		m.tasks[1].batch = cases[i].batch;
		m.tasks[0].has_moved = cases[i].has_parent_moved;
		m.tasks[1].has_moved = cases[i].has_child_moved;
		assert_int_equal(end_of(&m, 1), cases[i].end);
		unmake(&m);
	}
}

static void tasks_in_a_circle_end(void **state)
{
	struct made m;

	(void)state;
	make(&m, 3);
	wait_for(&m, 1, 0, PYTHON_VIA_AWAIT);
	wait_for(&m, 0, 1, PYTHON_VIA_AWAIT);
	wait_for(&m, 1, 2, PYTHON_VIA_GATHER);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(end_of(&m, i), PYTHON_LOGICAL_CIRCLE);
	unmake(&m);
	make(&m, 1);
	wait_for(&m, 0, 0, PYTHON_VIA_AWAIT);
	assert_string_equal(stack_of(&m, 0), "[broken: tasks wait in a circle] 1");
	unmake(&m);
}

static void a_chain_that_was_cut_says_so(void **state)
{
	struct made m;

	(void)state;
	make(&m, 2);
	wait_for(&m, 0, 1, PYTHON_VIA_GATHER);
	m.tasks[0].is_cut = true;
	m.tasks[1].n_places = 0;
	assert_string_equal(stack_of(&m, 1), "1 [broken: awaits in a circle, or too deep] "
					     "[gather] [no Python coroutine]");
	assert_int_equal(end_of(&m, 1), PYTHON_LOGICAL_CUT);
	unmake(&m);
}

/* Each waits for the one before it. */
static void as_many_tasks_as_there_may_be_wait_for_one_another(void **state)
{
	static uint32_t locations[PYTHON_LOGICAL_MAX];
	size_t n = 100000;
	struct python_task *tasks = calloc(n, sizeof(*tasks));
	struct python_waiter *waiters = calloc(n, sizeof(*waiters));
	struct python_place place = { .line = 1 };
	struct python_dump d = { .functions = python_functions_new() };
	struct profile *p = profile_new();
	struct python_logical *l;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		tasks[i] = (struct python_task){ .addr = ADDR + i,
						 .state = PYTHON_TASK_WAITING,
						 .awaits = i ? ADDR + i - 1 : 0,
						 .n_places = 1,
						 .first_waiter = (uint32_t)i,
						 .n_waiters = i + 1 < n };
		waiters[i] = (struct python_waiter){ ADDR + i + 1, PYTHON_VIA_AWAIT };
	}
	d.tasks = (struct python_tasks){ .tasks = tasks, .places = &place, .n = n };
	d.tasks.waiters.items = waiters;
	l = python_logical_new(&d);
	assert_non_null(l);
	assert_int_equal(python_logical_locations(l, python_logical_id(l, 0), p, locations),
			 PYTHON_LOGICAL_MAX);
	python_logical_free(l);
	profile_free(p);
	python_functions_free(d.functions);
	free(tasks);
	free(waiters);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stack_goes_on_into_what_waits_for_it),
		cmocka_unit_test(equal_stacks_have_the_same_number),
		cmocka_unit_test(several_who_wait_are_one_only_when_they_are_alike),
		cmocka_unit_test(a_parent_that_is_not_known_is_marked),
		cmocka_unit_test(a_parent_read_at_another_time_is_none),
		cmocka_unit_test(a_parent_read_later_counts_while_neither_moves),
		cmocka_unit_test(tasks_in_a_circle_end),
		cmocka_unit_test(a_chain_that_was_cut_says_so),
		cmocka_unit_test(as_many_tasks_as_there_may_be_wait_for_one_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
