// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cmd/accounting.h"
#include "cmd/output.h"
#include "cmd/selection.h"
#include "tests/unit/view_text.h"

static struct profile *service(void)
{
	struct profile *p = text_profile();

	text_sample(p, "main;serve;parse", 50, 1);
	text_sample(p, "main;serve;parse;alloc", 30, 1);
	text_sample(p, "main;batch;alloc", 15, 2);
	text_sample(p, "main;batch", 5, 2);
	return p;
}

static void check(const struct options *opt, int what, const char *expression, const char *expected)
{
	struct profile *p = service();

	assert_text(p, opt, what, expression, expected);
	profile_free(p);
}

static void setup(struct options *opt)
{
	text_options(opt);
	opt->sample_type = "samples";
}

static void the_tree_begins_at_the_root(void **state)
{
	struct options opt;

	(void)state;
	setup(&opt);
	check(&opt, SHOW_TREE, NULL,
	      "     Total Total%      Self  Self%  Name\n"
	      "       100 100.0%         0   0.0%  main\n"
	      "        80  80.0%         0   0.0%   serve\n"
	      "        80  80.0%        50  50.0%    parse\n"
	      "        30  30.0%        30  30.0%     alloc\n"
	      "        20  20.0%         5   5.0%   batch\n"
	      "        15  15.0%        15  15.0%    alloc\n");
}

static void small_branches_are_counted_not_shown(void **state)
{
	struct profile *p = text_profile();
	struct options opt;
	char *text;

	(void)state;
	setup(&opt);
	text_sample(p, "main", 999, 1);
	text_sample(p, "main;rare;rarer", 1, 1);
	text = text_of(p, &opt, SHOW_TREE, NULL);
	assert_string_equal(text,
			    "     Total Total%      Self  Self%  Name\n"
			    "      1000 100.0%       999  99.9%  main\n"
			    "                                    … 1 more branches, not shown\n");
	free(text);
	profile_free(p);
}

static void callers_lead_up_from_the_match(void **state)
{
	struct options opt;

	(void)state;
	setup(&opt);
	check(&opt, SHOW_CALLERS, "^alloc$",
	      "     Total Total%      Self  Self%  Name\n"
	      "        45  45.0%         0   0.0%  alloc\n"
	      "        30  30.0%         0   0.0%   parse\n"
	      "        30  30.0%         0   0.0%    serve\n"
	      "        30  30.0%        30  30.0%     main\n"
	      "        15  15.0%         0   0.0%   batch\n"
	      "        15  15.0%        15  15.0%    main\n");
}

static void peek_shows_direct_callers_and_callees(void **state)
{
	struct options opt;

	(void)state;
	setup(&opt);
	check(&opt, SHOW_PEEK, "^parse$",
	      "      Flat  Flat%         Cum   Cum%      Calls  Calls% | Name\n"
	      "----------------------------------------------------------+-------------\n"
	      "                                                80  100.0% |   serve\n"
	      "        50  50.0%          80  80.0%                      | parse\n"
	      "                                                30   37.5% |   alloc\n"
	      "----------------------------------------------------------+-------------\n");
}

static void a_recursive_call_counts_once(void **state)
{
	struct profile *p = text_profile();
	struct options opt;
	char *text;

	(void)state;
	setup(&opt);
	text_sample(p, "main;even;odd;even;odd", 10, 1);
	text = text_of(p, &opt, SHOW_PEEK, "^odd$");
	assert_string_equal(
		text, "      Flat  Flat%         Cum   Cum%      Calls  Calls% | Name\n"
		      "----------------------------------------------------------+-------------\n"
		      "                                                10  100.0% |   even\n"
		      "        10 100.0%          10 100.0%                      | odd\n"
		      "                                                10  100.0% |   even\n"
		      "----------------------------------------------------------+-------------\n");
	free(text);
	profile_free(p);
}

static void what_matches_nothing_is_said(void **state)
{
	struct profile *p = service();
	struct options opt;

	(void)state;
	setup(&opt);
	assert_null(text_of(p, &opt, SHOW_PEEK, "nowhere"));
	assert_null(text_of(p, &opt, SHOW_CALLERS, "nowhere"));
	opt.sample_type = "wall";
	assert_null(text_of(p, &opt, SHOW_TOP, NULL));
	profile_free(p);
}

