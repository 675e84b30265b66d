// SPDX-License-Identifier: Apache-2.0
/* The task that a thread executes while its coroutine is elsewhere, in memory made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bpf/weft.h"
#include "runtimes/python_asyncio.h"
#include "runtimes/python_spans.h"
#include "tests/unit/python_world.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

#define OLDEST 7
#define NEWEST WORLD_15T
#define KEY "__asyncio_running_event_loop__"

static struct world world;    /* made anew by every test */
static uint64_t mine, theirs; /* loops */

static int read_user(__u64 addr, void *buf, __u32 len)
{
	return world_read(&world.m, addr, buf, len);
}

#include "tests/unit/python_pages.h"
#include "unwinders/python_running.bpf.h"

/* The thread runs this loop, 0: none. key: what its dict has that under, where it has. */
static void run(struct world *w, const char *key, uint64_t loop)
{
	uint64_t keys[2], values[2] = { 0, loop };

	if (w->at.thread.running_loop) {
		world_word(w, w->thread + w->at.thread.running_loop, loop);
		return;
	}
	if (PYTHON_MINOR(w->l.version) < 12) {
		values[1] = world_object(w, "_RunningLoopHolder", 40);
		world_field(w, values[1], PYTHON_FIRST_FIELD, loop);
	}
	keys[0] = world_str(w, "other");
	keys[1] = world_str(w, key);
	world_word(w, w->thread + w->at.thread.dict, world_table(w, 2, keys, values));
}

/* What is current in both loops. */
static void begin(struct world *w, unsigned int minor, uint64_t tasks[2])
{
	world_init(w, minor);
	mine = world_room(w, 16);
	theirs = world_room(w, 16);
	tasks[0] = world_task(w, world_coroutine(w, "theirs", 0), 0, "theirs");
	tasks[1] = world_task(w, world_coroutine(w, "mine", 0), 0, "mine");
}

/* What the kernel half is told. */
static struct python_process tell(struct world *w, const uint64_t tasks[2])
{
	const uint64_t loops[2] = { theirs, mine };
	struct python_asyncio a = { .at = w->at, .is_known = true };
	struct python_process p = { 0 };

	a.is_in_thread = w->at.thread.running_task;
	if (!a.is_in_thread)
		a.current_tasks = world_table(w, 2, loops, tasks);
	python_asyncio_set(&a, &p);
	python_asyncio_set_awaits(&a, &w->l, &p.awaits);
	python_spans_set_layout(&w->l, &w->at, &p.spans);
	return p;
}

static struct python_tasks look(const struct python_process *p)
{
	static struct python_dict_entry entries[MAX_CURRENT_ENTRIES];
	static uint8_t frame[PYTHON_FRAME_MAX], bytes[PYTHON_SPAN_BYTES];
	struct python_tasks t = { 0 };

	python_tasks_begin(&t, p, world.thread, frame, entries);
	if (t.n)
		python_tasks_running(&t, p, world.thread, bytes);
	return t;
}

static struct python_tasks find(struct world *w, const uint64_t tasks[2])
{
	struct python_process p = tell(w, tasks);

	return look(&p);
}

static void it_is_that_of_the_loop_that_the_thread_runs(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		struct python_tasks t;
		uint64_t tasks[2];

		begin(&world, minor, tasks);
		run(&world, KEY, mine);
		if (world.at.thread.running_task)
			world_word(&world, world.thread + world.at.thread.running_task, tasks[1]);
		t = find(&world, tasks);
		assert_int_equal(t.task, tasks[1]);
		assert_int_equal(t.coro, python_read_pointer(tasks[1] + world.at.task.coro));
		assert_int_equal(t.root, WIRE_TASK_ELSEWHERE);
	}
}

static void a_thread_that_runs_no_loop_executes_none(void **state)
{
	static const char *const keys[] = { KEY, "__asyncio_running_event_loop_x", KEY "x", "" };

	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
			uint64_t tasks[2];

			begin(&world, minor, tasks);
			assert_int_equal(find(&world, tasks).task, 0);
			run(&world, keys[i], i && !world.at.thread.running_loop ? mine : 0);
			assert_int_equal(find(&world, tasks).task, 0);
		}
	}
}

/* Between its tasks a loop calls other functions. */
static void a_loop_without_a_current_task_has_none(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		uint64_t tasks[2], none[2];

		begin(&world, minor, tasks);
		run(&world, KEY, mine);
		none[0] = tasks[0];
		none[1] = 0;
		assert_int_equal(find(&world, none).task, 0);
	}
}

/* Any byte may be any other. */
static void survives_mutation(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= 15; minor += 4) {
		struct python_process p;
		uint64_t tasks[2];

		begin(&world, minor, tasks);
		run(&world, KEY, mine);
		p = tell(&world, tasks);
		for (size_t i = 0; i < 8 * world.len; i++) {
			world.made[i / 8] ^= (uint8_t)(1 << i % 8);
			look(&p);
			world.made[i / 8] ^= (uint8_t)(1 << i % 8);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_that_of_the_loop_that_the_thread_runs),
		cmocka_unit_test(a_thread_that_runs_no_loop_executes_none),
		cmocka_unit_test(a_loop_without_a_current_task_has_none),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
