// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "runtimes/python_names.h"
#include "tests/unit/python_part.h"
#include "tests/unit/python_world.h"
#include "unwinders/arch.h"

#define OLDEST 7
#define NEWEST WORLD_15T
#define TID 4711

static struct world world; /* made anew by every test */

static uint64_t make_int(struct world *w, uint64_t value)
{
	uint64_t at = world_object(w, "int", w->l.integer.digits + 12);

	world_word(w, at + w->l.integer.tag, w->l.version < PYTHON_FIRST(3, 12) ? 3 : 3 << 3);
	for (uint64_t i = 0; i < 3; i++)
		world_put(w, at + w->l.integer.digits + 4 * i, value >> 30 * i & 0x3fffffff, 4);
	return at;
}

/* A thread that threading knows by this name. */
static void make_thread(struct world *w, unsigned int minor, const char *name, uint16_t tid_at)
{
	uint64_t self, thread, active, module, type;

	world_init(w, minor);
	self = world_room(w, 0x400);
	world_put(w, self + tid_at, TID, 4);
	/* With a __dict__ of its own, in front of which nothing is. */
	thread = world_object(w, "Thread", 64);
	memcpy(&type, w->made + (thread + w->l.object.type - WORLD_ADDR), sizeof(type));
	world_word(w, thread + 40, world_dict(w, world_str(w, "_name"), world_str(w, name)));
	active = world_dict(w, make_int(w, self), thread);
	module = world_object(w, "module", 24);
	world_field(w, module, PYTHON_MODULE_DICT, world_dict(w, world_str(w, "_active"), active));
	world_word(w, w->interp + w->l.interp.modules,
		   world_dict(w, world_str(w, "threading"), module));
	world_word(w, type + w->l.type.dictoffset, 40); /* where the next type had its base */
}

static void look(struct python_names *ns, bool is_musl)
{
	struct python_names_source source = { fresh_part(), &world.l, WORLD_ADDR, is_musl };

	python_names_look(ns, &world.m, &source, 1);
}

static void threads_have_their_names_in_every_version(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		struct python_names ns = { 0 };

		make_thread(&world, minor, "worker", PTHREAD_TID);
		assert_null(python_names_get(&ns, TID, 1));
		look(&ns, false);
		assert_string_equal(python_names_get(&ns, TID, 1), "worker");
		assert_null(python_names_get(&ns, TID + 1, 1));
		python_names_deinit(&ns);
	}
}

static void musl_has_the_id_elsewhere(void **state)
{
	struct python_names ns = { 0 };

	(void)state;
	make_thread(&world, 12, "worker", MUSL_TID);
	look(&ns, false);
	assert_null(python_names_get(&ns, TID, 1));
	look(&ns, true);
	assert_string_equal(python_names_get(&ns, TID, 1), "worker");
	python_names_deinit(&ns);
}

static void long_names_end_at_a_character(void **state)
{
	char name[101] = { 0 };
	struct python_names ns = { 0 };
	const char *got;

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	make_thread(&world, 13, name, PTHREAD_TID);
	look(&ns, false);
	got = python_names_get(&ns, TID, 1);
	assert_non_null(got);
	assert_int_equal(strlen(got), PYTHON_THREAD_NAME_MAX - 1);
	assert_string_equal(got + strlen(got) - 3, "…");
	python_names_deinit(&ns);
}

static void the_main_threads_default_is_no_name(void **state)
{
	struct python_names ns = { 0 };

	(void)state;
	make_thread(&world, 13, "MainThread", PTHREAD_TID);
	look(&ns, false);
	assert_null(python_names_get(&ns, TID, 1));
	python_names_deinit(&ns);
}

static void names_are_looked_for_ever_less_and_do_not_hold_for_ever(void **state)
{
	const uint64_t second = 1000000000;
	struct python_names ns = { 0 };

	(void)state;
	make_thread(&world, 13, "worker", PTHREAD_TID);
	assert_true(python_names_is_due(&ns, false, 0));
	assert_true(python_names_is_due(&ns, true, 0));
	look(&ns, false);
	assert_false(python_names_is_due(&ns, false, 1));
	assert_true(python_names_is_due(&ns, false, second));
	for (int i = 0; i < 20; i++)
		look(&ns, false);
	assert_false(python_names_is_due(&ns, false, second));
	assert_true(python_names_is_due(&ns, false, 3 * second));
	assert_false(python_names_is_due(&ns, true, 9 * second));
	assert_true(python_names_is_due(&ns, true, 11 * second));
	assert_non_null(python_names_get(&ns, TID, 9 * second));
	assert_null(python_names_get(&ns, TID, 11 * second));
	python_names_deinit(&ns);
}

static void survives_mutation(void **state)
{
	(void)state;
	make_thread(&world, 12, "worker", PTHREAD_TID);
	for (size_t at = 0; at < world.len; at++) {
		for (int bit = 0; bit < 8; bit++) {
			struct python_names ns = { 0 };

			if (!world.made[at] && at % 8)
				continue;
			world.made[at] ^= (uint8_t)(1 << bit);
			look(&ns, false);
			world.made[at] ^= (uint8_t)(1 << bit);
			python_names_deinit(&ns);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_have_their_names_in_every_version),
		cmocka_unit_test(musl_has_the_id_elsewhere),
		cmocka_unit_test(long_names_end_at_a_character),
		cmocka_unit_test(the_main_threads_default_is_no_name),
		cmocka_unit_test(names_are_looked_for_ever_less_and_do_not_hold_for_ever),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