static void filters_keep_percentages_of_the_whole(void **state)
{
	struct options opt;

	(void)state;
	setup(&opt);
	opt.focus = "^alloc$";
	opt.ignore = "^batch$";
	opt.n_rows = 1;
	check(&opt, SHOW_TOP, NULL,
	      "      Flat  Flat%    Sum%        Cum   Cum%  Name\n"
	      "        30  30.0%   30.0%         30  30.0%  alloc\n"
	      "                                               … 3 more\n");
}

static void labels_choose_samples(void **state)
{
	struct options opt;

	(void)state;
	setup(&opt);
	string_list_add(&opt.labels, "pid=2", 5);
	check(&opt, SHOW_TOP, NULL,
	      "      Flat  Flat%    Sum%        Cum   Cum%  Name\n"
	      "        15  15.0%   15.0%         15  15.0%  alloc\n"
	      "         5   5.0%   20.0%         20  20.0%  batch\n"
	      "         0   0.0%   20.0%         20  20.0%  main\n");
	options_deinit(&opt);
	setup(&opt);
	string_list_add(&opt.labels, "pid=22", 6);
	check(&opt, SHOW_TOP, NULL, "      Flat  Flat%    Sum%        Cum   Cum%  Name\n");
	options_deinit(&opt);
}

static int64_t kept_of(const struct profile *p, const struct options *opt)
{
	struct view v;
	int64_t kept;

	assert_int_equal(view_init(&v, p, opt, stdout), 0);
	kept = v.kept;
	view_deinit(&v);
	return kept;
}

static void tasks_that_asyncio_named_are_chosen_together(void **state)
{
	struct profile *p = text_profile();
	static const struct {
		const char *name;
		int64_t n;
	} tasks[] = { { "Task-7", 1 }, { "Task-12", 2 }, { "Task-x", 4 }, { "refresher", 8 } };
	struct options opt;

	(void)state;
	setup(&opt);
	for (size_t i = 0; i < sizeof(tasks) / sizeof(*tasks); i++) {
		struct label task = { .key = profile_string(p, "task"),
				      .str = profile_string(p, tasks[i].name) };
		int64_t values[MAX_VALUES] = { tasks[i].n, tasks[i].n };

		profile_add(p, 0, profile_label_set(p, &task, 1), 0, values);
	}
	string_list_add(&opt.labels, "task=Task-*", 11);
	assert_int_equal(kept_of(p, &opt), 3);
	options_deinit(&opt);
	profile_free(p);
}

static struct profile *python_service(void)
{
	struct profile *p = text_profile();

	text_sample(p, "main;eval;py_run;call;py_serve;deflate", 60, 1);
	text_sample(p, "main;eval;py_run;call+inlined;py_serve", 30, 1);
	text_sample(p, "main;collect", 10, 1);
	return p;
}

static void only_one_language_is_shown(void **state)
{
	struct profile *p = python_service();
	struct options opt;

	(void)state;
	setup(&opt);
	opt.only = "python";
	assert_text(p, &opt, SHOW_TREE, NULL,
		    "     Total Total%      Self  Self%  Name\n"
		    "        90  90.0%         0   0.0%  py_run\n"
		    "        90  90.0%        90  90.0%   py_serve\n"
		    "        10  10.0%        10  10.0%  [no python]\n");
	opt.focus = "deflate"; /* which is not shown */
	assert_text(p, &opt, SHOW_TREE, NULL,
		    "     Total Total%      Self  Self%  Name\n"
		    "        60  60.0%         0   0.0%  py_run\n"
		    "        60  60.0%        60  60.0%   py_serve\n");
	opt.focus = NULL;
	opt.only = NULL;
	selection_by_label(p, "pid");
	opt.only = "python";
	assert_text(p, &opt, SHOW_TREE, NULL,
		    "     Total Total%      Self  Self%  Name\n"
		    "       100 100.0%        10  10.0%  [pid: 1]\n"
		    "        90  90.0%         0   0.0%   py_run\n"
		    "        90  90.0%        90  90.0%    py_serve\n");
	profile_free(p);
}

