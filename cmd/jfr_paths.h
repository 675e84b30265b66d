/* SPDX-License-Identifier: Apache-2.0 */
/* The files that `weft jfr PATH…` is about: those named, and those below the directories named. */
#ifndef CMD_JFR_PATHS_H
#define CMD_JFR_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct string_list;

struct jfr_path {
	char *path;
	bool is_found; /* below a directory: it may be anything */
};

struct jfr_paths { /* by path, below each argument */
	struct jfr_path *items;
	size_t n, cap;
};

/* 0, -ENOMEM, or -errno of an argument that cannot be read (logged). Links below a directory are
   not followed. */
int jfr_paths_init(struct jfr_paths *p, const struct string_list *arguments);
void jfr_paths_deinit(struct jfr_paths *p);
/* One that is a recording itself, and not packed; -1: it is not, or cannot be read. */
int jfr_path_open(const struct jfr_path *path);
/* When the earliest of them begins, in unix time; 0: none says, for those that are packed are not
   looked into. */
int64_t jfr_paths_start(const struct jfr_paths *p);

#endif
