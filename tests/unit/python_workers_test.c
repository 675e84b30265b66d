// SPDX-License-Identifier: Apache-2.0
/* What the kernel half is told of a process whose threads work for asyncio's tasks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtimes/python_workers.h"
#include "tests/unit/python_part.h"
#include "tests/unit/python_world.h"

#define OLDEST 7
#define NEWEST 15
#define SECOND UINT64_C(1000000000)

static struct world world; /* made anew by every test */

/* A module with a class that has this method, whose code has a variable and a name of an attribute.
   Where the module is, and what there is of these. */
struct imported {
	uint64_t module, variables, code, name;
};

static struct imported import(const char *class_name, const char *method, const char *variable,
			      const char *name)
{
	bool is_old = world.l.version < PYTHON_FIRST(3, 11);
	uint64_t function = world_object(&world, "function", 64), names, variables;
	uint64_t class = world_object(&world, "type", 272), filename = world.l.code.filename;
	struct imported m = { .code = world_code(&world, method) };

	m.module = world_object(&world, "module", 24);
	m.name = world_str(&world, name);
	names = world_tuple(&world, 1, &m.name);
	variables = world_str(&world, variable);
	variables = world_tuple(&world, 1, &variables);
	world_word(&world, m.code + filename - (is_old ? 40 : 80), names);
	world_word(&world, m.code + filename - (is_old ? 32 : 16), variables);
	world_field(&world, function, world.l.version < PYTHON_FIRST(3, 10) ? 16 : 48, m.code);
	world_field(&world, class, PYTHON_TYPE_DICT,
		    world_dict(&world, world_str(&world, method), function));
	m.variables = world_dict(&world, world_str(&world, class_name), class);
	return m;
}

/* That a module is there says nothing of its variables. */
static void come(const struct imported *m, bool has_variables)
{
	world_field(&world, m->module, PYTHON_MODULE_DICT,
		    has_variables ? m->variables : world_dict(&world, 0, 0));
}

static bool look(struct python_pools *pools, uint64_t seconds)
{
	return python_pools_look(pools, fresh_part(), &world.m, &world.l, WORLD_ADDR,
				 seconds * SECOND);
}

static void what_threads_run_is_known_also_when_it_comes_after_its_module(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		struct python_pools pools = { .at = { 0 } };
		struct imported base, items, anyio;
		uint64_t keys[3], modules[3];

		world_init(&world, minor);
		base = import("Future", "add_done_callback", "self", "_done_callbacks");
		items = import("_WorkItem", "run", "self", "future");
		anyio = import("WorkerThread", "run", "future", "queue");
		keys[0] = world_str(&world, "concurrent.futures._base");
		keys[1] = world_str(&world, "concurrent.futures.thread");
		keys[2] = world_str(&world, "anyio._backends._asyncio");
		modules[0] = base.module;
		modules[1] = items.module;
		modules[2] = anyio.module;
		come(&base, true);
		come(&items, false);
		come(&anyio, false);
		world_word(&world, world.interp + world.l.interp.modules,
			   world_table(&world, 3, keys, modules));
		look(&pools, 1);
		assert_int_equal(pools.at.item_code, 0);
		come(&items, true);
		assert_true(look(&pools, 9));
		assert_int_equal(pools.at.item_code, items.code);
		assert_int_equal(pools.at.item_place, world.l.frame.localsplus);
		assert_int_equal(pools.at.future_key, items.name);
		assert_int_equal(pools.at.callbacks_key, base.name);
		assert_int_equal(pools.at.future_code, 0);
		come(&anyio, true);
		assert_true(look(&pools, 18));
		assert_int_equal(pools.at.item_code, items.code);
		assert_int_equal(pools.at.future_code, anyio.code);
		assert_int_equal(pools.at.future_place, world.l.frame.localsplus);
		assert_false(look(&pools, 27));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_threads_run_is_known_also_when_it_comes_after_its_module),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
