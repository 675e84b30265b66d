/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which span was current on a thread at a time: from events that say when one began and ended
 * (io.opentelemetry.context.Scope). Scopes of a thread lie in each other; the innermost counts.
 */
#ifndef JFR_SPANS_H
#define JFR_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "jfr/span_names.h"

struct span_ids {
	char trace_id[33], span_id[33];
	/* NULL or text that lives as long: what its program calls it, and what the span is called
	   (spans_name()) */
	const char *tag, *name;
	/* Their strings in a profile are for whoever fills one; 0 at first. */
	uint32_t trace, span;
};

struct span_scope {
	int64_t id;	 /* of this scope, never 0: by spans_add() unless it has one below 0 */
	uint64_t thread; /* any number that is the thread's own: its key in the chunk */
	int64_t start_ns, end_ns;
	int64_t latest_ns; /* end of the thread's scopes that began until here: spans_sort() */
	struct span_ids *ids;
	bool is_late; /* it is written in a later chunk */
};

#define N_SPAN_HINTS 16

struct spans {		    /* all zero at first */
	struct arena arena; /* of the ids */
	struct span_names names;
	const struct span_names *later; /* of other chunks, borrowed; NULL: none */
	struct span_scope *items;
	size_t n, cap;
	bool is_sorted;
	size_t begun[N_SPAN_HINTS]; /* of threads: where the last looks for them ended */
};

void spans_deinit(struct spans *s);
void spans_clear(struct spans *s);
/* With a copy of its ids. 0 or -ENOMEM. */
int spans_add(struct spans *s, const struct span_scope *scope);
/* Before the first look and after the last spans_add(). */
void spans_sort(struct spans *s);
/* Has a thread any? */
bool spans_has(const struct spans *s, uint64_t thread);
/* The innermost scope of a thread at a time, or NULL: also where that is of no span, which hides
   those around it. */
const struct span_scope *spans_find(struct spans *s, uint64_t thread, int64_t time_ns);
/* What the span of a scope is called, also in its ids from then on; NULL: nothing says so. */
const char *spans_name(const struct spans *s, const struct span_scope *scope);

#endif
