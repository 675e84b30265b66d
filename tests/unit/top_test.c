// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/view_text.h"

static void check(struct profile *p, const struct options *opt, const char *expected)
{
	assert_text(p, opt, SHOW_TOP, NULL, expected);
	profile_free(p);
}

static void flat_is_the_leaf_and_cum_is_everybody(void **state)
{
	struct profile *p = text_profile();
	struct options opt;

	(void)state;
	text_options(&opt);
	text_sample(p, "main;work", 60, 1);
	text_sample(p, "main;idle", 30, 1);
	text_sample(p, "main", 10, 1);
	check(p, &opt,
	      "      Flat  Flat%    Sum%        Cum   Cum%  Name\n"
	      "     0.60s  60.0%   60.0%      0.60s  60.0%  work\n"
	      "     0.30s  30.0%   90.0%      0.30s  30.0%  idle\n"
	      "     0.10s  10.0%  100.0%      1.00s 100.0%  main\n");
}

static void recursion_counts_once(void **state)
{
	struct profile *p = text_profile();
	struct options opt;

	(void)state;
	text_options(&opt);
	opt.sample_type = "samples";
	text_sample(p, "main;fib;fib;fib", 3, 1);
	text_sample(p, "main;fib", 1, 1);
	check(p, &opt,
	      "      Flat  Flat%    Sum%        Cum   Cum%  Name\n"
	      "         4 100.0%  100.0%          4 100.0%  fib\n"
	      "         0   0.0%  100.0%          4 100.0%  main\n");
}

static void inlined_functions_count_as_functions(void **state)
{
	struct profile *p = text_profile();
	struct options opt;

	(void)state;
	text_options(&opt);
	opt.sample_type = "samples";
	text_sample(p, "main;work+inlined", 3, 1);
	text_sample(p, "main;work+inlined;leaf", 1, 1);
	check(p, &opt,
	      "      Flat  Flat%    Sum%        Cum   Cum%  Name\n"
	      "         3  75.0%   75.0%          4 100.0%  inlined\n"
	      "         1  25.0%  100.0%          1  25.0%  leaf\n"
	      "         0   0.0%  100.0%          4 100.0%  main\n"
	      "         0   0.0%  100.0%          4 100.0%  work\n");
}

static void rows_are_limited_and_the_rest_is_counted(void **state)
{
	struct profile *p = text_profile();
	struct options opt;

	(void)state;
	text_options(&opt);
	opt.sample_type = "samples";
	opt.n_rows = 1;
	text_sample(p, "main;a", 3, 1);
	text_sample(p, "main;b", 1, 1);
	check(p, &opt,
	      "      Flat  Flat%    Sum%        Cum   Cum%  Name\n"
	      "         3  75.0%   75.0%          3  75.0%  a\n"
	      "                                               … 2 more\n");
}

static void names_of_targets_cannot_write_to_the_terminal(void **state)
{
	struct profile *p = text_profile();
	struct options opt;

	(void)state;
	text_options(&opt);
	opt.sample_type = "samples";
	text_sample(p, "evil\033[2J\n\xff", 1, 1);
	check(p, &opt,
	      "      Flat  Flat%    Sum%        Cum   Cum%  Name\n"
	      "         1 100.0%  100.0%          1 100.0%  evil\\x1b[2J\\x0a\\xff\n");
}

static void long_names_are_cut_at_the_width(void **state)
{
	struct profile *p = text_profile();
	struct options opt;

	(void)state;
	text_options(&opt);
	opt.sample_type = "samples";
	setenv("COLUMNS", "60", 1);
	text_sample(p,
		    "ab\xc3\xa4"
		    "defghijklmnopq",
		    1, 1);
	check(p, &opt,
	      "      Flat  Flat%    Sum%        Cum   Cum%  Name\n"
	      "         1 100.0%  100.0%          1 100.0%  ab\xc3\xa4"
	      "defghijkl…\n");
	unsetenv("COLUMNS");
}

static void an_empty_profile_has_an_empty_table(void **state)
{
	struct profile *p = profile_new();
	struct options opt;

	(void)state;
	text_options(&opt);
	check(p, &opt, "      Flat  Flat%    Sum%        Cum   Cum%  Name\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flat_is_the_leaf_and_cum_is_everybody),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(inlined_functions_count_as_functions),
		cmocka_unit_test(rows_are_limited_and_the_rest_is_counted),
		cmocka_unit_test(names_of_targets_cannot_write_to_the_terminal),
		cmocka_unit_test(long_names_are_cut_at_the_width),
		cmocka_unit_test(an_empty_profile_has_an_empty_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
