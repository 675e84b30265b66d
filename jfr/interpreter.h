/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Visits the events of recordings (struct event_visitor), understands them, and hands what was
 * asked for to whoever makes something of it: a profile, lines, tables. What the weight of samples
 * depends on and what the JVM says about itself is kept from event to event. Where events say which
 * span was current on a thread, the moments in it get its ids.
 */
#ifndef JFR_INTERPRETER_H
#define JFR_INTERPRETER_H

#include <stdbool.h>
#include <stdint.h>

#include "jfr/event_order.h"
#include "jfr/event_types.h"
#include "jfr/jvm_facts.h"
#include "jfr/moment.h"
#include "jfr/settings.h"
#include "jfr/spans.h"

#define MAX_SINKS 4

/* What there is to an event that is not read. */
struct unread {
	struct moment_reader *reader;
	struct look_plan *plan; /* of the reader */
	const struct settings *settings;
	const bool *has_scopes; /* it may turn out to be in one of these, when the chunk ends */
	struct spans *spans;
};

/* Who is told of moments. */
struct moment_sink {
	void *ctx;
	/* It needs to know of spans only when the chunk ends, if at all: then it finds them itself,
	   in moment.spans. All others are told of a moment when its span is known. */
	bool finds_spans;
	/* Does it want events of this type? NULL: those of the groups asked for. */
	bool (*wants)(void *ctx, const struct event_row *row);
	int (*take)(void *ctx, struct moment *m); /* 0, or what ends the reading */
	/* Takes an event without its being read, when it knows what comes of it; spans as in
	   a moment. 1: it does not, and is told of its moment next. NULL is fine. */
	int (*recall)(void *ctx, struct chunk *chunk, const struct event *e,
		      const struct unread *u);
	/* Another chunk, of which settings and facts are known; NULL is fine. */
	void (*begin)(void *ctx, struct chunk *chunk);
	void (*end)(void *ctx, struct chunk *chunk, struct event_types *types); /* and its end */
};

struct late_scopes;
struct metadata;

struct interpreter {
	uint32_t groups;    /* enum event_group, a bit each */
	const char *events; /* a list that names types beside them (event_list_has()), or NULL */
	bool names_samples; /* types that it names are samples if they have stacks */
	int64_t from_ns,
		to_ns; /* moments that begin before and from here on are left out; 0, 0: none */
	const char *thread; /* only moments of threads with this name or id; NULL: all */
	bool has_thread;    /* there were some, at any time */
	bool is_mute;	 /* only what tells about later events is read, and bound; no sink hears */
	bool is_ordered; /* moments of a chunk come in the order of their time */
	/* Asked before the sinks hear of a moment, whose span was looked for: true if they hear of
	   it another time. NULL: they hear of all. */
	bool (*defers)(void *ctx, struct moment *m);
	void *defers_ctx;
	size_t file; /* a number that tells the file from others */
	/* Scopes that go over from chunk to chunk: those that are known (borrowed), and where to
	   put those that are found, when nothing else is asked for; NULL, NULL. */
	const struct late_scopes *late;
	struct late_scopes *found;
	struct metadata *known; /* that the first chunk may have; owned, NULL is fine */
	struct moment_sink sinks[MAX_SINKS];
	unsigned int n_sinks;
	struct settings settings;
	struct jvm_facts facts;
	int64_t jvm_pid, jvm_start_ms; /* of the chunk before; 0: unknown */
	uint64_t n_left_out;	       /* moments that from, to and thread do not want */
	struct event_visitor preview_visitor;
	struct event_types *previewed; /* of the newest metadata: settings and facts only */
	unsigned int n_periods;	       /* CPUTimeSamples that a preview met */
	/* of the chunk that is being read */
	int64_t chunk_ns, chunk_ticks; /* where it starts */
	bool has_scopes;	       /* it may have scopes, which are written at their ends */
	bool can_recall;	       /* events need not be read by themselves */
	struct event_order order;
	struct spans spans;
};

void interpreter_deinit(struct interpreter *in);
/* Do both understand the next chunk the same way? One may be a copy of what it was, which owns
   nothing. */
bool interpreter_is_as(const struct interpreter *a, const struct interpreter *b);

/* A visitor that works for it, which it must outlive. */
struct event_visitor interpreter_visitor(struct interpreter *in);

#endif
