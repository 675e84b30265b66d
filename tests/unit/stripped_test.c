// SPDX-License-Identifier: Apache-2.0
/* What stripped files still say: exported symbols, and where functions begin and end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/compiled.h"

/* Functions of 32 bytes each; of an assembler's there is often no more than a global label. */
static const char assembly[] =
	"	.text\n"
	"	.globl label, unsized, proven, sized, datum, last\n"
	"	.type unsized, @function\n	.type private, @function\n	.type proven, "
	"@function\n"
	"	.type sized, @function\n	.type datum, @object\n	.type last, @function\n"
	"label:		.skip 32\n"
	"hidden:	.skip 32\n"
	"unsized:	.skip 32\n"
	"private:	.skip 32\n"
	"proven:	.cfi_startproc\n	.skip 32\n	.cfi_endproc\n"
	"		.skip 32\n"
	"sized:		.skip 32\n	.size sized, 32\n"
	"		.skip 32\n"
	"datum:		.skip 32\n	.size datum, 32\n"
	"nameless:	.cfi_startproc\n	.skip 32\n	.cfi_endproc\n"
	"last:		.skip 32\n"
	"	.section more, \"ax\"\n"
	"		.skip 64\n";

struct expected {
	const char *symbol;
	uint64_t offset;
	const char *name;
};

static struct object *build(struct compiled *c, const char *command)
{
	compiled_source(c, "a.s", assembly);
	if (!compiled_run(c, "gcc -nostdlib -shared -o a.so a.s") || !compiled_run(c, command))
		skip();
	return compiled_open(c, "a.so");
}

static void check(struct compiled *c, struct object *o, const struct expected *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t vaddr = compiled_symbol(o, cases[i].symbol) + cases[i].offset;
		const char *name = compiled_name(c, o, vaddr);

		if (strcmp(name, cases[i].name))
			fail_msg("%s+%d is \"%s\"", cases[i].symbol, (int)cases[i].offset, name);
	}
}

#define CHECK(c, o, cases) check(c, o, cases, sizeof(cases) / sizeof(*(cases)))

static void exported_symbols_name_no_more_than_is_proven(void **state)
{
	static const struct expected cases[] = {
		{ "label", 0, "" },	   { "label", 31, "" },	       { "label", 40, "" },
		{ "unsized", 0, "" },	   { "unsized", 31, "" },      { "unsized", 40, "" },
		{ "proven", 0, "proven" }, { "proven", 31, "proven" }, { "proven", 32, "" },
		{ "sized", 0, "sized" },   { "sized", 31, "sized" },   { "sized", 32, "" },
		{ "datum", 4, "" },	   { "datum", 40, "" },	       { "last", 0, "" },
		{ "last", 40, "" },
	};
	struct object *o = build(*state, "strip a.so");

	assert_string_equal(object_symbol_source(o), "dynsym");
	CHECK(*state, o, cases);
}

static void private_symbols_show_where_a_function_ends(void **state)
{
	static const struct expected cases[] = {
		{ "label", 31, "label" },
		{ "hidden", 0, "hidden" },
		{ "unsized", 31, "unsized" },
		{ "unsized", 32, "private" },
		{ "private", 31, "private" },
		{ "proven", 31, "proven" },
		{ "proven", 32, "" },
		{ "sized", 31, "sized" },
		{ "sized", 32, "" },
		{ "datum", 4, "" },
		{ "nameless", 4, "nameless" },
		{ "last", 31, "last" },
		{ "last", 32, "" },
	};
	struct object *o = build(*state, "true");

	assert_string_equal(object_symbol_source(o), "symtab");
	CHECK(*state, o, cases);
}

static void a_table_without_private_symbols_shows_nothing(void **state)
{
	static const struct expected cases[] = {
		{ "label", 0, "" },
		{ "unsized", 31, "" },
		{ "proven", 31, "proven" },
		{ "sized", 31, "sized" },
	};
	struct object *o = build(*state, "strip -x a.so");

	assert_string_equal(object_symbol_source(o), "symtab");
	CHECK(*state, o, cases);
}

static void minidebuginfo_does_not_reach_over_exported_functions(void **state)
{
	static const struct expected cases[] = {
		{ "unsized", 0, "unsized" },  { "unsized", 31, "unsized" },
		{ "unsized", 32, "private" }, { "proven", 0, "proven" },
		{ "proven", 32, "" },	      { "sized", 0, "sized" },
		{ "sized", 31, "sized" },
	};
	struct object *o = build(
		*state,
		"echo private >keep && objcopy -S --keep-symbols=keep a.so mini && xz mini && "
		"strip a.so && objcopy --add-section .gnu_debugdata=mini.xz a.so");

	assert_string_equal(object_symbol_source(o), "minidebuginfo");
	CHECK(*state, o, cases);
}

static void code_without_a_name_goes_by_where_its_function_begins(void **state)
{
	struct compiled *c = *state;
	struct object *o = build(c, "strip a.so");
	uint64_t nameless = compiled_symbol(o, "datum") + 32, start, size;
	char want[64];

	snprintf(want, sizeof(want), "a.so+0x%lx", (unsigned long)nameless);
	for (uint64_t at = 0; at < 32; at++) {
		assert_int_equal(compiled_lookup(c, o, nameless + at), 1);
		assert_string_equal(profile_get_string(c->profile, compiled_function(c, 0)->name),
				    want);
		assert_int_equal(c->flags, LOCATION_UNNAMED);
		assert_true(object_function(o, nameless + at, &start, &size));
		assert_int_equal(start, nameless);
		assert_int_equal(size, 32);
	}
	/* Nothing says which function this is. */
	assert_int_equal(compiled_lookup(c, o, nameless + 32), 0);
	assert_int_equal(c->flags, 0);
	assert_false(object_function(o, nameless + 32, &start, &size));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, compiled_setup, compiled_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(exported_symbols_name_no_more_than_is_proven),
		TEST(private_symbols_show_where_a_function_ends),
		TEST(a_table_without_private_symbols_shows_nothing),
		TEST(minidebuginfo_does_not_reach_over_exported_functions),
		TEST(code_without_a_name_goes_by_where_its_function_begins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
