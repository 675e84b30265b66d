// SPDX-License-Identifier: Apache-2.0
/* Which task waits for what a thread of a pool runs, as the kernel half finds it, in memory made
   here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "tests/unit/python_kernel_half.h"
#include "tests/unit/python_otel.h"

#define OLDEST 7
#define NEWEST 15
#define CODE 0x1000
#define LOOP 0x5000

#include "unwinders/python_worker.bpf.h"

struct work {
	uint64_t item, future, task; /* asyncio's future */
};

/* A function that was handed to concurrent.futures, and a task that waits for it. */
static struct work make_work(unsigned int minor)
{
	uint64_t keys[2], types[2], list, callback, theirs;
	struct work work;

	world_init(&world, minor);
	tell(&world);
	work.future = world_future(&world, "_asyncio.Future");
	work.task =
		world_task(&world, world_coroutine(&world, "main", world_iter(&world, work.future)),
			   work.future, "main");
	world_field(&world, work.future, PYTHON_FUTURE_LOOP, LOOP);
	world_field(&world, work.task, PYTHON_FUTURE_LOOP, LOOP);
	world_callback(&world, work.future, world_wakeup(&world, work.task), true);
	if (world.at.future.awaited_by)
		world_word(&world, work.future + world.at.future.awaited_by, work.task);
	for (size_t i = 0; i < 2; i++) {
		keys[i] = world_str(&world, i ? "_done_callbacks" : "future");
		types[i] = otel_type(&world, i ? "Future" : "_WorkItem", 0);
		otel_instances(&world, types[i], 1, &keys[i]);
	}
	callback = world_function(&world, "_chain_future.<locals>._call_set_state", work.future);
	list = world_list(&world, 1, &callback);
	theirs = otel_instance(&world, types[1], 1, &keys[1], &list, minor & 1);
	work.item = otel_instance(&world, types[0], 1, &keys[0], &theirs, minor & 1);
	scratch.process.workers = (struct python_workers){
		.item_code = CODE,
		.item_place = 24,
		.future_key = keys[0],
		.callbacks_key = keys[1],
		.future_code = 2 * CODE,
		.future_place = 32,
	};
	return work;
}

/* What a thread does that is in a frame of this code; the task that waits for it. */
static uint64_t run(uint64_t code, const struct work *work)
{
	uint64_t frame = world_room(&world, 64);

	world_word(&world, frame + 24, work->item);
	/* From 3.14 on a frame's values have marks. */
	world_word(&world, frame + 32, work->future | 1);
	scratch.work = 0;
	scratch.walk.at = frame;
	python_worker_see(&scratch, code);
	return python_worker_task();
}

static void the_task_that_waits_is_found_in_every_version(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		struct work work = make_work(minor);

		assert_int_equal(run(CODE, &work), work.task);
		assert_int_equal(run(2 * CODE, &work), work.task);
		assert_int_equal(run(3 * CODE, &work), 0);
		assert_int_equal(run(0, &work), 0);
	}
}

static void what_nobody_waits_for_is_nobodys(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		struct work work = make_work(minor);

		/* The task waits no longer: it is done. */
		world_put(&world, work.task + world.at.future.state, 1, 4);
		assert_int_equal(run(CODE, &work), 0);
		work = make_work(minor);
		world_word(&world, work.future + world.at.future.callback, 0);
		world_word(&world, work.future + world.at.future.callbacks, 0);
		assert_int_equal(run(CODE, &work), 0);
		assert_int_equal(run(2 * CODE, &work), 0);
	}
}

static void survives_mutation(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor += 4) {
		struct work work = make_work(minor);

		assert_int_equal(run(CODE, &work), work.task);
		for (size_t i = 0; i < 8 * world.len; i++) {
			world.made[i / 8] ^= (uint8_t)(1 << i % 8);
			python_worker_task();
			world.made[i / 8] ^= (uint8_t)(1 << i % 8);
		}
		for (size_t len = world.len; len > 0; len--) {
			uint8_t *copy = malloc(len);

			memcpy(copy, world.made, len);
			world.bytes = copy;
			world.len = len;
			python_worker_task();
			free(copy);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_task_that_waits_is_found_in_every_version),
		cmocka_unit_test(what_nobody_waits_for_is_nobodys),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
