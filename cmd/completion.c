// SPDX-License-Identifier: Apache-2.0
/* Completion scripts for shells, from the tables of verbs, options and exporters. */
#include <stdio.h>
#include <string.h>

#include "cmd/verb.h"
#include "core/log.h"
#include "exporter/exporter.h"

static bool is_shown(const struct option_info *o, const struct verb *v)
{
	return o->verbs & v->bit && !o->is_hidden;
}

static void put_formats(void)
{
	for (size_t i = 0; exporters[i]; i++)
		printf("%s%s", i ? " " : "", exporters[i]->name);
}

static void put_verbs(void)
{
	for (size_t i = 0; verbs[i]; i++)
		printf("%s%s", i ? " " : "", verbs[i]->name);
}

/*
 * What a shell function has to offer for an argument. In bash names of files are left to readline,
 * which knows how to quote them: compgen -W expands what it is given like a line of a script.
 */
struct words {
	const char *name; /* as in struct option_info */
	const char *bash, *zsh, *fish;
};

static const struct words kinds[] = {
	{ "FILE", "compopt -o default", "_files", "-F" },
	{ "DIR", "compopt -o dirnames", "_files -/", "-f -a '(__fish_complete_directories)'" },
	{ "PID", "words='$(ps -eo pid= 2>/dev/null)'", "_pids",
	  "-f -a '(ps -eo pid=,comm= | string trim | string replace \" \" \\t)'" },
};

