// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_functions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/mem_cache.h"
#include "tests/unit/python_world.h"

#define OLDEST 7
#define NEWEST 15

static const char *name_of(struct python_functions *fs, struct python_heap *h, uint64_t code,
			   uint64_t qualname)
{
	uint32_t id;

	mem_cache_forget(h->mem);
	id = python_functions_id(fs, h, code, qualname);
	return id ? python_functions_get(fs, id)->name : NULL;
}

/* A code object that was freed, and another one in its place. */
static void the_next_one_at_an_address_has_its_own_name(void **state)
{
	static struct world world;

	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		struct python_functions *fs = python_functions_new();
		struct mem *cache = mem_cache_new(&world.m, 1 << 20, UINT64_MAX);
		struct python_heap h;
		uint64_t code, other;
		size_t len;

		world_init(&world, minor);
		len = world.l.code.code > world.l.code.size ? world.l.code.code : world.l.code.size;
		code = world_code(&world, "first");
		other = world_code(&world, "second");
		assert_int_equal(python_heap_init(&h, cache, &world.l), 0);
		assert_string_equal(name_of(fs, &h, code, 0), "first");
		assert_string_equal(name_of(fs, &h, code, 0), "first");
		assert_int_equal(python_functions_id(fs, &h, code, 0), 1); /* no second one */
		memcpy(world.made + (code - WORLD_ADDR), world.made + (other - WORLD_ADDR), len);
		assert_string_equal(name_of(fs, &h, code, 0), "second");
		python_heap_deinit(&h);
		mem_free(cache);
		python_functions_free(fs);
	}
}

/* The same of the str that names it better. */
static void the_next_str_at_an_address_is_another_name(void **state)
{
	static struct world world;
	struct python_functions *fs = python_functions_new();
	struct mem *cache = mem_cache_new(&world.m, 1 << 20, UINT64_MAX);
	struct python_heap h;
	uint64_t code, name;

	(void)state;
	world_init(&world, 9);
	code = world_code(&world, "run");
	name = world_str(&world, "One.run");
	world_word(&world, name + world.l.str.hash, 1);
	assert_int_equal(python_heap_init(&h, cache, &world.l), 0);
	assert_string_equal(name_of(fs, &h, code, name), "One.run");
	memcpy(world.made + (name + world.l.str.ascii_header - WORLD_ADDR), "Two", 3);
	world_word(&world, name + world.l.str.hash, 2);
	assert_string_equal(name_of(fs, &h, code, name), "Two.run");
	python_heap_deinit(&h);
	mem_free(cache);
	python_functions_free(fs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_next_one_at_an_address_has_its_own_name),
		cmocka_unit_test(the_next_str_at_an_address_is_another_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
