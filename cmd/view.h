/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every view of a profile needs: its stacks as names, which samples it is about, which of
 * their values, and how to write that. Percentages are of the whole profile, also when a filter is
 * on.
 */
#ifndef CMD_VIEW_H
#define CMD_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cmd/show.h"

struct filter;
struct frames;
struct options;
struct profile;

struct view {
	const struct profile *profile;
	struct frames *frames;
	struct filter *filter;
	uint32_t *stack;	 /* room for the longest one */
	uint32_t value;		 /* index of the sample type shown */
	const char *type, *unit; /* its names */
	int64_t total;		 /* of the whole profile */
	int64_t kept;		 /* of the samples the filter keeps */
	struct scale scale;
	unsigned int n_rows; /* 0: all */
	int width;	     /* 0: unlimited */
	bool has_colours;
	FILE *out;
};

/* Makes a sample type the profile's default, which outputs show; NULL: it stays. 0; -EINVAL: there
   is no such type (logged). */
int view_choose(struct profile *p, const char *wanted);

/* 0; -ENOMEM; -EINVAL: there is no such sample type (logged). View_deinit() is safe after all. */
int view_init(struct view *v, const struct profile *p, const struct options *opt, FILE *out);
void view_deinit(struct view *v);
/* The next sample that the filter keeps, from *index on; fills v->stack and *n, innermost first.
   False at the end. */
bool view_next(struct view *v, uint32_t *index, size_t *n, int64_t *value);

/* One amount and its percentage of the whole profile: "   1.23s  45.6%". */
void view_amount(const struct view *v, int64_t amount);
double view_percent(const struct view *v, int64_t amount);
/* A name at column `at`, with marks set off. */
void view_name(const struct view *v, int at, const char *name);
/* The line of column titles. */
void view_title(const struct view *v, const char *title);

/* The views: 0, -ENOMEM, or -ENOENT when nothing matches opt->peek. */
int view_top(struct view *v);
/* What each root has; above the top table when roots are the values of a label. */
int view_shares(struct view *v);
int view_tree(struct view *v);
int view_callers(struct view *v, const char *expression);
int view_peek(struct view *v, const char *expression);

/* Which names an expression matches: n+1 bools by name id, to be freed; NULL: no memory. */
bool *view_match(const struct view *v, const char *expression);

#endif
