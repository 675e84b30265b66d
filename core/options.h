/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the command line asked for. One table (core/options.c) feeds parsing, `help`, the man pages
 * and completion. Strings are borrowed from argv; lists grow.
 */
#ifndef CORE_OPTIONS_H
#define CORE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct string_list {
	const char **items;
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
	struct string_list pid_names;	/* -p arguments that are no numbers, resolved by record */
	struct string_list comms;
	struct string_list cgroups;	/* paths below the cgroup root, or absolute directories */
	bool all;
	bool no_children;
	char **command;			/* -- CMD, NULL-terminated; NULL without */
	/* sampling */
	unsigned int freq;		/* Hz; 0 means the verb's default (99) */
	uint64_t duration_ns;		/* 0 means until ^C */
	bool user_only, kernel_only;
	size_t snapshot_size;		/* bytes of stack copied at most; default 64 KiB */
	uint64_t memory;		/* the one budget in bytes: user memory and BPF maps; default 48 MiB */
	/* output */
	const char *output;		/* -o; NULL is weft.pb.gz, "-" is stdout */
	const char *format;		/* --format; NULL is by extension */
	bool stats, quiet, verbose, json;
	double max_loss;		/* percent; < 0 means not asked */
	double min_complete;		/* percent; < 0 means not asked */
	/* symbols */
	bool debuginfod;
	struct string_list debug_dirs;	/* default /usr/lib/debug */
	/* report */
	enum report_view view;
	const char *peek;		/* regex of `report --peek`, `--callers` */
	const char *focus, *ignore;	/* regexes on function names */
	struct string_list labels;	/* key=value */
	const char *sample_type;	/* which value to show; NULL is the profile's default */
	unsigned int n_rows;		/* 0 is the default */
	/* the rest */
	pid_t doctor_pid;
	struct string_list files;	/* positional arguments */
};

#endif
