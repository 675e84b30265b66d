// SPDX-License-Identifier: Apache-2.0
/* Tasks and those that wait for them, read while they go on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "core/intern.h"
#include "core/mem_cache.h"
#include "runtimes/python_dump.h"
#include "runtimes/python_families.h"
#include "tests/unit/python_world.h"

#define N 5

/* 1 waits for 2 and 3, 4 for 5; 5 also has a waiter that is not here. */
static struct python_task tasks[N];
static struct python_waiter waiters[] = {
	{ .task = 100 }, { .task = 100 }, { .task = 999 }, { .task = 400 }
};
static struct python_tasks family;

static void begin(void)
{
	static const uint32_t first[N] = { 0, 0, 1, 2, 2 }, n[N] = { 0, 1, 1, 0, 2 };

	for (uint32_t i = 0; i < N; i++)
		tasks[i] = (struct python_task){ .addr = 100 * (i + 1),
						 .batch = 1,
						 .first_waiter = first[i],
						 .n_waiters = n[i] };
	family = (struct python_tasks){ .tasks = tasks, .n = N };
	family.waiters.items = waiters;
	family.waiters.n = sizeof(waiters) / sizeof(*waiters);
}

/* "1 2": the tasks that are apart, as they are to be read. */
static void apart_is(bool only_moved, const char *expected)
{
	struct python_families *f = python_families_new(&family);
	const bool *apart = python_families_apart(f, only_moved);
	size_t n = 0, n_apart = 0;
	uint64_t *addrs = python_families_addrs(f, &n);
	char text[2 * N + 1] = "";

	for (size_t i = 0; i < N; i++)
		n_apart += apart[i];
	assert_int_equal(n, n_apart);
	for (size_t i = 0; i < n; i++) {
		text[2 * i] = (char)('0' + addrs[i] / 100);
		text[2 * i + 1] = i + 1 < n ? ' ' : '\0';
		assert_true(apart[addrs[i] / 100 - 1]);
	}
	assert_string_equal(text, expected);
	free(addrs);
	python_families_free(f);
}

static void tasks_of_one_moment_are_not_apart(void **state)
{
	(void)state;
	begin();
	tasks[0].has_moved = true;
	apart_is(false, "");
	apart_is(true, "");
}

static void child_and_parent_of_two_moments_are(void **state)
{
	(void)state;
	begin();
	tasks[4].batch = 2;
	apart_is(false, "4 5");
	apart_is(true, "");
	tasks[4].has_moved = true;
	apart_is(true, "4 5");
	tasks[4].has_moved = false;
	tasks[3].has_moved = true;
	apart_is(true, "4 5");
	tasks[0].batch = 2;
	apart_is(false, "1 2 3 4 5");
	apart_is(true, "4 5");
	tasks[2].has_moved = true;
	apart_is(true, "1 3 4 5");
}

static void families_lie_side_by_side(void **state)
{
	(void)state;
	begin();
	waiters[0].task = 400; /* 4 waits for 2 */
	tasks[0].batch = tasks[3].batch = 2;
	apart_is(false, "1 3 2 4 5");
	waiters[0].task = 100;
}

/* A world in which two tasks go on while they are read. */
static struct {
	struct world world;
	uint64_t n_reads, at[2], bytes[2]; /* when which byte becomes another one */
	bool is_restless;		   /* the second one with each read from then on */
} going;

static int going_read(struct mem *m, uint64_t addr, void *buf, size_t len)
{
	going.n_reads++;
	for (int i = 0; i < 2; i++)
		if (going.n_reads == going.at[i] ||
		    (i && going.is_restless && going.n_reads > going.at[i]))
			going.world.made[going.bytes[i] - WORLD_ADDR]++;
	return world_read(m, addr, buf, len);
}

static const struct mem_ops going_ops = { .read = going_read, .free = world_free };

static uint64_t instr_of(struct world *w, uint64_t task)
{
	uint64_t coro;

	memcpy(&coro, w->made + (task + w->at.task.coro - WORLD_ADDR), sizeof(coro));
	return world_frame(w, coro) + w->l.frame.instr;
}

/* A task and its child, pair[1], that go on with these reads. */
static void begin_going(unsigned int minor, uint64_t child_at, uint64_t parent_at, uint64_t pair[2])
{
	struct world *w = &going.world;

	world_pair(w, minor, pair);
	going.n_reads = 0;
	going.at[0] = child_at;
	going.at[1] = parent_at;
	going.bytes[0] = instr_of(w, pair[1]);
	going.bytes[1] = instr_of(w, pair[0]);
	w->m.ops = &going_ops;
}

