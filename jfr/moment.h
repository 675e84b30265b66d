/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event as it is understood: when, who, where, and what it is worth. Everything in it is
 * borrowed until the next event is read.
 */
#ifndef JFR_MOMENT_H
#define JFR_MOMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jfr/event_row.h"
#include "jfr/names.h"
#include "jfr/worth.h"

struct chunk;
struct event;
struct jfr_type;
struct jfr_value;
struct layout;
struct moment_reader;
struct settings;
struct spans;

/* What an event refers to. Events of one chunk for which this is the same have the same names, so
   whoever remembers what came of them need not ask for the names again. Comparable as bytes. */
struct moment_refs {
	int64_t thread, stack, state, class; /* keys of constants; 0: none */
	const void *of;			     /* which fields these are of */
	int64_t span;			     /* the id of the scope it was found in; 0: none */
};

struct moment {
	const struct event_row *row;
	const struct jfr_type *type;
	struct chunk *chunk;
	uint64_t at; /* in the file */
	int64_t time_ns;
	int64_t duration_ns; /* -1: it has none */
	struct moment_refs refs;
	struct moment_reader *reader;
	struct spans *spans; /* it may turn out to be in one, when the chunk ends; else NULL */
	/* by moment_name() */
	bool has_thread, has_stack, has_state, has_class; /* which of these it has found */
	struct java_thread *thread;			  /* NULL: unknown */
	struct java_stack *stack;			  /* NULL: it has none */
	bool is_stack_missing;				  /* it refers to one that is not there */
	const char *mark;	  /* what stands for the stack ("[lost]"), or NULL */
	const char *state;	  /* of the thread, "RUNNABLE"; "" unknown */
	const char *class;	  /* that it is about; "" none */
	const char *mode;	  /* how it was taken: "NATIVE", "biased"; "" nobody says */
	const char *operation;	  /* of the span it is in; "" none */
	const char *tag;	  /* that its program gave the span it is in; "" none */
	const char *span_name;	  /* of that span; "" nobody says */
	bool is_sample;		  /* it is worth something */
	enum event_column column; /* that says what */
	struct worth worth;
	char trace_id[33], span_id[33]; /* hexadecimal; "" none */
	char root_id[33];		/* of the span that began in its process */
	/* all its fields */
	const struct layout *layout;
	const struct jfr_value *fields;
};

/* How the events of one type are understood. */
struct moment_reader;

/* By what its row says, which is borrowed. NULL and *err: -ENOMEM, -EBADMSG: its metadata makes no
   sense. */
struct moment_reader *moment_reader_new(const struct jfr_type *type, const struct event_row *row,
					int *err);
void moment_reader_free(struct moment_reader *r); /* NULL is fine */
/* 0, or -EBADMSG: the bytes are no such event. */
int moment_read(struct moment_reader *r, struct chunk *chunk, const struct event *e,
		const struct settings *settings, struct moment *m);

/* Finds the names of what it refers to, once. */
void moment_name(struct moment *m);
/* Only the thread, NULL when it is unknown; only the stack; only the state. */
const struct java_thread *moment_thread(struct moment *m);
void moment_stack(struct moment *m);
const char *moment_state(struct moment *m);
/* When it began as it is written, 0 when nothing says so; and the time that it is, by what the
   moment refers to: for whoever may have to know it later. */
int64_t moment_start(const struct moment *m);
int64_t moment_start_ns(const struct moment_refs *refs, const struct chunk *chunk, int64_t start);
/* Only whether it is such an event, and when it was. */
int moment_time(struct moment_reader *r, const struct chunk *chunk, const struct event *e,
		int64_t *time_ns);

#endif
