// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "cmd/verb.h"
#include "core/log.h"

#define OPTION_COLUMN 30 /* where the text of an option begins */
#define HELP_WIDTH 100

/* Writes words from column `at`, breaking lines at HELP_WIDTH and indenting those that follow. */
static void print_wrapped(const char *text, int at, int indent)
{
	while (*text) {
		int len = (int)strcspn(text, " \n");

		if (at > indent && at + 1 + len > HELP_WIDTH) {
			printf("\n%*s", indent, "");
			at = indent;
		} else if (at > indent) {
			putchar(' ');
			at++;
		}
		printf("%.*s", len, text);
		at += len;
		text += len;
		if (text[0] == '\n' && text[1] == '\n') {
			printf("\n\n%*s", indent, "");
			at = indent;
		}
		text += strspn(text, " \n");
	}
	putchar('\n');
}

/* "-F, -r, --freq, --rate HZ" */
static int print_names(const struct option_info *o)
{
	int at = printf("  ");

	if (o->letter)
		at += printf("-%c, ", o->letter);
	else
		at += printf("    ");
	if (o->alias_letter)
		at += printf("-%c, ", o->alias_letter);
	at += printf("--%s", o->name);
	if (o->alias)
		at += printf(", --%s", o->alias);
	if (o->arg)
		at += printf(" %s", o->arg);
	return at;
}

static void print_options(unsigned int bit)
{
	size_t n;
	const struct option_info *o = options_table(&n);

	puts("\nOptions:");
	for (; n; n--, o++) {
		int at;

		if (!(o->verbs & bit) || o->is_hidden)
			continue;
		at = print_names(o);
		if (at + 2 > OPTION_COLUMN) {
			putchar('\n');
			at = 0;
		}
		printf("%*s", OPTION_COLUMN - at, "");
		print_wrapped(o->help, OPTION_COLUMN, OPTION_COLUMN);
	}
}

static void print_examples(const char *examples)
{
	puts("\nExamples:");
	while (*examples) {
		int what = (int)strcspn(examples, "\n");
		const char *command = examples + what + 1;
		int len = (int)strcspn(command, "\n");

		printf("  %.*s\n      %.*s\n", what, examples, len, command);
		examples = command + len;
		examples += *examples == '\n';
	}
}

void help_print_verb(const struct verb *v)
{
	printf("usage: weft %s%s%s\n\n", v->name, *v->synopsis ? " " : "", v->synopsis);
	print_wrapped(v->description, 0, 0);
	print_options(v->bit);
	if (v->examples)
		print_examples(v->examples);
}

void help_print_all(void)
{
	puts("usage: weft VERB [OPTIONS]\n\n"
	     "A profiler that knows language runtimes: samples running programs with eBPF and "
	     "shows where\n"
	     "their time goes, down to the last frame.\n\n"
	     "Verbs:");
	for (size_t i = 0; verbs[i]; i++)
		printf("  %-12s %s\n", verbs[i]->name, verbs[i]->summary);
	puts("\nExit status:\n"
	     "  0 ok, 1 failed while running, 2 usage, 3 missing privilege or kernel feature,\n"
	     "  4 target not found or gone, 5 result incomplete beyond a limit you set,\n"
	     "  6 input damaged, 128+n ended by signal n\n\n"
	     "weft help VERB says more.");
}

static int help_run(const struct options *opt)
{
	const struct verb *v = NULL;

	if (opt->list_verbs) {
		for (size_t i = 0; verbs[i]; i++)
			puts(verbs[i]->name);
		return EXIT_OK;
	}
	if (opt->files.n) {
		v = verb_find(opt->files.items[0]);
		if (!v) {
			log_error("no verb %s\n  see: weft help", opt->files.items[0]);
			return EXIT_USAGE;
		}
	}
	if (opt->man)
		man_print(v);
	else if (v)
		help_print_verb(v);
	else
		help_print_all();
	return EXIT_OK;
}

const struct verb verb_help = {
	.bit = ON_HELP,
	.name = "help",
	.synopsis = "[VERB]",
	.summary = "say what weft can do, or what a verb can",
	.description = "Without a verb, lists the verbs. With one, explains it and its options.",
	.words = "VERB",
	.max_args = 1,
	.run = help_run,
};
