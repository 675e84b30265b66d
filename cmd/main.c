// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "cmd/verb.h"
#include "core/log.h"
#include "core/privileges.h"
#include "core/scoped.h"

#define OWN_MAPPING_LEN (256 << 10)

/* Large tables grow and go. In mappings of their own they grow without a copy, which would be there
   twice for a moment, and go back to the system; by itself glibc stops doing so with the first
   large one that is freed. */
static void keep_memory_small(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, OWN_MAPPING_LEN);
#endif
}

static int usage(const char *verb, const char *why)
{
	log_error("%s%s%s", verb, *verb ? ": " : "", why);
	fprintf(stderr, "  see: weft help%s%s\n", *verb ? " " : "", verb);
	return EXIT_USAGE;
}

static int no_such_verb(const char *name)
{
	const struct verb *near = verb_near(name);

	if (!strcmp(name, "--")) {
		log_error("a verb is missing before --\n  to record a command: weft record -- CMD");
		return EXIT_USAGE;
	}
	log_error(*name == '-' ? "the verb comes first: weft VERB %s" : "no verb %s", name);
	if (near)
		fprintf(stderr, "  did you mean: weft %s\n", near->name);
	else
		fprintf(stderr, "  see: weft help\n");
	return EXIT_USAGE;
}

static int check_arguments(const struct verb *v, const struct options *opt)
{
	char why[OPTIONS_WHY_MAX];

	if (opt->files.n > v->max_args) {
		const char *extra = opt->files.items[v->max_args];

		if (v->bit == ON_RECORD)
			snprintf(why, sizeof(why),
				 "what to do with %.200s? a command goes after --, a process after "
				 "-p",
				 extra);
		else
			snprintf(why, sizeof(why), "one argument too many: %.200s", extra);
		return usage(v->name, why);
	}
	if (opt->files.n < v->min_args) {
		snprintf(why, sizeof(why), "an argument is missing: weft %s %s", v->name,
			 v->synopsis);
		return usage(v->name, why);
	}
	return 0;
}

static int run(const struct verb *v, char **args, struct options *opt)
{
	char why[OPTIONS_WHY_MAX] = "out of memory";
	int err = v->is_privileged ? 0 : privileges_drop();

	if (err < 0) {
		log_error("cannot drop the capabilities: %s", strerror(-err));
		return EXIT_FAILED;
	}
	err = options_parse(opt, v->bit, args, why);
	if (opt->help) {
		help_print_verb(v);
		return EXIT_OK;
	}
	if (err < 0)
		return usage(v->name, why);
	err = check_arguments(v, opt);
	if (err)
		return err;
	log_set_level(opt->quiet ? LOG_QUIET : opt->verbose ? LOG_VERBOSE : LOG_NORMAL);
	return v->run(opt);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	const struct verb *v;
	struct options opt;
	int status;

	if (!*name) {
		fputs("usage: weft VERB [OPTIONS]\n  see: weft help\n", stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(name, "--help") || !strcmp(name, "-h"))
		name = "help";
	else if (!strcmp(name, "--version") || !strcmp(name, "-V"))
		name = "version";
	v = verb_find(name);
	if (!v)
		return no_such_verb(name);
	keep_memory_small();
	options_init(&opt);
	status = run(v, argv + 2, &opt);
	options_deinit(&opt);
	if (fflush(stdout) || ferror(stdout)) {
		log_error("cannot write to stdout: %m");
		return EXIT_FAILED;
	}
	return status;
}
