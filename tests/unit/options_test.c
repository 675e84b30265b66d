// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/options.h"

#define MAX_ARGS 12

struct parsed {
	struct options opt;
	char why[OPTIONS_WHY_MAX];
	int err;
	char *args[MAX_ARGS + 1];
	char line[256];
};

/* Splits a line at spaces, as a shell would without quotes. */
static void parse(struct parsed *p, unsigned int verb, const char *line)
{
	size_t n = 0;
	char *save = NULL;

	memset(p, 0, sizeof(*p));
	strncpy(p->line, line, sizeof(p->line) - 1);
	for (char *arg = strtok_r(p->line, " ", &save); arg && n < MAX_ARGS;
	     arg = strtok_r(NULL, " ", &save))
		p->args[n++] = arg;
	options_init(&p->opt);
	p->err = options_parse(&p->opt, verb, p->args, p->why);
}

static void durations_have_units(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns; /* 0: refused */
	} cases[] = {
		{ "30", 30000000000 },
		{ "30s", 30000000000 },
		{ "5m", 300000000000 },
		{ "1.5h", 5400000000000 },
		{ "500ms", 500000000 },
		{ "0.25", 250000000 },
		{ "10us", 10000 },
		{ "", 0 },
		{ "0", 0 },
		{ "-5", 0 },
		{ "5x", 0 },
		{ "s", 0 },
		{ ".5", 500000000 },
		{ ".", 0 },
		{ "1.2.3", 0 },
		{ "0x10", 0 },
		{ "1e9", 0 },
		{ "nan", 0 },
		{ "inf", 0 },
		{ " 5", 0 },
		{ "5 ", 0 },
		{ "99999999999999999", 0 },
		{ "99999999999999999999999999", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t ns = 1;
		int err = parse_duration(cases[i].text, &ns);

		assert_int_equal(err < 0, cases[i].ns == 0);
		assert_int_equal(ns, cases[i].ns ? cases[i].ns : 1);
	}
}

static void sizes_have_units(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes; /* 0: refused */
	} cases[] = {
		{ "4096", 4096 },  { "64K", 65536 },	{ "48M", 48 << 20 },
		{ "1G", 1 << 30 }, { "2MiB", 2 << 20 }, { "1.5k", 1536 },
		{ "0", 0 },	   { "", 0 },		{ "5Q", 0 },
		{ "-1", 0 },	   { "M", 0 },		{ "99999999999999G", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t bytes = 1;
		int err = parse_size(cases[i].text, &bytes);

		assert_int_equal(err < 0, cases[i].bytes == 0);
		assert_int_equal(bytes, cases[i].bytes ? cases[i].bytes : 1);
	}
}

static void percents_end_at_100(void **state)
{
	double percent = -1;

	(void)state;
	assert_int_equal(parse_percent("0", &percent), 0);
	assert_true(percent == 0);
	assert_int_equal(parse_percent("99.5%", &percent), 0);
	assert_true(percent == 99.5);
	assert_true(parse_percent("100.1", &percent) < 0);
	assert_true(parse_percent("-1", &percent) < 0);
	assert_true(parse_percent("5%%", &percent) < 0);
}

static void record_reads_every_form(void **state)
{
	struct parsed p;

	(void)state;
	parse(&p, ON_RECORD, "-aqF49 --duration=5m -o out.html --max-loss 1% -- sleep -p 5");
	assert_int_equal(p.err, 0);
	assert_true(p.opt.all && p.opt.quiet && !p.opt.verbose);
	assert_int_equal(p.opt.freq, 49);
	assert_int_equal(p.opt.duration_ns, 300000000000);
	assert_string_equal(p.opt.output, "out.html");
	assert_true(p.opt.max_loss == 1 && p.opt.min_complete < 0);
	assert_string_equal(p.opt.command[0], "sleep");
	assert_string_equal(p.opt.command[1], "-p");
	assert_null(p.opt.command[3]);
	options_deinit(&p.opt);
}

static void aliases_mean_the_same(void **state)
{
	static const char *const lines[] = { "-F 19",	  "-r 19",     "-r19",
					     "--freq 19", "--rate 19", "--rate=19" };

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct parsed p;

		parse(&p, ON_RECORD, lines[i]);
		assert_int_equal(p.err, 0);
		assert_int_equal(p.opt.freq, 19);
		options_deinit(&p.opt);
	}
}

static void pids_are_numbers_or_names(void **state)
{
	struct parsed p;

	(void)state;
	parse(&p, ON_RECORD, "-p 1,22 -p orders-api --pid=333,db");
	assert_int_equal(p.err, 0);
	assert_int_equal(p.opt.pids.n, 3);
	assert_int_equal(p.opt.pids.items[2], 333);
	assert_int_equal(p.opt.pid_names.n, 2);
	assert_string_equal(p.opt.pid_names.items[0], "orders-api");
	assert_string_equal(p.opt.pid_names.items[1], "db");
	assert_null(p.opt.pid_names.items[2]); /* others walk it as a vector */
	options_deinit(&p.opt);
}

