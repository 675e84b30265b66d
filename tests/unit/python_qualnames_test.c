// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "runtimes/python_qualnames.h"
#include "tests/unit/mutation.h"

/*
 * A made-up heap of 3.9: sys.modules with one module, in it a class with three functions, two of
 * which share their code, and itself as a member.
 */
#define ADDR 0x7f0000010000ull
enum place {
	INTERP = 0,
	TYPES = 1024, /* of 512 bytes each, the names at their ends */
	MODULES = TYPES + 7 * 512,
	MODULE = MODULES + 256,
	VARIABLES = MODULE + 32,
	CLASS = VARIABLES + 256,
	MEMBERS = CLASS + 320,
	FUNCTIONS = MEMBERS + 512,
	NAMES = FUNCTIONS + 3 * 128,
	END = NAMES + 3 * 80,
};
enum type { TYPE, MODULE_TYPE, DICT, FUNCTION, STR, TUPLE, OBJECT };
#define CODE (ADDR + 0x100000) /* nobody reads it */

static uint8_t memory[END];

static void put(size_t at, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		memory[at + (size_t)i] = (uint8_t)(value >> 8 * i);
}

static void put_object(size_t at, enum type type)
{
	put(at + 8, ADDR + TYPES + 512 * (size_t)type);
}

static void put_type(enum type type, const char *name, uint64_t flags)
{
	size_t at = TYPES + 512 * (size_t)type;

	put_object(at, TYPE);
	put(at + 24, ADDR + at + 480);
	put(at + 168, flags);
	strcpy((char *)memory + at + 480, name);
}

/* A dict with its keys behind it: { hash, key, value } each. */
static void put_dict(size_t at, const uint64_t *values, size_t n)
{
	size_t keys = at + 48, entries = keys + 40 + 8;

	put_object(at, DICT);
	put(at + 16, n);
	put(at + 32, ADDR + keys);
	put(keys + 8, 8); /* indices of a byte */
	put(keys + 32, n);
	for (size_t i = 0; i < n; i++) {
		put(entries + 24 * i + 8, ADDR + NAMES);
		put(entries + 24 * i + 16, ADDR + values[i]);
	}
}

static void put_function(size_t i, uint64_t code, const char *qualname)
{
	size_t at = FUNCTIONS + 128 * i, name = NAMES + 80 * i;

	put_object(at, FUNCTION);
	put(at + 16, code);
	put(at + 104, ADDR + name);
	put_object(name, STR);
	put(name + 16, strlen(qualname));
	put(name + 32, 1 << 2 | 1 << 5 | 1 << 6);
	strcpy((char *)memory + name + 48, qualname);
}

static struct python_layout fill(void)
{
	static const char *const names[] = { "type", "module", "dict",	"function",
					     "str",  "tuple",  "object" };
	struct python_layout l;

	memset(memory, 0, sizeof(memory));
	assert_int_equal(python_layout_of_version(PYTHON_VERSION(3, 9, 1), false, &l), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		put_type((enum type)i, names[i], i == TYPE ? 1u << 31 : 0);
	put(INTERP + l.interp.modules, ADDR + MODULES);
	put_dict(MODULES, (uint64_t[]){ MODULE }, 1);
	put_object(MODULE, MODULE_TYPE);
	put(MODULE + 16, ADDR + VARIABLES);
	put_dict(VARIABLES, (uint64_t[]){ CLASS }, 1);
	put_object(CLASS, TYPE);
	put(CLASS + 264, ADDR + MEMBERS);
	put_dict(MEMBERS, (uint64_t[]){ FUNCTIONS, FUNCTIONS + 128, FUNCTIONS + 256, CLASS }, 4);
	put_function(0, CODE, "Shop.buy");
	put_function(1, CODE + 512, "Pair._replace");
	put_function(2, CODE + 512, "Other._replace");
	return l;
}

static char *find(const struct python_layout *l, const uint8_t *bytes, size_t len, uint64_t code,
		  const char *name)
{
	struct python_qualnames *q = python_qualnames_new(PYTHON_MAX_QUALNAMES);
	struct mem *m = mem_array(ADDR, bytes, len);
	struct python_heap h;
	char *found;

	assert_int_equal(python_heap_init(&h, m, l), 0);
	found = python_qualnames_find(q, &h, ADDR + INTERP, code, name);
	python_heap_deinit(&h);
	mem_free(m);
	python_qualnames_free(q);
	return found;
}

static void a_function_names_its_code(void **state)
{
	struct python_layout l = fill();
	char *name = find(&l, memory, END, CODE, "buy");

	(void)state;
	assert_non_null(name);
	assert_string_equal(name, "Shop.buy");
	free(name);
}

static void what_is_not_certain_is_no_name(void **state)
{
	static const struct {
		uint64_t code;
		const char *name;
	} cases[] = {
		{ CODE, "wrapper" },	    { CODE, "uy" },
		{ CODE, "Xhop.buy" },	    { CODE + 8, "buy" },
		{ CODE + 512, "_replace" }, { 0, "buy" },
	};
	struct python_layout l = fill();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_null(find(&l, memory, END, cases[i].code, cases[i].name));
}

static void functions_that_are_gone_name_nothing(void **state)
{
	struct python_qualnames *q = python_qualnames_new(PYTHON_MAX_QUALNAMES);
	struct python_layout l = fill();
	struct mem *m = mem_array(ADDR, memory, END);
	struct python_heap h;
	char *name;

	(void)state;
	assert_int_equal(python_heap_init(&h, m, &l), 0);
	name = python_qualnames_find(q, &h, ADDR + INTERP, CODE, "buy");
	assert_non_null(name);
	free(name);
	put(FUNCTIONS + 16, CODE + 1024);
	assert_null(python_qualnames_find(q, &h, ADDR + INTERP, CODE, "buy"));
	python_heap_deinit(&h);
	mem_free(m);
	python_qualnames_free(q);
}

static struct python_layout damaged;

static void find_damaged(const uint8_t *bytes, size_t len)
{
	free(find(&damaged, bytes, len, CODE, "buy"));
}

static void survives_mutation(void **state)
{
	(void)state;
	damaged = fill();
	mutate(memory, END, find_damaged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_names_its_code),
		cmocka_unit_test(what_is_not_certain_is_no_name),
		cmocka_unit_test(functions_that_are_gone_name_nothing),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