static const struct words *find_words(const char *name)
{
	for (size_t i = 0; name && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

/* Are they what a list between commas is made of? */
static bool is_between_commas(const char *name)
{
	return name && *name == ',';
}

/* The words themselves. */
static void put_list(const char *name)
{
	name += is_between_commas(name);
	if (!strcmp(name, "FORMAT"))
		put_formats();
	else if (!strcmp(name, "VERB"))
		put_verbs();
	else
		fputs(name, stdout);
}

static void put_bash_words(const char *name)
{
	const struct words *w = find_words(name);

	if (w) {
		fputs(w->bash, stdout);
	} else {
		fputs("words='", stdout);
		if (name)
			put_list(name);
		putchar('\'');
		fputs(is_between_commas(name) ? " list=1; compopt -o nospace" : "", stdout);
	}
}

static void put_bash_verb(const struct verb *v)
{
	size_t n;
	const struct option_info *o = options_table(&n);

	printf("\t%s)\n\t\tcase $prev in\n", v->name);
	for (size_t i = 0; i < n; i++) {
		if (!is_shown(&o[i], v) || !o[i].arg)
			continue;
		printf("\t\t--%s", o[i].name);
		if (o[i].alias)
			printf("|--%s", o[i].alias);
		if (o[i].letter)
			printf("|-%c", o[i].letter);
		if (o[i].alias_letter)
			printf("|-%c", o[i].alias_letter);
		fputs(") ", stdout);
		put_bash_words(o[i].words);
		puts(" ;;");
	}
	fputs("\t\t*)\n\t\t\tcase $cur in\n\t\t\t-*) words='", stdout);
	for (size_t i = 0; i < n; i++) {
		if (!is_shown(&o[i], v))
			continue;
		printf("--%s ", o[i].name);
		if (o[i].alias)
			printf("--%s ", o[i].alias);
	}
	fputs("' ;;\n\t\t\t*) ", stdout);
	put_bash_words(v->words);
	puts(" ;;\n\t\t\tesac ;;\n\t\tesac ;;");
}

static void bash(void)
{
	puts("# bash completion for weft\n"
	     "_weft()\n{\n"
	     "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\n"
	     "\tlocal i IFS=$' \\t\\n' list= before=\n"
	     "\tCOMPREPLY=()\n"
	     /* --format=ht are three words for readline */
	     "\t[[ $cur == = ]] && cur=\n"
	     "\t[[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
	     "\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	     "\t\t[[ ${COMP_WORDS[1]} == record && ${COMP_WORDS[i]} == -- ]] || continue\n"
	     "\t\tif ((i == COMP_CWORD - 1)); then\n"
	     "\t\t\tmapfile -t COMPREPLY < <(compgen -c -- \"$cur\")\n"
	     "\t\telse\n\t\t\tcompopt -o default\n\t\tfi\n"
	     "\t\treturn\n"
	     "\tdone");
	fputs("\t((COMP_CWORD == 1)) && words='", stdout);
	put_verbs();
	puts("'\n\t((COMP_CWORD > 1)) && case ${COMP_WORDS[1]} in");
	for (size_t i = 0; verbs[i]; i++)
		put_bash_verb(verbs[i]);
	puts("\tesac\n"
	     "\t[[ $list ]] && before=${cur%\"${cur##*,}\"} cur=${cur##*,}\n"
	     "\tmapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$words\" -- \"$cur\")\n"
	     "}\n"
	     "complete -F _weft weft");
}

/* Inside single quotes inside brackets of a zsh _arguments specification. */
static void put_zsh_text(const char *s)
{
	for (; *s; s++) {
		if (*s == '\'')
			fputs("'\\''", stdout);
		else if (strchr("[]:\\", *s))
			printf("\\%c", *s);
		else
			putchar(*s);
	}
}

static void put_zsh_action(const char *name)
{
	const struct words *w = find_words(name);

	if (w) {
		fputs(w->zsh, stdout);
	} else if (is_between_commas(name)) {
		fputs("_values -s , word ", stdout);
		put_list(name);
	} else if (name) {
		putchar('(');
		put_list(name);
		putchar(')');
	}
}

static void put_zsh_option(const struct option_info *o, const char *dashes, const char *name,
			   int len)
{
	printf("\t\t\t'*%s%.*s%s[", dashes, len, name, !o->arg ? "" : dashes[1] ? "=" : "+");
	put_zsh_text(o->help);
	putchar(']');
	if (o->arg) {
		putchar(':');
		put_zsh_text(o->arg);
		putchar(':');
		put_zsh_action(o->words);
	}
	puts("' \\");
}

static void put_zsh_verb(const struct verb *v)
{
	size_t n;
	const struct option_info *o = options_table(&n);

	printf("\t\t%s)\n\t\t\t_arguments -s -S \\\n", v->name);
	for (; n; n--, o++) {
		if (!is_shown(o, v))
			continue;
		put_zsh_option(o, "--", o->name, (int)strlen(o->name));
		if (o->alias)
			put_zsh_option(o, "--", o->alias, (int)strlen(o->alias));
		if (o->letter)
			put_zsh_option(o, "-", &o->letter, 1);
		if (o->alias_letter)
			put_zsh_option(o, "-", &o->alias_letter, 1);
	}
	fputs(v->bit == ON_RECORD ? "\t\t\t'*::command:_normal" : "\t\t\t'*:argument:", stdout);
	put_zsh_action(v->words);
	puts("' ;;");
}

static void zsh(void)
{
	puts("#compdef weft\n"
	     "_weft() {\n"
	     "\tlocal state line\n"
	     "\t_arguments -C '1:verb:->verb' '*::argument:->rest'\n"
	     "\tcase $state in\n"
	     "\tverb)\n\t\tlocal -a names=(");
	for (size_t i = 0; verbs[i]; i++) {
		printf("\t\t\t'%s:", verbs[i]->name);
		put_zsh_text(verbs[i]->summary);
		puts("'");
	}
	puts("\t\t)\n\t\t_describe verb names ;;\n\trest)\n\t\tcase $line[1] in");
	for (size_t i = 0; verbs[i]; i++)
		put_zsh_verb(verbs[i]);
	/* It is sourced in a session, or loaded as the function that it defines. */
	puts("\t\tesac ;;\n\tesac\n}\n"
	     "if [[ $funcstack[1] == _weft ]]; then _weft \"$@\"; else compdef _weft weft; fi");
}

static void put_fish_text(const char *s)
{
	for (; *s; s++) {
		if (*s == '\'' || *s == '\\')
			putchar('\\');
		putchar(*s);
	}
}

static void put_fish_words(const char *name)
{
	const struct words *w = find_words(name);

	if (w) {
		printf(" %s", w->fish);
		return;
	}
	fputs(" -f", stdout);
	if (is_between_commas(name)) {
		fputs(" -a '(__fish_complete_list , \"printf %s\\\\n ", stdout);
		put_list(name);
		fputs("\")'", stdout);
	} else if (name) {
		fputs(" -a '", stdout);
		put_list(name);
		putchar('\'');
	}
}

static void put_fish_option(const struct verb *v, const struct option_info *o, const char *name,
			    char letter)
{
	printf("complete -c weft -n '__fish_seen_subcommand_from %s' -l %s", v->name, name);
	if (letter)
		printf(" -s %c", letter);
	if (o->arg) {
		fputs(" -r", stdout);
		put_fish_words(o->words);
	}
	fputs(" -d '", stdout);
	put_fish_text(o->help);
	puts("'");
}

static void fish(void)
{
	size_t n;
	const struct option_info *o = options_table(&n);

	puts("# fish completion for weft\ncomplete -c weft -f");
	for (size_t i = 0; verbs[i]; i++) {
		const struct verb *v = verbs[i];

		printf("complete -c weft -n __fish_use_subcommand -a %s -d '", v->name);
		put_fish_text(v->summary);
		puts("'");
		if (v->words) {
			printf("complete -c weft -n '__fish_seen_subcommand_from %s'", v->name);
			put_fish_words(v->words);
			putchar('\n');
		}
		for (size_t j = 0; j < n; j++) {
			if (!is_shown(&o[j], v))
				continue;
			put_fish_option(v, &o[j], o[j].name, o[j].letter);
			if (o[j].alias)
				put_fish_option(v, &o[j], o[j].alias, o[j].alias_letter);
		}
	}
}

static int completion_run(const struct options *opt)
{
	static const struct {
		const char *name;
		void (*print)(void);
	} shells[] = { { "bash", bash }, { "zsh", zsh }, { "fish", fish } };

	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
		if (!strcmp(shells[i].name, opt->files.items[0])) {
			shells[i].print();
			return EXIT_OK;
		}
	}
	log_error("no completion for the shell %s: there is bash, zsh and fish",
		  opt->files.items[0]);
	return EXIT_USAGE;
}

const struct verb verb_completion = {
	.bit = ON_COMPLETION,
	.name = "completion",
	.synopsis = "bash|zsh|fish",
	.summary = "print a completion script for a shell",
	.description = "Prints a script that teaches the shell weft's verbs and options.",
	.examples = "for this bash session\n. <(weft completion bash)\n",
	.words = "bash zsh fish",
	.min_args = 1,
	.max_args = 1,
	.run = completion_run,
};
