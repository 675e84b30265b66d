// SPDX-License-Identifier: Apache-2.0
/* Debug information that is small and costs much to read: it is given up, and for good. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/compiled.h"

#define N_UNITS 160
#define FUNCTION_LEN 16

/* DWARF 4: one kind of unit, with a line program (DW_AT_stmt_list), low_pc and high_pc. */
static const char abbrevs[] = ".section .debug_abbrev\n"
			      ".byte 1, 0x11, 0, 0x10, 0x17, 0x11, 1, 0x12, 7, 0, 0, 0\n";

/* A line program of 1 MB that is damaged at its first instruction. */
static const char line_program[] =
	".section .debug_line\n"
	".long 9f - 1f\n"
	"1: .value 4\n"
	".long 3f - 2f\n"
	"2: .byte 1, 1, 1, -5, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0\n"
	".asciz \"a.c\"\n"
	".byte 0, 0, 0, 0\n"
	"3: .byte 0, 0xff, 0xff, 0xff, 0xff, 0x0f\n"
	".fill 1 << 20, 1, 0\n"
	"9:\n";

/* Units that all have it. */
static struct object *open_costly(struct compiled *c)
{
	char path[128];
	FILE *out;

	snprintf(path, sizeof(path), "%s/a.s", c->dir);
	out = fopen(path, "w");
	assert_non_null(out);
	fputs(".text\n", out);
	for (int i = 0; i < N_UNITS; i++)
		fprintf(out,
			".globl f%d\n.type f%d, @function\nf%d: .fill %d, 1, 0x90\n.size f%d, %d\n",
			i, i, i, FUNCTION_LEN, i, FUNCTION_LEN);
	fputs(abbrevs, out);
	fputs(line_program, out);
	fputs(".section .debug_info\n", out);
	for (int i = 0; i < N_UNITS; i++)
		fprintf(out,
			".long e%d - s%d\ns%d: .value 4\n.long 0\n.byte 8, 1\n.long 0\n.quad f%d, "
			"%d\ne%d:\n",
			i, i, i, i, FUNCTION_LEN, i);
	fclose(out);
	if (!compiled_run(c, "gcc -shared -nostdlib -Wl,-Bsymbolic -o a.so a.s"))
		skip();
	return compiled_open(c, "a.so");
}

static void ask_for_all(struct compiled *c, struct object *o, int n)
{
	for (int i = 0; i < n; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%d", i);
		assert_string_equal(compiled_name(c, o, compiled_symbol(o, name) + 1), name);
	}
}

static void what_costs_too_much_once_is_not_read_again(void **state)
{
	struct compiled *c = *state;
	struct object *o = open_costly(c);

	/* Names come from the symbols all the time. */
	ask_for_all(c, o, N_UNITS);
	assert_string_equal(object_symbol_source(o), "dwarf");
	objects_flush(c->objects);
	assert_string_equal(object_symbol_source(o), "symtab");
	ask_for_all(c, o, N_UNITS);
	objects_flush(c->objects);
	assert_string_equal(object_symbol_source(o), "symtab");
}

static void what_is_read_a_few_times_may_be_read_again(void **state)
{
	struct compiled *c = *state;
	struct object *o = open_costly(c);

	/* Many more in all, but never too much between two times that memory was short. */
	for (int i = 0; i < 20; i++) {
		ask_for_all(c, o, N_UNITS / 8);
		assert_string_equal(object_symbol_source(o), "dwarf");
		objects_flush(c->objects);
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, compiled_setup, compiled_teardown)
	const struct CMUnitTest tests[] = {
		TEST(what_costs_too_much_once_is_not_read_again),
		TEST(what_is_read_a_few_times_may_be_read_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
