// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "runtimes/python_timer.h"
#include "tests/unit/python_world.h"

#define OLDEST 7
#define NEWEST 15
#define NS 1000000000ull
#define HANDLE_WHEN 88

static struct world world; /* made anew by every test */

static uint64_t make_float(double value)
{
	uint64_t at = world_object(&world, "float", 24), bits;

	memcpy(&bits, &value, sizeof(bits));
	world_word(&world, at + 16, bits);
	return at;
}

static uint64_t make_int(uint32_t value)
{
	uint64_t at = world_object(&world, "int", 32);

	world_word(&world, at + world.l.integer.tag,
		   world.l.version < PYTHON_FIRST(3, 12) ? 1 : 1 << 3);
	world_put(&world, at + world.l.integer.digits, value, 4);
	return at;
}

static uint64_t make_handle(double due)
{
	uint64_t at = world_object(&world, "TimerHandle", 96);

	world_word(&world, at + HANDLE_WHEN, make_float(due));
	return at;
}

static uint64_t make_cell(uint64_t value)
{
	uint64_t at = world_object(&world, "cell", 24);

	world_word(&world, at + PYTHON_FIRST_FIELD, value);
	return at;
}

/* A frame with these local variables. */
static uint64_t make_frame(uint64_t first, uint64_t second, uint64_t third)
{
	uint64_t frame = world_frame(&world, world_coroutine(&world, "sleep", 0));

	world_word(&world, frame + world.l.frame.localsplus, first);
	world_word(&world, frame + world.l.frame.localsplus + 8, second);
	world_word(&world, frame + world.l.frame.localsplus + 16, third);
	return frame;
}

static struct python_timer read_timer(const char *name, uint64_t frame)
{
	struct python_timer timer;
	struct python_heap heap;

	assert_int_equal(python_heap_init(&heap, &world.m, &world.l), 0);
	timer = python_timer_read(&heap, name, frame);
	python_heap_deinit(&heap);
	return timer;
}

static void a_sleep_says_since_when_and_until_when(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		struct python_timer timer;

		world_init(&world, minor);
		timer = read_timer("sleep", make_frame(make_float(2.5), 0, make_handle(12)));
		assert_int_equal(timer.due_ns, 12 * NS);
		assert_int_equal(timer.since_ns, 9 * NS + NS / 2);
		timer = read_timer("sleep", make_frame(make_int(3), 0, make_handle(12)));
		assert_int_equal(timer.since_ns, 9 * NS);
	}
}

static void other_waits_have_the_time_elsewhere(void **state)
{
	struct python_timer timer;

	(void)state;
	world_init(&world, 11);
	timer = read_timer("wait_for", make_frame(0, make_float(2), make_handle(12)));
	assert_int_equal(timer.since_ns, 10 * NS);
	timer = read_timer("_wait", make_frame(0, make_int(2), make_cell(make_handle(12))));
	assert_int_equal(timer.since_ns, 10 * NS);
	timer = read_timer("other", make_frame(make_float(2), make_float(2), make_handle(12)));
	assert_int_equal(timer.due_ns, 0);
}

static void what_makes_no_sense_is_not_known(void **state)
{
	static const double dues[] = { -1, 1e12, INFINITY, NAN };
	static const double delays[] = { 13, -1, INFINITY, NAN };
	struct python_timer timer;

	(void)state;
	world_init(&world, 12);
	for (size_t i = 0; i < sizeof(dues) / sizeof(*dues); i++) {
		timer = read_timer("sleep", make_frame(make_float(1), 0, make_handle(dues[i])));
		assert_int_equal(timer.due_ns, 0);
		assert_int_equal(timer.since_ns, 0);
	}
	for (size_t i = 0; i < sizeof(delays) / sizeof(*delays); i++) {
		timer = read_timer("sleep", make_frame(make_float(delays[i]), 0, make_handle(12)));
		assert_int_equal(timer.due_ns, 12 * NS);
		assert_int_equal(timer.since_ns, 0);
	}
	timer = read_timer("sleep", make_frame(make_float(1), 0, 0)); /* uvloop: another handle */
	assert_int_equal(timer.due_ns, 0);
	timer = read_timer("sleep", make_frame(1, 2, 3)); /* no objects */
	assert_int_equal(timer.due_ns, 0);
	timer = read_timer("sleep", make_frame(0, 0, world_object(&world, "TimerHandle", 96)));
	assert_int_equal(timer.due_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sleep_says_since_when_and_until_when),
		cmocka_unit_test(other_waits_have_the_time_elsewhere),
		cmocka_unit_test(what_makes_no_sense_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
