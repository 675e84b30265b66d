/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the command line asked for. One table (core/options.c) feeds parsing, `help`, the man pages
 * and completion. Single strings are borrowed from argv; lists own theirs.
 */
#ifndef CORE_OPTIONS_H
#define CORE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sampler_ops;

struct string_list {
	const char **items; /* NULL when empty, else ended by a NULL that n does not count */
	size_t n;
};

struct pid_list {
	pid_t *items;
	size_t n;
};

enum report_view { VIEW_TOP, VIEW_TREE, VIEW_CALLERS, VIEW_PEEK };

struct options {
	/* targets */
	struct pid_list pids, tids;
	struct string_list pid_names; /* -p arguments that are no numbers, resolved by record */
	struct string_list comms;
	struct string_list cgroups; /* paths below the cgroup root, or absolute directories */
	bool all;
	bool no_children;
	char **command; /* -- CMD, NULL-terminated; NULL without */
	/* sampling */
	const char *event;		   /* -e; NULL is cpu */
	const struct sampler_ops *sampler; /* one of the caller's own, instead of event's */
	unsigned int freq;		   /* Hz; 0 means the verb's default (99) */
	uint64_t duration_ns;		   /* 0 means until ^C */
	const char *cpus_online; /* instead of the kernel's list of online CPUs: for tests */
	bool user_only, kernel_only;
	bool native_eval;
	bool logical;		/* --async: what waits for a task stands behind its frames */
	unsigned int block_ms;	/* from which on an event loop counts as blocked; 0: not asked */
	uint64_t snapshot_size; /* bytes of stack copied at most; default 64 KiB */
	uint64_t memory; /* the one budget in bytes: user memory and BPF maps; 0: the machine's
			    default */
	/* output */
	const char *output; /* -o; NULL is weft.pb.gz, "-" is stdout */
	const char *format; /* --format; NULL is by extension */
	bool stats, quiet, verbose, json;
	double max_loss;     /* percent; < 0 means not asked */
	double min_complete; /* percent; < 0 means not asked */
	/* symbols */
	bool debuginfod;
	struct string_list debug_dirs; /* default /usr/lib/debug */
	/* report */
	enum report_view view;
	const char *view_option;    /* that chose it, NULL when none did */
	const char *peek;	    /* regex of `report --peek`, `--callers` */
	const char *focus, *ignore; /* regexes on names of functions, source files and binaries */
	struct string_list labels;  /* key=value */
	const char *by;		    /* a label: each of its values is a root */
	const char *only;	    /* a frame kind: others are left out of the stacks */
	const char *sample_type;    /* which value to show; NULL is the profile's default */
	unsigned int n_rows;	    /* 0 is the default */
	bool no_pager;
	/* jfr */
	const char *events;	   /* groups of events; NULL is all */
	const char *from, *to;	   /* times, or lengths of time from the start; NULL: all */
	const char *thread;	   /* its name or number; NULL: all */
	const char *path_template; /* what paths say about services and pods; NULL: nothing */
	bool check;		   /* say only what is damaged */
	bool show_secrets;	   /* values that are redacted else */
	bool hidden_frames;	   /* keep those that the JVM hides */
	unsigned int workers;	   /* threads that read a recording; 0: as many as are worth it */
	/* jfr --watch; 0 and NULL are the defaults */
	bool watch;
	const char *ledger, *history; /* a file; all, none or a duration */
	uint64_t stale_ns, rotate_age_ns, rotate_size, keep_size, keep_ns, metrics_ns;
	/* the rest */
	bool help;
	bool list_verbs;	  /* `help --verbs`: their names, a line each */
	bool man;		  /* `help --man VERB`: the page as roff */
	const char *sysroot;	  /* doctor reads /proc and /sys below it; NULL is the real ones */
	struct string_list files; /* positional arguments */
};

/* Which verbs know an option: bits of struct option_info.verbs. */
enum option_verb {
	ON_RECORD = 1 << 0,
	ON_REPORT = 1 << 1,
	ON_SYMBOLIZE = 1 << 2,
	ON_DOCTOR = 1 << 3,
	ON_HELP = 1 << 4,
	ON_COMPLETION = 1 << 5,
	ON_VERSION = 1 << 6,
	ON_DUMP = 1 << 7,
	ON_JFR = 1 << 8,
};

enum option_kind {
	OPTION_FLAG,	   /* bool */
	OPTION_STRING,	   /* const char * */
	OPTION_REGEX,	   /* const char *, an extended regular expression */
	OPTION_LIST,	   /* struct string_list, repeatable */
	OPTION_COMMA_LIST, /* struct string_list, repeatable and separated by commas */
	OPTION_LABEL,	   /* struct string_list, repeatable, each KEY=VALUE */
	OPTION_PIDS,	   /* struct pid_list; what is no number goes to pid_names */
	OPTION_TIDS,	   /* struct pid_list, numbers only */
	OPTION_COUNT,	   /* unsigned int from 1 */
	OPTION_FREQ,	   /* unsigned int, 1 to MAX_FREQ */
	OPTION_DURATION,   /* uint64_t ns */
	OPTION_SIZE,	   /* uint64_t bytes */
	OPTION_PERCENT,	   /* double, 0 to 100 */
	OPTION_VIEW,	   /* sets view to `value`, and peek when it takes an argument */
};

#define MAX_FREQ 10000

struct option_info {
	unsigned int verbs; /* enum option_verb bits */
	const char *name;   /* without its dashes */
	char letter;	    /* 0: none */
	char alias_letter;
	const char *alias;
	const char *arg; /* what help calls its argument; NULL: it takes none */
	const char *help;
	const char *words; /* for completion: words, or "FILE", "DIR", "PID", "FORMAT"; behind a
			      comma: words of which it takes a list; NULL: nothing known */
	enum option_kind kind;
	size_t offset; /* in struct options */
	int value;
	bool is_hidden; /* not in help, man pages and completion: for tests and the build */
};

#define OPTIONS_WHY_MAX 512

void options_init(struct options *opt);
void options_deinit(struct options *opt);
/* Reads the arguments that follow a verb (ON_* bit), NULL-terminated. 0, -ENOMEM, or -EINVAL with
   what is wrong and what to do in why[OPTIONS_WHY_MAX]. */
int options_parse(struct options *opt, unsigned int verb, char **args, char *why);
/* The table; rows in the order in which help shows them. */
const struct option_info *options_table(size_t *n);
/* How many letters were added, left out, replaced or swapped to turn one word into the other. A
   name less than NEAR_ENOUGH away from what was typed is worth proposing. */
#define NEAR_ENOUGH 3
unsigned int options_distance(const char *a, const char *b);

int string_list_add(struct string_list *list, const char *s, size_t len);

/* Values: 0, or -EINVAL. Durations: 30, 30s, 5m, 1.5h, 500ms. Sizes: 4096, 64K, 48M, 1G. */
int parse_duration(const char *s, uint64_t *ns);
int parse_size(const char *s, uint64_t *bytes);
int parse_percent(const char *s, double *percent);
int parse_count(const char *s, unsigned int min, unsigned int max, unsigned int *n);

#endif
