// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "runtimes/python_dict.h"
#include "tests/unit/python_world.h"

#define N_KEYS 100
#define NEW_TABLE 256 /* entries there is room for */

/* A dict with "key0" to "key99", as the versions' tables are; values are what made it up. */
struct made {
	struct world w;
	struct python_heap h;
	uint64_t dict, table, entries;
	uint64_t keys[N_KEYS];
};

static struct made made;

static void put_entry(uint64_t i, uint64_t key, uint64_t value)
{
	world_word(&made.w, made.entries + 24 * i + 8, key);
	world_word(&made.w, made.entries + 24 * i + 16, value);
}

static void make(unsigned int minor)
{
	struct world *w = &made.w;
	bool is_old;

	world_init(w, minor);
	is_old = w->l.version < PYTHON_FIRST(3, 11);
	made.table = world_room(w, w->at.keys.indices + NEW_TABLE + 24 * NEW_TABLE);
	made.dict = world_object(w, "dict", 48);
	made.entries = made.table + w->at.keys.indices + NEW_TABLE;
	world_put(w, made.table + w->at.keys.size, is_old ? NEW_TABLE : 0, 8);
	if (!is_old) {
		world_put(w, made.table + w->at.keys.size + 1, 8, 1);
		world_put(w, made.table + w->at.keys.size + 2, 0, 1);
	}
	if (is_old)
		made.entries = made.table + w->at.keys.indices + NEW_TABLE * 2;
	world_word(w, made.table + w->at.keys.n_entries, N_KEYS);
	for (uint64_t i = 0; i < N_KEYS; i++) {
		char text[16];

		snprintf(text, sizeof(text), "key%d", (int)i);
		made.keys[i] = world_str(w, text);
		put_entry(i, made.keys[i], 0x1000 + i);
	}
	world_field(w, made.dict, PYTHON_DICT_KEYS, made.table);
	assert_int_equal(python_heap_init(&made.h, &w->m, &w->l), 0);
}

static uint64_t steps(uint64_t *value, const char *key)
{
	uint64_t before = made.h.n_reads;

	*value = python_dict_get(&made.h, made.dict, key);
	return made.h.n_reads - before;
}

static const unsigned int versions[] = { 8, 13, WORLD_14T };

#define EACH_VERSION(minor)                                                                     \
	for (size_t v_ = 0;                                                                     \
	     v_ < sizeof(versions) / sizeof(versions[0]) && (make(minor = versions[v_]), true); \
	     v_++, python_heap_deinit(&made.h))

static void a_key_is_looked_for_once(void **state)
{
	unsigned int minor;
	uint64_t value;

	(void)state;
	EACH_VERSION(minor)
	{
		uint64_t first = steps(&value, "key90");

		assert_int_equal(value, 0x1000 + 90);
		assert_true(steps(&value, "key90") < first / 4);
		assert_int_equal(value, 0x1000 + 90);
		assert_int_equal(python_dict_get(&made.h, made.dict, "key3"), 0x1000 + 3);
	}
}

static void its_value_is_the_one_of_now(void **state)
{
	unsigned int minor;

	(void)state;
	EACH_VERSION(minor)
	{
		assert_int_equal(python_dict_get(&made.h, made.dict, "key90"), 0x1000 + 90);
		put_entry(90, made.keys[90], 0x77);
		assert_int_equal(python_dict_get(&made.h, made.dict, "key90"), 0x77);
		put_entry(90, 0, 0);
		assert_int_equal(python_dict_get(&made.h, made.dict, "key90"), 0);
	}
}

static void a_key_that_came_elsewhere_is_found(void **state)
{
	unsigned int minor;

	(void)state;
	EACH_VERSION(minor)
	{
		assert_int_equal(python_dict_get(&made.h, made.dict, "key90"), 0x1000 + 90);
		put_entry(90, made.keys[7], 0x55);
		put_entry(7, made.keys[90], 0x66);
		assert_int_equal(python_dict_get(&made.h, made.dict, "key90"), 0x66);
	}
}

static void a_key_that_is_not_there_is_looked_for_once(void **state)
{
	unsigned int minor;
	uint64_t value;

	(void)state;
	EACH_VERSION(minor)
	{
		uint64_t first = steps(&value, "other"), new_key = world_str(&made.w, "other");

		assert_int_equal(value, 0);
		assert_true(steps(&value, "other") < first / 4);
		assert_int_equal(value, 0);
		put_entry(N_KEYS, new_key, 0x88);
		world_word(&made.w, made.table + made.w.at.keys.n_entries, N_KEYS + 1);
		assert_int_equal(python_dict_get(&made.h, made.dict, "other"), 0x88);
	}
}

static void what_is_absent_is_looked_for_again_in_the_end(void **state)
{
	unsigned int minor;

	(void)state;
	EACH_VERSION(minor)
	{
		uint64_t value = 0;

		assert_int_equal(python_dict_get(&made.h, made.dict, "other"), 0);
		/* As a table made anew in the same place would be. */
		put_entry(50, world_str(&made.w, "other"), 0x99);
		for (int i = 0; i < 100 && !value; i++)
			value = python_dict_get(&made.h, made.dict, "other");
		assert_int_equal(value, 0x99);
	}
}

static void many_keys_are_no_worse_than_without_memory(void **state)
{
	unsigned int minor;

	(void)state;
	EACH_VERSION(minor)
	{
		char text[N_KEYS][16];

		for (int round = 0; round < 2; round++)
			for (int i = 0; i < N_KEYS; i++) {
				snprintf(text[i], sizeof(text[i]), "key%d", i);
				assert_int_equal(python_dict_get(&made.h, made.dict, text[i]),
						 0x1000 + i);
			}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_is_looked_for_once),
		cmocka_unit_test(its_value_is_the_one_of_now),
		cmocka_unit_test(a_key_that_came_elsewhere_is_found),
		cmocka_unit_test(a_key_that_is_not_there_is_looked_for_once),
		cmocka_unit_test(what_is_absent_is_looked_for_again_in_the_end),
		cmocka_unit_test(many_keys_are_no_worse_than_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
