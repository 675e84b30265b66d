/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scopes of spans that began in an earlier chunk than the one they are written in, which is that of
 * their end: whoever reads the earlier one has to know of them before.
 */
#ifndef JFR_LATE_SCOPES_H
#define JFR_LATE_SCOPES_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "jfr/span_names.h"

struct chunk;
struct java_thread;
struct jvm_facts;
struct late_scope;
struct moment;
struct span_scope;
struct spans;

struct late_scopes {	    /* all zero at first */
	struct arena arena; /* of their ids */
	struct late_scope *items;
	size_t n, cap;
	struct span_names names; /* of spans that ended in a later chunk than they began in */
	pthread_mutex_t lock;	 /* of those who add some */
};

/* Whose they are: a JVM, or the file where nothing says which. */
struct late_owner {
	int64_t pid, start_ms;
};

struct late_owner late_owner(const struct jvm_facts *facts, size_t file);

void late_scopes_deinit(struct late_scopes *l);
/* One that the chunk has, with a copy of its ids. 0 or -ENOMEM; more than there is room for are
   left out. */
int late_scopes_add(struct late_scopes *l, struct late_owner owner, const struct chunk *chunk,
		    const struct java_thread *thread, const struct span_scope *scope);
/* The name of a span that a moment tells of. 0 or -ENOMEM. */
int late_scopes_add_name(struct late_scopes *l, const struct moment *m);
/* Adds those that were current when a chunk was written, and are in none up to it. 0 or -ENOMEM. */
int late_scopes_lend(const struct late_scopes *l, struct late_owner owner, struct chunk *chunk,
		     struct spans *to);

#endif
