// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_codes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>

#include "python_memory.h"

#define LIMIT 65536 /* code objects */

struct world {
	struct python_layout layout; /* of 3.12, where the name is no part of the identity */
	uint8_t memory[MEMORY_LEN];
	uint32_t identity; /* of the code object in it */
	struct python_code_source source;
	struct python_share share;
	struct python_part part;
	struct python_codes *codes;
};

static int set_up(void **state)
{
	static const uint8_t lines[2] = { 0xe9, 2 };
	struct world *w = calloc(1, sizeof(*w));
	struct python_code c;

	if (!w || python_layout_of_version(PYTHON_VERSION(3, 12, 1), false, &w->layout))
		return -1;
	put_code(w->memory, &w->layout, lines, sizeof(lines));
	w->source.layout = &w->layout;
	w->source.mem = mem_array(MEMORY_ADDR, w->memory, MEMORY_LEN);
	w->part.share = &w->share;
	w->codes = python_codes_new(&w->part);
	if (python_code_read(w->source.mem, &w->layout, MEMORY_ADDR + CODE, 0, &c))
		return -1;
	w->identity = c.identity;
	python_code_deinit(&c);
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	python_codes_free(w->codes);
	mem_free(w->source.mem);
	free(w);
	return 0;
}

static uint32_t number(struct world *w, uint64_t addr, uint32_t identity)
{
	return python_codes_number(w->codes, &w->source, addr, identity);
}

static void a_code_object_has_one_number_and_its_name(void **state)
{
	struct world *w = *state;
	uint32_t n = number(w, MEMORY_ADDR + CODE, w->identity);

	assert_int_equal(n, 1);
	assert_string_equal(python_codes_get(w->codes, n)->name, "Class.run");
	assert_int_equal(number(w, MEMORY_ADDR + CODE, w->identity), n);
	assert_null(python_codes_get(w->codes, 0));
	assert_null(python_codes_get(w->codes, 2));
}

/* The kernel half saw another object at the address than is there now. */
static void one_that_was_replaced_has_no_name(void **state)
{
	struct world *w = *state;
	uint32_t n = number(w, MEMORY_ADDR + CODE, w->identity + 1);

	assert_int_not_equal(n, 0);
	assert_null(python_codes_get(w->codes, n));
	assert_int_equal(number(w, MEMORY_ADDR + CODE, 0), 0); /* nobody saw it */
}

static void one_that_could_not_be_read_gets_more_chances(void **state)
{
	struct world *w = *state;
	uint32_t n;

	put_bytes(w->memory, NAME + w->layout.str.length, 1 << 30, 8);
	n = number(w, MEMORY_ADDR + CODE, w->identity);
	assert_null(python_codes_get(w->codes, n));
	put_bytes(w->memory, NAME + w->layout.str.length, 9, 8);
	assert_int_equal(number(w, MEMORY_ADDR + CODE, w->identity), n);
	assert_non_null(python_codes_get(w->codes, n));
}

/* Threads of free-threaded builds copy the code when they come to run it. */
static void copies_of_the_code_are_read_when_one_is_met(void **state)
{
	struct world *w = *state;
	uint64_t code = MEMORY_ADDR + CODE, copy = 0x7e0000000100;
	const struct python_code *c;
	uint32_t n;

	w->layout.code.tlbc = 224;
	n = number(w, code, w->identity);
	c = python_codes_get(w->codes, n);
	python_codes_visit(w->codes, &w->source, n, 0);
	assert_int_equal(c->n_copies, 0); /* its own code: nobody looks */
	put_bytes(w->memory, CODE + 224, MEMORY_ADDR + COPIES, 8);
	put_bytes(w->memory, COPIES, 2, 8);
	put_bytes(w->memory, COPIES + 8, code + w->layout.code.code, 8);
	put_bytes(w->memory, COPIES + 16, copy, 8);
	python_codes_visit(w->codes, &w->source, n, (uint32_t)(copy - code - w->layout.code.code));
	assert_int_equal(c->n_copies, 2);
	/* What is nowhere is not looked for for ever. */
	for (int i = 0; i < 100; i++)
		python_codes_visit(w->codes, &w->source, n, 1 << 20);
	put_bytes(w->memory, COPIES, 1, 8);
	python_codes_visit(w->codes, &w->source, n, 1 << 20);
	assert_int_equal(c->n_copies, 2);
	python_codes_visit(w->codes, &w->source, 7, 0); /* no such number */
}

static void the_copy_names_what_is_gone(void **state)
{
	struct world *w = *state;
	struct wire_python_code copy = copied_code(w->memory, w->identity);
	const struct wire_python_code *copies[] = { &copy };
	uint32_t n;

	memset(w->memory, 0, sizeof(w->memory));
	w->source.copies = copies;
	w->source.n_copies = 1;
	n = number(w, MEMORY_ADDR + CODE, w->identity);
	assert_string_equal(python_codes_get(w->codes, n)->name, "Class.run");
}

static void what_is_known_stays_known_when_there_are_too_many(void **state)
{
	struct world *w = *state;
	uint32_t n = number(w, MEMORY_ADDR + CODE, w->identity), refused = 0;
	size_t before;

	for (uint64_t i = 0; i < LIMIT; i++)
		refused += !number(w, i * 16, 1);
	assert_int_equal(refused, 1);
	before = python_codes_memory(w->codes);
	for (uint64_t i = 0; i < LIMIT; i++)
		assert_int_equal(number(w, (LIMIT + i) * 16, 1), 0);
	assert_int_equal(python_codes_memory(w->codes), before);
	assert_int_equal(number(w, MEMORY_ADDR + CODE, w->identity), n);
	assert_non_null(python_codes_get(w->codes, n));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_code_object_has_one_number_and_its_name, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(one_that_was_replaced_has_no_name, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(one_that_could_not_be_read_gets_more_chances,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(copies_of_the_code_are_read_when_one_is_met, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_copy_names_what_is_gone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_known_stays_known_when_there_are_too_many,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