/* Both are there, and go together. How many reads it took. */
static uint64_t read_going(unsigned int minor, uint64_t child_at, uint64_t parent_at)
{
	struct world *w = &going.world;
	struct python_families *f;
	struct python_dump d;
	uint64_t pair[2];

	begin_going(minor, child_at, parent_at, pair);
	assert_int_equal(
		python_dump_memory(&w->m, 0, &w->l, WORLD_ADDR, NULL, 0, PYTHON_DUMP_ALL, NULL, &d),
		0);
	assert_int_equal(d.tasks.n, 2);
	assert_int_equal(d.tasks.n_changed, 0);
	f = python_families_new(&d.tasks);
	for (size_t i = 0; i < 2; i++)
		assert_false(python_families_apart(f, true)[i]);
	python_families_free(f);
	python_dump_deinit(&d);
	return going.n_reads;
}

/* Each of the two goes on once, whenever: it is not for this that they are not known to belong
   together. */
static void families_that_went_on_are_read_again(void **state)
{
	static const unsigned int minors[] = { 8, 11, 14 };

	(void)state;
	for (size_t i = 0; i < sizeof(minors) / sizeof(*minors); i++) {
		uint64_t n = 2 * read_going(minors[i], 0, 0);

		for (uint64_t child = 1; child < n; child++)
			for (uint64_t parent = 1; parent < n; parent++)
				read_going(minors[i], child, parent);
	}
}

/* As python_tasks_read() does, with so many reads: is the first one what it was when it was read
   first, and known to have moved? */
static bool read_within(uint64_t n_reads, const uint64_t pair[2])
{
	struct world *w = &going.world;
	struct python_heap h;
	struct mem *cache = mem_cache_new(&w->m, 1 << 20, 1 << 20);
	struct intern *addresses = intern_new();
	struct python_functions *fs = python_functions_new();
	struct python_tasks ts = { 0 };
	bool has_moved = false;

	assert_int_equal(python_heap_init(&h, cache, &w->l), 0);
	h.n_left = n_reads;
	for (size_t i = 0; i < 2; i++)
		intern_add(addresses, &pair[i], sizeof(pair[i]));
	assert_int_equal(python_tasks_read(&h, addresses, fs, &ts), 0);
	assert_int_equal(ts.n + ts.n_changed, 2);
	for (size_t i = 0; i < ts.n; i++)
		has_moved |= ts.tasks[i].addr == pair[0] && ts.tasks[i].batch == 1 &&
			     ts.tasks[i].has_moved && ts.n == 2;
	python_tasks_deinit(&ts);
	python_functions_free(fs);
	intern_free(addresses);
	python_heap_deinit(&h);
	mem_free(cache);
	return has_moved;
}

/* The child goes on once, so that it is read again, and then the parent does and never stops. */
static void who_never_holds_still_again_is_what_it_was(void **state)
{
	static const unsigned int minors[] = { 8, 11, 14 };

	(void)state;
	going.is_restless = true;
	for (size_t i = 0; i < sizeof(minors) / sizeof(*minors); i++) {
		uint64_t pair[2];
		size_t n_kept = 0;

		for (uint64_t child = 1; child < 64; child++)
			for (uint64_t parent = child + 1; parent < 128; parent++) {

				begin_going(minors[i], child, parent, pair);
				n_kept += read_within(1 << 20, pair);
			}
		assert_true(n_kept > 0);
	}
	going.is_restless = false;
}

/* Whatever the number of reads: what they do not suffice for is counted. */
static void no_task_is_gone_because_reads_are(void **state)
{
	(void)state;
	for (uint64_t n = 0; n < 2000; n++) {
		uint64_t pair[2];

		begin_going(14, n & 1 ? 40 : 0, n & 2 ? 60 : 0, pair);
		read_within(n, pair);
	}
}

int main(void)
{
	const struct CMUnitTest unit_tests[] = {
		cmocka_unit_test(tasks_of_one_moment_are_not_apart),
		cmocka_unit_test(child_and_parent_of_two_moments_are),
		cmocka_unit_test(families_lie_side_by_side),
		cmocka_unit_test(families_that_went_on_are_read_again),
		cmocka_unit_test(who_never_holds_still_again_is_what_it_was),
		cmocka_unit_test(no_task_is_gone_because_reads_are),
	};

	return cmocka_run_group_tests(unit_tests, NULL, NULL);
}
