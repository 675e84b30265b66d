/* SPDX-License-Identifier: Apache-2.0 */
/* A verb is a row of the table and a file of its own; help, man pages and completion read the rows.
 */
#ifndef CMD_VERB_H
#define CMD_VERB_H

#include <stdbool.h>

#include "core/options.h"

/* What every verb exits with; `doctor` says what 1 means for it. 128+n: CMD died from signal n. */
enum exit_code {
	EXIT_OK = 0,
	EXIT_FAILED = 1, /* while running */
	EXIT_USAGE = 2,
	EXIT_PRIVILEGE = 3,  /* or a kernel feature is missing */
	EXIT_NO_TARGET = 4,  /* not found, or gone before the first sample */
	EXIT_INCOMPLETE = 5, /* beyond --max-loss or --min-complete */
	EXIT_DAMAGED = 6,    /* the input; what could be read was written */
};

struct verb {
	unsigned int bit; /* enum option_verb */
	const char *name;
	const char *synopsis;	 /* what follows "weft NAME" */
	const char *summary;	 /* one line without a full stop */
	const char *description; /* paragraphs, separated by empty lines */
	const char *examples;	 /* pairs of lines: what it does, the command */
	const char *words; /* for completion of positional arguments, as in struct option_info */
	unsigned int min_args, max_args;
	bool is_privileged; /* keeps the capabilities of weft's file, which the others drop */
	int (*run)(const struct options *opt); /* the exit status */
};

extern const struct verb verb_record, verb_dump, verb_jfr, verb_report, verb_symbolize, verb_doctor,
	verb_help, verb_completion, verb_version;

/* All of them, in the order in which help shows them; ends with a NULL. */
extern const struct verb *const verbs[];

const struct verb *verb_find(const char *name);
/* The verb whose name looks like a misspelt word, or NULL. */
const struct verb *verb_near(const char *name);

/* What `weft help` prints without and with a verb; also used by --help. */
void help_print_all(void);
void help_print_verb(const struct verb *v);

/* The manual page of a verb as roff; NULL: of weft itself. */
void man_print(const struct verb *v);

#endif
