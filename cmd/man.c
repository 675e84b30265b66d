// SPDX-License-Identifier: Apache-2.0
/* Manual pages from the tables of verbs and options, in the man(7) macros. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cmd/verb.h"

/* Text as roff sees it: dashes that can be copied, no accidental requests at the start of a line.
 */
static void put_text(const char *s, int len)
{
	for (int i = 0; i < len; i++) {
		if (s[i] == '-')
			fputs("\\-", stdout);
		else if (s[i] == '\\')
			fputs("\\e", stdout);
		else if ((s[i] == '.' || s[i] == '\'') && (!i || s[i - 1] == '\n'))
			printf("\\&%c", s[i]);
		else
			putchar(s[i]);
	}
}

static void put_string(const char *s)
{
	put_text(s, (int)strlen(s));
}

static void put_upper(const char *s)
{
	for (; *s; s++)
		putchar(toupper((unsigned char)*s));
}

static void put_paragraphs(const char *text)
{
	while (*text) {
		const char *end = strstr(text, "\n\n");
		size_t len = end ? (size_t)(end - text) : strlen(text);

		puts(".PP");
		put_text(text, (int)len);
		putchar('\n');
		text += len + (end ? 2 : 0);
	}
}

static void put_option(const struct option_info *o)
{
	puts(".TP");
	if (o->letter)
		printf("\\fB\\-%c\\fR, ", o->letter);
	if (o->alias_letter)
		printf("\\fB\\-%c\\fR, ", o->alias_letter);
	fputs("\\fB\\-\\-", stdout);
	put_string(o->name);
	if (o->alias) {
		fputs("\\fR, \\fB\\-\\-", stdout);
		put_string(o->alias);
	}
	fputs("\\fR", stdout);
	if (o->arg)
		printf(" \\fI%s\\fR", o->arg);
	putchar('\n');
	put_string(o->help);
	putchar('\n');
}

static void put_options(unsigned int bit)
{
	size_t n;
	const struct option_info *o = options_table(&n);

	puts(".SH OPTIONS");
	for (; n; n--, o++)
		if (o->verbs & bit && !o->is_hidden)
			put_option(o);
}

static void put_examples(const char *examples)
{
	puts(".SH EXAMPLES");
	while (*examples) {
		int what = (int)strcspn(examples, "\n");
		const char *command = examples + what + 1;
		int len = (int)strcspn(command, "\n");

		puts(".TP");
		put_text(examples, what);
		fputs("\n\\fB", stdout);
		put_text(command, len);
		puts("\\fR");
		examples = command + len;
		examples += *examples == '\n';
	}
}

static void put_exit_status(const struct verb *v)
{
	static const char *const codes[][2] = {
		{ "0", "ok" },
		{ "1", "failed while running" },
		{ "2", "the command line is wrong" },
		{ "3", "a privilege or kernel feature is missing" },
		{ "4", "the target was not found, or was gone before the first sample" },
		{ "5", "the result is incomplete beyond --max-loss or --min-complete; it is "
		       "written all the same" },
		{ "6", "the input is damaged; what could be read was used" },
		{ "128+n", "ended by signal n" },
	};

	puts(".SH EXIT STATUS");
	if (v && v->bit == ON_DOCTOR) {
		puts("0: weft can profile here; 1: in part; 3: it cannot; 2: the command line is "
		     "wrong;\n"
		     "4: no such process.");
		return;
	}
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		printf(".TP\n%s\n", codes[i][0]);
		put_string(codes[i][1]);
		putchar('\n');
	}
	if (v && v->bit == ON_RECORD)
		puts(".PP\nWith a command, its own exit status: 127 when it is not found, 126 when "
		     "it cannot be run.");
}

static void put_see_also(const struct verb *v)
{
	puts(".SH SEE ALSO");
	if (v)
		puts(".BR weft (1)");
	else
		for (size_t i = 0; verbs[i]; i++)
			printf(".BR weft\\-%s (1)%s\n", verbs[i]->name, verbs[i + 1] ? "," : "");
}

void man_print(const struct verb *v)
{
	printf(".TH WEFT%s", v ? "\\-" : "");
	put_upper(v ? v->name : "");
	printf(" 1 \"\" \"weft %s\"\n.SH NAME\nweft%s%s \\- ", WEFT_VERSION, v ? "\\-" : "",
	       v ? v->name : "");
	put_string(v ? v->summary : "a profiler that knows language runtimes");
	printf("\n.SH SYNOPSIS\n\\fBweft %s\\fR ", v ? v->name : "\\fIVERB");
	put_string(v ? v->synopsis : "[OPTIONS]");
	puts("\n.SH DESCRIPTION");
	if (v) {
		put_paragraphs(v->description);
		put_options(v->bit);
		if (v->examples)
			put_examples(v->examples);
	} else {
		put_paragraphs(
			"weft samples running programs with eBPF and shows where their time goes. "
			"Its verbs are:");
		for (size_t i = 0; verbs[i]; i++) {
			printf(".TP\n\\fB%s\\fR\n", verbs[i]->name);
			put_string(verbs[i]->summary);
			putchar('\n');
		}
	}
	put_exit_status(v);
	put_see_also(v);
}
