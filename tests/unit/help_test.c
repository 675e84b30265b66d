// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/capture.h"

/* What a verb prints, to be freed. */
static char *output_of(const char *verb, const char *argument, bool man)
{
	struct options opt;
	int status;
	char *text;

	options_init(&opt);
	opt.man = man;
	if (argument)
		assert_int_equal(string_list_add(&opt.files, argument, strlen(argument)), 0);
	text = capture(verb_find(verb), &opt, &status);
	assert_int_equal(status, EXIT_OK);
	options_deinit(&opt);
	return text;
}

static bool is_known(const struct verb *v, const char *name, size_t len)
{
	size_t n;
	const struct option_info *o = options_table(&n);

	for (; n; n--, o++)
		if (o->verbs & v->bit && !o->is_hidden &&
		    ((strlen(o->name) == len && !memcmp(o->name, name, len)) ||
		     (o->alias && strlen(o->alias) == len && !memcmp(o->alias, name, len))))
			return true;
	return false;
}

/* Every option of the verb is in the text behind these dashes, and no other is. */
static void check_options(const struct verb *v, const char *text, const char *dashes)
{
	size_t n;
	const struct option_info *o = options_table(&n);

	for (; n; n--, o++) {
		char name[64];

		snprintf(name, sizeof(name), "%s%s", dashes, o->name);
		if (o->verbs & v->bit && !o->is_hidden && !strstr(text, name))
			fail_msg("%s lacks --%s", v->name, o->name);
	}
	for (const char *s = strstr(text, dashes); s; s = strstr(s + 1, dashes)) {
		const char *name = s + strlen(dashes);
		size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz-");

		if (len && !is_known(v, name, len))
			fail_msg("%s shows --%.*s, which it does not know", v->name, (int)len,
				 name);
	}
}

static void help_has_every_option_and_no_other(void **state)
{
	(void)state;
	for (size_t i = 0; verbs[i]; i++) {
		char *text = output_of("help", verbs[i]->name, false);

		check_options(verbs[i], text, " --");
		free(text);
	}
}

/* In roff a dash is \-. */
static void remove_backslashes(char *text)
{
	char *to = text;

	for (; *text; text++)
		if (text[0] != '\\' || text[1] != '-')
			*to++ = *text;
	*to = 0;
}

static void man_pages_have_every_option_and_no_other(void **state)
{
	(void)state;
	for (size_t i = 0; verbs[i]; i++) {
		char *text = output_of("help", verbs[i]->name, true);
		char *exit_status = strstr(text, ".SH EXIT STATUS");

		assert_non_null(exit_status);
		*exit_status = 0; /* the same in every page */
		remove_backslashes(text);
		check_options(verbs[i], text, "\\fB--");
		free(text);
	}
}

/* The part of a completion script that is about one verb. */
static char *part(const char *script, const char *begin, const char *end)
{
	const char *from = strstr(script, begin), *to;

	assert_non_null(from);
	to = strstr(from + strlen(begin), end);
	assert_non_null(to);
	return strndup(from, (size_t)(to - from));
}

static void bash_and_zsh_complete_every_option_and_no_other(void **state)
{
	static const struct {
		const char *shell, *indent, *end, *dashes;
	} shells[] = {
		{ "bash", "\n\t", "\t\tesac ;;\n\t", "--" },
		{ "zsh", "\n\t\t", " ;;\n\t\t", "'*--" },
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char *script = output_of("completion", shells[i].shell, false);

		for (size_t j = 0; verbs[j]; j++) {
			char begin[64], *text;

			snprintf(begin, sizeof(begin), "%s%s)\n", shells[i].indent, verbs[j]->name);
			text = part(script, begin, shells[i].end);
			check_options(verbs[j], text, shells[i].dashes);
			free(text);
		}
		free(script);
	}
}

static void fish_completes_every_option_and_no_other(void **state)
{
	char *script = output_of("completion", "fish", false);

	(void)state;
	for (size_t i = 0; verbs[i]; i++) {
		char begin[64], *lines = calloc(strlen(script) + 1, 1), *copy = strdup(script),
				*save = NULL;

		snprintf(begin, sizeof(begin), "'__fish_seen_subcommand_from %s'", verbs[i]->name);
		for (char *s = strtok_r(copy, "\n", &save); s; s = strtok_r(NULL, "\n", &save))
			if (strstr(s, begin))
				strcat(strcat(lines, s), "\n");
		check_options(verbs[i], lines, " -l ");
		free(copy);
		free(lines);
	}
	free(script);
}

static void help_lists_every_verb(void **state)
{
	char *text = output_of("help", NULL, false);

	(void)state;
	for (size_t i = 0; verbs[i]; i++) {
		assert_non_null(strstr(text, verbs[i]->name));
		assert_non_null(strstr(text, verbs[i]->summary));
	}
	free(text);
}

static void misspelt_verbs_are_found(void **state)
{
	(void)state;
	assert_ptr_equal(verb_near("reprot"), &verb_report);
	assert_ptr_equal(verb_near("verison"), &verb_version);
	assert_null(verb_near("frobnicate"));
	assert_null(verb_find("repor"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(help_has_every_option_and_no_other),
		cmocka_unit_test(man_pages_have_every_option_and_no_other),
		cmocka_unit_test(bash_and_zsh_complete_every_option_and_no_other),
		cmocka_unit_test(fish_completes_every_option_and_no_other),
		cmocka_unit_test(help_lists_every_verb),
		cmocka_unit_test(misspelt_verbs_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
