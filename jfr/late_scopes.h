/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scopes of spans that began in an earlier chunk than the one they are written in, which is that of
 * their end: whoever reads the earlier one has to know of them before.
 *
 * What tells one time from another is the JVM's own clock, for that of the system may have been set
 * between two chunks: where the two do not fit each other nobody knows, and the scope is not lent.
 */
#ifndef JFR_LATE_SCOPES_H
#define JFR_LATE_SCOPES_H

#include <stddef.h>
#include <stdint.h>

#include "jfr/span_names.h"

struct chunk;
struct intern;
struct java_thread;
struct jvm_facts;
struct late_scope;
struct spans;
struct span_scope;

struct late_scopes { /* all zero at first */
	struct late_scope *items;
	size_t n, cap;
	struct intern *texts;	 /* their ids and tags; NULL at first */
	struct span_names names; /* of spans that ended in a later chunk than they began in */
	uint64_t n_left_out;	 /* for which there was no room */
};

/* Whose they are: a JVM, or the file where nothing says which. */
struct late_owner {
	int64_t pid, start_ms;
};

struct late_owner late_owner(const struct jvm_facts *facts, size_t file);

void late_scopes_deinit(struct late_scopes *l);
/* One that the chunk has, with a copy of its ids. 0 or -ENOMEM; more than there is room for are
   counted and left out. */
int late_scopes_add(struct late_scopes *l, struct late_owner owner, const struct chunk *chunk,
		    const struct java_thread *thread, const struct span_scope *scope);
/* Adds those of another one, which come later in the same file; those of whom nothing said whose
   they are belong to owner. 0 or -ENOMEM. */
int late_scopes_append(struct late_scopes *l, const struct late_scopes *from,
		       struct late_owner owner);
/* Between the last one of these and the first look. */
void late_scopes_sort(struct late_scopes *l);
/* Adds those that were current when a chunk was written, and are in none up to it. 0 or -ENOMEM. */
int late_scopes_lend(const struct late_scopes *l, struct late_owner owner, struct chunk *chunk,
		     struct spans *to);

#endif
