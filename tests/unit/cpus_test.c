// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bpf/cpus.h"
#include "core/scoped.h"
#include "tests/unit/mutation.h"

static void lists_have_numbers_and_ranges(void **state)
{
	static const struct {
		const char *list;
		int n;
		const char *is_on; /* of the first eight */
	} cases[] = {
		{ "0", 1, "10000000" },
		{ "0-1\n", 2, "11000000" },
		{ "0-3,5,7-100\n", 99, "11110101" },
		{ "2-2", 1, "00100000" },
		{ "0-65535", 65536, "11111111" },
		{ "", -EBADMSG, NULL },
		{ "\n", -EBADMSG, NULL },
		{ "0-", -EBADMSG, NULL },
		{ "3-1", -EBADMSG, NULL },
		{ "1,1", -EBADMSG, NULL },
		{ "2,0-1", -EBADMSG, NULL },
		{ "0,", -EBADMSG, NULL },
		{ "-1", -EBADMSG, NULL },
		{ "0-1 ", -EBADMSG, NULL },
		{ "0-1;", -EBADMSG, NULL },
		{ "65536", -EBADMSG, NULL },
		{ "99999999999", -EBADMSG, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool is_on[8] = { false };

		assert_int_equal(cpus_parse(cases[i].list, NULL, 0), cases[i].n);
		assert_int_equal(cpus_parse(cases[i].list, is_on, 8), cases[i].n);
		for (int cpu = 0; cpu < 8 && cases[i].n > 0; cpu++)
			assert_int_equal(is_on[cpu], cases[i].is_on[cpu] == '1');
	}
}

static void parse(const uint8_t *bytes, size_t len)
{
	SCOPED(free) char *list = strndup((const char *)bytes, len);
	bool is_on[4] = { false };

	cpus_parse(list, is_on, 4);
}

static void survives_mutation(void **state)
{
	static const char good[] = "0-3,5,7-100\n";

	(void)state;
	mutate(good, sizeof(good) - 1, parse);
}

static void what_cannot_be_read_is_all_of_them(void **state)
{
	static const char *const bad[] = { "", "no list", "70000" };
	char path[] = "/tmp/weft-cpus-XXXXXX";
	struct cpus c;

	(void)state;
	assert_int_equal(cpus_load(&c, "/no/such/file"), 0);
	assert_int_equal(c.n_online, c.n_possible);
	cpus_deinit(&c);
	close(mkstemp(path));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		FILE *f = fopen(path, "w");

		fputs(bad[i], f);
		fclose(f);
		assert_int_equal(cpus_load(&c, path), 0);
		assert_int_equal(c.n_online, c.n_possible);
		for (int cpu = 0; cpu < c.n_possible; cpu++)
			assert_true(c.is_online[cpu]);
		cpus_deinit(&c);
	}
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_have_numbers_and_ranges),
		cmocka_unit_test(survives_mutation),
		cmocka_unit_test(what_cannot_be_read_is_all_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
