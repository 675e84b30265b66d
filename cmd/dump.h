/* SPDX-License-Identifier: Apache-2.0 */
/* What `weft dump` shows of a CPython process, as text and as JSON. */
#ifndef CMD_DUMP_H
#define CMD_DUMP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "runtimes/python_dump.h"

/* The tasks by who waits for whom. Numbers are places in d->tasks.tasks. */
struct dump_tree {
	const struct python_dump *dump;
	uint32_t *order; /* tasks by their loop, then by name, "Task-2" before "Task-10" */
	/* Those that task i waits for: children[first[i]] to before children[first[i + 1]]. */
	uint32_t *children, *first;
	enum python_via *via; /* how, beside each child */
	bool *is_root;	      /* nobody here waits for it */
};

/* 0 or -ENOMEM. d is borrowed. */
int dump_tree_init(struct dump_tree *t, const struct python_dump *d);
void dump_tree_deinit(struct dump_tree *t);

/* For how many seconds a task has waited, and how many there are left at most. False: not known. */
bool dump_waited(const struct python_dump *d, const struct python_timer *timer, double *out);
bool dump_left(const struct python_dump *d, const struct python_timer *timer, double *out);

/* "3.11.7" */
const char *dump_version(uint32_t version, char out[16]);

/* all: every task, where many wait in the same place too, and whole paths. 0 or -ENOMEM. */
int dump_print_text(const struct python_dump *d, pid_t pid, bool all, FILE *out);
void dump_print_json(const struct python_dump *d, pid_t pid, FILE *out);

#endif
