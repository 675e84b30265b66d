// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/orc_find.h"
#include "core/scoped.h"
#include "symbolizer/kallsyms.h"

SCOPED_DEFINE(struct kallsyms, kallsyms_free)

/* Of a kernel whose symbols are these: where its text, addresses and entries begin and end; 0: no
 * such. */
static struct orc_tables find(const uint64_t at[6])
{
	static const char *const names[] = { "_stext",
					     "_etext",
					     "__start_orc_unwind_ip",
					     "__stop_orc_unwind_ip",
					     "__start_orc_unwind",
					     "__stop_orc_unwind" };
	char path[] = "/tmp/orc_find_test.XXXXXX";
	SCOPED(kallsyms_free) struct kallsyms *k = NULL;
	FILE *f = fdopen(mkstemp(path), "w");
	struct orc_tables out;
	int err;

	fprintf(f, "ffffffff80000000 T startup\nffffffff81000500 T return_to_handler\n");
	for (int i = 0; i < 6; i++)
		if (at[i])
			fprintf(f, "%016jx %c %s\n", (uintmax_t)at[i], i < 2 ? 'T' : 'R', names[i]);
	fclose(f);
	k = kallsyms_load(path, &err);
	unlink(path);
	assert_non_null(k);
	orc_find(k, &out);
	return out;
}

#define TEXT 0xffffffff81000000, 0xffffffff82000000
#define IPS 0xffffffff83000000

static void tables_are_where_the_symbols_say(void **state)
{
	struct orc_tables t = find((uint64_t[]){ TEXT, IPS, IPS + 400, IPS + 400, IPS + 1000 });

	(void)state;
	assert_int_equal(t.n, 100);
	assert_int_equal(t.text, 0xffffffff81000000);
	assert_int_equal(t.text_end, 0xffffffff82000000);
	assert_int_equal(t.addresses, IPS);
	assert_int_equal(t.entries, IPS + 400);
	assert_int_equal(t.traps[0], 0xffffffff81000500);
	assert_int_equal(t.traps[1], 0);
}

static void what_is_not_as_expected_is_not_used(void **state)
{
	static const uint64_t cases[][6] = {
		{ TEXT, 0, 0, 0, 0 },				 /* no ORC */
		{ 0, 0, IPS, IPS + 400, IPS + 400, IPS + 1000 }, /* hidden */
		{ TEXT, IPS, IPS + 400, IPS + 400, IPS + 1200 }, /* entries of 8 bytes */
		{ TEXT, IPS, IPS + 402, IPS + 400, IPS + 1000 }, /* not a number of ints */
		{ TEXT, IPS + 400, IPS, IPS + 400, IPS + 1000 }, /* ends before it begins */
		{ TEXT, IPS, IPS + 4, IPS + 400, IPS + 406 },	 /* nothing to search in */
		{ 0xffffffff81000000, 0xffffffff81000000, IPS, IPS + 400, IPS + 400, IPS + 1000 },
		{ 0xffffffff01000000, 0xffffffff82000000, IPS, IPS + 400, IPS + 400, IPS + 1000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(find(cases[i]).n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_where_the_symbols_say),
		cmocka_unit_test(what_is_not_as_expected_is_not_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