static void two_dashes_end_the_options(void **state)
{
	struct parsed p;

	(void)state;
	parse(&p, ON_REPORT, "-n 5 -- -v --tree");
	assert_int_equal(p.err, 0);
	assert_int_equal(p.opt.files.n, 2);
	assert_string_equal(p.opt.files.items[0], "-v");
	assert_int_equal(p.opt.view, VIEW_TOP);
	options_deinit(&p.opt);
	parse(&p, ON_REPORT, "-");
	assert_int_equal(p.opt.files.n, 1);
	options_deinit(&p.opt);
}

static void mistakes_are_explained(void **state)
{
	static const struct {
		unsigned int verb;
		const char *line, *why;
	} cases[] = {
		{ ON_RECORD, "--durtion 5",
		  "unknown option --durtion\n  did you mean --duration?" },
		{ ON_RECORD, "--pids 5", "unknown option --pids\n  did you mean --pid?" },
		{ ON_REPORT, "--xyzzy", "unknown option --xyzzy" },
		{ ON_REPORT, "-F 99", "unknown option -F" },
		{ ON_RECORD, "-az", "unknown option -z" },
		{ ON_RECORD, "-d", "-d needs an argument: -d TIME" },
		{ ON_RECORD, "-p 1 --output", "--output needs an argument: --output FILE" },
		{ ON_RECORD, "--all=yes", "--all takes no argument" },
		{ ON_RECORD, "-d 5x",
		  "--duration 5x: not a duration such as 30, 30s, 5m or 500ms" },
		{ ON_RECORD, "-F 0", "--freq 0: not a number of Hz from 1 to 10000" },
		{ ON_RECORD, "-F 10001", "--freq 10001: not a number of Hz from 1 to 10000" },
		{ ON_RECORD, "-p 0", "--pid 0: not a number from 1" },
		{ ON_RECORD, "-p 99999999999", "--pid 99999999999: not a number from 1" },
		{ ON_RECORD, "-p 1,,2", "--pid ,2: an empty name in the list" },
		{ ON_RECORD, "-p -1", "--pid -1: not a number from 1, and no name begins so" },
		{ ON_REPORT, "--top --tree", "--top and --tree: a report has one view" },
		{ ON_RECORD, "--tid sleep", "--tid sleep: not a number from 1" },
		{ ON_RECORD, "--memory lots",
		  "--memory lots: not a size such as 65536, 64K or 48M" },
		{ ON_RECORD, "--max-loss 101", "--max-loss 101: not a percentage from 0 to 100" },
		{ ON_RECORD, "-a --", "no command after --" },
		{ ON_REPORT, "--focus (", "--focus (: Unmatched ( or \\(" },
		{ ON_REPORT, "--callers [a", "--callers [a: Unmatched [, [^, [:, [., or [=" },
		{ ON_REPORT, "--label pid", "--label pid: not of the form KEY=VALUE" },
		{ ON_REPORT, "--label =1", "--label =1: not of the form KEY=VALUE" },
		{ ON_REPORT, "--output=", "--output : empty" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct parsed p;

		parse(&p, cases[i].verb, cases[i].line);
		assert_true(p.err < 0);
		assert_string_equal(p.why, cases[i].why);
		options_deinit(&p.opt);
	}
}

static void no_verb_has_a_letter_twice(void **state)
{
	size_t n;
	const struct option_info *o = options_table(&n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = i + 1; j < n; j++) {
			if (!(o[i].verbs & o[j].verbs))
				continue;
			assert_string_not_equal(o[i].name, o[j].name);
			assert_false(o[i].letter && o[i].letter == o[j].letter);
			assert_false(o[i].letter && o[i].letter == o[j].alias_letter);
		}
	}
}

static void edits_are_counted(void **state)
{
	(void)state;
	assert_int_equal(options_distance("record", "record"), 0);
	assert_int_equal(options_distance("recrod", "record"), 1);
	assert_int_equal(options_distance("recor", "record"), 1);
	assert_int_equal(options_distance("rexord", "record"), 1);
	assert_int_equal(options_distance("", "top"), 3);
	assert_true(options_distance("a-word-that-is-far-too-long-to-be-a-mistake", "top") >=
		    NEAR_ENOUGH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_have_units),
		cmocka_unit_test(sizes_have_units),
		cmocka_unit_test(percents_end_at_100),
		cmocka_unit_test(record_reads_every_form),
		cmocka_unit_test(aliases_mean_the_same),
		cmocka_unit_test(pids_are_numbers_or_names),
		cmocka_unit_test(two_dashes_end_the_options),
		cmocka_unit_test(mistakes_are_explained),
		cmocka_unit_test(no_verb_has_a_letter_twice),
		cmocka_unit_test(edits_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