static void only_one_language_is_written(void **state)
{
	struct profile *p = python_service();
	struct options opt;

	(void)state;
	setup(&opt);
	opt.only = "python";
	assert_int_equal(selection_keep(p, &opt), 0);
	assert_int_equal(profile_n_samples(p), 2);
	opt.only = NULL;
	assert_text(p, &opt, SHOW_TREE, NULL,
		    "     Total Total%      Self  Self%  Name\n"
		    "        90  90.0%         0   0.0%  py_run\n"
		    "        90  90.0%        90  90.0%   py_serve\n"
		    "        10  10.0%        10  10.0%  [no python]\n");
	profile_free(p);
}

static void a_stack_deeper_than_any_call_stack_is_shown(void **state)
{
	enum { DEPTH = 100000 };
	struct profile *p = text_profile();
	uint32_t *locations = calloc(DEPTH, sizeof(*locations));
	int64_t values[MAX_VALUES] = { 1, 1 };
	struct options opt;
	char *text;

	(void)state;
	setup(&opt);
	opt.n_rows = 70;
	for (uint32_t i = 0; i < DEPTH; i++)
		locations[i] = text_location(p, i % 2 ? "odd" : "even", i % 2 ? 3 : 4);
	profile_add(p, profile_stack(p, locations, DEPTH), 0, 0, values);
	text = text_of(p, &opt, SHOW_TREE, NULL);
	assert_non_null(strstr(text, "(69) even\n"));
	free(text);
	free(locations);
	profile_free(p);
}

static void accounting_sums_what_the_profile_counts(void **state)
{
	struct profile *p = text_profile();
	struct accounting a = accounting_of(p);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	assert_false(a.is_known);
	profile_count(p, "ticks.sampled", 1000);
	profile_count(p, "ticks.skipped", 5000);
	profile_count(p, "ticks.lost_ring", 7);
	profile_count(p, "ticks.lost_busy", 3);
	profile_count(p, "end.root", 900);
	profile_count(p, "end.kernel_only", 89);
	profile_count(p, "end.max_frames", 11);
	profile_count(p, "maps.reread", 12);
	a = accounting_of(p);
	assert_true(a.is_known);
	assert_int_equal(a.sampled, 1000);
	assert_int_equal(a.lost, 10);
	assert_true(accounting_complete_percent(&a) > 98.89 &&
		    accounting_complete_percent(&a) < 98.91);
	assert_true(accounting_lost_percent(&a) > 0.98 && accounting_lost_percent(&a) < 1);
	accounting_print(&a, out);
	fclose(out);
	assert_string_equal(text, "98.9% complete · 10 lost");
	free(text);
	profile_free(p);
}

static void patterns_name_the_output(void **state)
{
	static const struct output_facts facts = {
		.pid = 42,
		.command = "my/cmd\n",
		.time_ns = 1700000000000000000,
		.host = "db1",
	};
	static const struct {
		const char *pattern, *path;
	} cases[] = {
		{ "weft.pb.gz", "weft.pb.gz" },
		{ "%c-%p.pb.gz", "my_cmd_-42.pb.gz" },
		{ "/tmp/%h/%t.html", "/tmp/db1/20231114T221320Z.html" },
		{ "100%%", "100%" },
		{ "%x%", "%x%" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *path = output_expand(cases[i].pattern, &facts);

		assert_string_equal(path, cases[i].path);
		free(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_tree_begins_at_the_root),
		cmocka_unit_test(small_branches_are_counted_not_shown),
		cmocka_unit_test(callers_lead_up_from_the_match),
		cmocka_unit_test(peek_shows_direct_callers_and_callees),
		cmocka_unit_test(a_recursive_call_counts_once),
		cmocka_unit_test(what_matches_nothing_is_said),
		cmocka_unit_test(filters_keep_percentages_of_the_whole),
		cmocka_unit_test(labels_choose_samples),
		cmocka_unit_test(tasks_that_asyncio_named_are_chosen_together),
		cmocka_unit_test(only_one_language_is_shown),
		cmocka_unit_test(only_one_language_is_written),
		cmocka_unit_test(a_stack_deeper_than_any_call_stack_is_shown),
		cmocka_unit_test(accounting_sums_what_the_profile_counts),
		cmocka_unit_test(patterns_name_the_output),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
