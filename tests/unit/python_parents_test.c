// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/profile.h"
#include "runtimes/python_parents.h"
#include "tests/unit/python_part.h"
#include "tests/unit/python_world.h"

#define OLDEST 7
#define NEWEST 15

static struct world world; /* made anew by every test */

static uint64_t word_at(uint64_t addr)
{
	uint64_t word;

	memcpy(&word, world.made + (addr - WORLD_ADDR), sizeof(word));
	return word;
}

/* What the kernel half says of a sample of the task at this moment. */
static struct wire_python_task sample_of(uint64_t task)
{
	uint64_t name = world.at.task.name ? word_at(task + world.at.task.name) : 0;
	struct wire_python_task t = {
		.addr = name, .len = 64, .task = task, .coro = word_at(task + world.at.task.coro)
	};

	if (name)
		memcpy(t.name, world.made + (name - WORLD_ADDR), t.len);
	for (size_t i = 0; i < WIRE_TASK_CALLBACKS; i++)
		t.callbacks[i] = word_at(task + world.at.future.callback + 8 * i);
	return t;
}

static struct python_parents_found find(struct python_parents *pp, struct profile *p,
					const struct wire_python_task *t, uint64_t now_ns)
{
	const struct python_parents_source source = { &world.m, fresh_part(), &world.l, &world.at };

	return python_parents_get(pp, &source, t, now_ns, p);
}

static const char *name_of(const struct profile *p, uint32_t location)
{
	size_t n;
	const struct line *line = profile_get_lines(p, location, &n);

	return profile_get_string(p, profile_get_function(p, line->function)->name);
}

static void the_parent_is_found_in_every_version(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		struct python_parents *pp = python_parents_new();
		struct profile *p = profile_new();
		struct python_parents_found found;
		struct wire_python_task t;
		uint64_t tasks[2];

		world_pair(&world, minor, tasks);
		t = sample_of(tasks[1]);
		found = find(pp, p, &t, 1);
		assert_false(found.is_lost);
		assert_int_equal(found.n, 2);
		assert_string_equal(name_of(p, found.locations[0]), "[await]");
		assert_string_equal(name_of(p, found.locations[1]), "main");
		t = sample_of(tasks[0]);
		found = find(pp, p, &t, 1);
		assert_false(found.is_lost);
		assert_int_equal(found.n, 0);
		profile_free(p);
		python_parents_free(pp);
	}
}

/* Another task at the same address, or one that somebody else waits for by now. */
static void what_changed_since_the_sample_is_not_taken_for_it(void **state)
{
	enum { COROUTINE, NAME, CALLBACK, CALLBACKS, TYPE, N_CHANGES };

	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		for (int change = 0; change < N_CHANGES; change++) {
			struct python_parents *pp = python_parents_new();
			struct profile *p = profile_new();
			struct python_parents_found found;
			struct wire_python_task t;
			uint64_t tasks[2], at[N_CHANGES];

			world_pair(&world, minor, tasks);
			t = sample_of(tasks[1]);
			at[COROUTINE] = tasks[1] + world.at.task.coro;
			/* A letter of it: the object is where it was. */
			at[NAME] = t.addr ? t.addr + world.l.str.ascii_header : at[COROUTINE];
			at[CALLBACK] = tasks[1] + world.at.future.callback;
			at[CALLBACKS] = tasks[1] + world.at.future.callbacks;
			at[TYPE] = tasks[1] + world.l.object.type;
			world_put(&world, at[change], 1, 1);
			found = find(pp, p, &t, 1);
			assert_true(found.is_lost);
			assert_int_equal(found.n, 1);
			assert_string_equal(name_of(p, found.locations[0]),
					    "[broken: who waits for it changed meanwhile]");
			profile_free(p);
			python_parents_free(pp);
		}
	}
}

static void what_is_known_holds_for_a_moment(void **state)
{
	struct python_parents *pp = python_parents_new();
	struct profile *p = profile_new();
	struct wire_python_task t;
	uint64_t tasks[2];

	(void)state;
	world_pair(&world, 12, tasks);
	t = sample_of(tasks[1]);
	assert_false(find(pp, p, &t, NS_PER_S).is_lost);
	world_word(&world, tasks[1] + world.at.task.coro, 0);
	assert_false(find(pp, p, &t, NS_PER_S + 10000000).is_lost);
	assert_true(find(pp, p, &t, NS_PER_S + 100000000).is_lost);
	/* Another task is asked for anew at once. */
	world_pair(&world, 12, tasks);
	assert_false(find(pp, p, &t, 2 * NS_PER_S).is_lost);
	world_word(&world, tasks[1] + world.at.task.coro, 0);
	t.callbacks[0]++;
	assert_true(find(pp, p, &t, 2 * NS_PER_S).is_lost);
	assert_true(python_parents_memory(pp) > 0);
	profile_free(p);
	python_parents_free(pp);
}

/* Bits of everything that is read. */
static void a_lie_in_memory_does_no_harm(void **state)
{
	static const unsigned int minors[] = { 7, 10, 12, 15 };

	(void)state;
	for (size_t i = 0; i < sizeof(minors) / sizeof(*minors); i++) {
		struct python_parents *pp = python_parents_new();
		struct profile *p = profile_new();
		struct wire_python_task t;
		uint64_t tasks[2], now = 0;

		world_pair(&world, minors[i], tasks);
		t = sample_of(tasks[1]);
		for (uint64_t bit = 0; bit < 8 * (world.next - world.thread); bit++) {
			uint8_t *byte = &world.made[world.thread - WORLD_ADDR + bit / 8];

			*byte ^= (uint8_t)(1 << bit % 8);
			find(pp, p, &t, now += NS_PER_S);
			*byte ^= (uint8_t)(1 << bit % 8);
		}
		assert_false(find(pp, p, &t, now + NS_PER_S).is_lost);
		t.len = UINT32_MAX;
		assert_true(minors[i] == 7 || find(pp, p, &t, now + 2 * NS_PER_S).is_lost);
		profile_free(p);
		python_parents_free(pp);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_parent_is_found_in_every_version),
		cmocka_unit_test(what_changed_since_the_sample_is_not_taken_for_it),
		cmocka_unit_test(what_is_known_holds_for_a_moment),
		cmocka_unit_test(a_lie_in_memory_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
