// SPDX-License-Identifier: Apache-2.0
/* asyncio's loop: its method is known by name and file, its variable by name, its time by value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "runtimes/python_loop.h"
#include "tests/unit/mutation.h"
#include "tests/unit/python_part.h"
#include "tests/unit/python_world.h"

#define OLDEST 7
#define NEWEST WORLD_15T

static struct world world; /* made anew by every test */
static uint64_t method;

/* A code object whose variables are these. */
static void begin(unsigned int minor, const char *const *names, size_t n)
{
	uint64_t items[80];

	world_init(&world, minor);
	for (size_t i = 0; i < n; i++)
		items[i] = world_str(&world, names[i]);
	method = world_code(&world, "_run_once");
	world_word(&world,
		   method + world.l.code.filename -
			   (world.l.version < PYTHON_FIRST(3, 11) ? 32 : 16),
		   world_tuple(&world, n, items));
	world.len = world.next - WORLD_ADDR;
}

static struct python_loop learn(void)
{
	struct python_loop loop = { 0 };

	python_loop_learn(&loop, fresh_part(), &world.m, &world.l, method);
	return loop;
}

static void the_variable_is_found_in_every_version(void **state)
{
	static const char *const names[] = { "self", "timeout", "end_times", "end_time", "i" };

	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		struct python_process process = { 0 };
		struct python_loop loop;

		begin(minor, names, 5);
		loop = learn();
		assert_int_equal(loop.code, method);
		assert_int_equal(loop.variable, 3);
		assert_true(loop.is_new);
		python_loop_set(&loop, &world.l, getpid(), &process);
		assert_false(loop.is_new);
		assert_int_equal(process.loop_code, method);
		assert_int_equal(process.loop_time, world.l.frame.localsplus + 3 * 8);
		assert_int_equal(process.object_head, world.l.object.type + 8);
	}
}

static void another_method_of_that_name_is_none(void **state)
{
	static const char *const names[] = { "self", "timeout" };

	(void)state;
	begin(12, names, 2);
	assert_int_equal(learn().code, 0);
	begin(12, names, 0);
	assert_int_equal(learn().code, 0);
	method = WORLD_ADDR - 4096;
	assert_int_equal(learn().code, 0);
}

static void a_process_that_is_gone_or_has_no_loop_is_told_nothing(void **state)
{
	static const char *const names[] = { "end_time" };
	struct python_process process = { 0 };
	struct python_loop loop = { 0 };

	(void)state;
	begin(12, names, 1);
	python_loop_learn(&loop, fresh_part(), NULL, &world.l, method);
	python_loop_set(&loop, &world.l, getpid(), &process);
	assert_int_equal(process.loop_code, 0);
	loop = learn();
	python_loop_set(&loop, &world.l, -1, &process); /* as to its clock */
	assert_int_equal(process.loop_code, access("/proc/self/ns/time", F_OK) ? method : 0);
}

static void the_method_is_known_by_name_and_file(void **state)
{
	static const struct {
		char *name, *file;
		bool is_turn;
	} cases[] = {
		{ "BaseEventLoop._run_once", "/usr/lib/python3.12/asyncio/base_events.py", true },
		{ "_run_once", "/a/asyncio/base_events.py", true },
		{ "_run_once", "/a/asyncio/events.py", false },
		{ "_run_once", "base_events.py", false },
		{ "run_once", "/a/asyncio/base_events.py", false },
		{ "", "", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct python_code code = { .name = cases[i].name,
						  .name_len = strlen(cases[i].name),
						  .file = cases[i].file,
						  .file_len = strlen(cases[i].file) };

		assert_int_equal(python_loop_is_turn(&code), cases[i].is_turn);
	}
}

static void a_time_is_a_number_of_seconds(void **state)
{
	static const struct {
		uint64_t bits, ns;
	} cases[] = {
		{ 0x3ff8000000000000, 1500000000 },
		{ 0x40c81c8000000000, UINT64_C(12345000000000) },
		{ 0, 0 },
		{ 0xbff8000000000000, 0 }, /* negative */
		{ 0x7ff0000000000000, 0 }, /* infinite */
		{ 0xfff0000000000000, 0 },
		{ 0x7ff8000000000000, 0 }, /* no number */
		{ 0xfff8000000000001, 0 },
		{ 0x7fefffffffffffff, 0 }, /* the largest */
		{ 1, 0 },		   /* the smallest */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(
			python_loop_ns(&(struct wire_python){ .loop_time = cases[i].bits }),
			cases[i].ns);
}

static void a_time_of_libuv_is_a_number_of_milliseconds(void **state)
{
	(void)state;
	assert_int_equal(python_loop_ns(&(struct wire_python){ .loop_ms = 1500 }), 1500000000);
	assert_int_equal(python_loop_ns(&(struct wire_python){ .loop_ms = UINT64_MAX }), 0);
}

static void parse(const uint8_t *bytes, size_t len)
{
	world.bytes = bytes;
	world.len = len;
	learn();
}

static void survives_mutation(void **state)
{
	static const char *const names[] = { "self", "end_time" };
	size_t len;

	(void)state;
	begin(12, names, 2);
	len = world.len < 4096 ? world.len : 4096;
	mutate(world.made, len, parse);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_variable_is_found_in_every_version),
		cmocka_unit_test(another_method_of_that_name_is_none),
		cmocka_unit_test(a_process_that_is_gone_or_has_no_loop_is_told_nothing),
		cmocka_unit_test(the_method_is_known_by_name_and_file),
		cmocka_unit_test(a_time_is_a_number_of_seconds),
		cmocka_unit_test(a_time_of_libuv_is_a_number_of_milliseconds),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
