/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads one chunk piece by piece, as far as it may be read each time. Where it begins in the middle
 * of a chunk, as after a restart, what the pieces before said about settings and the JVM is learned
 * first; so it is before the first event of a chunk is told of.
 *
 * A scope of OpenTelemetry is written when it ends, so that the span of an event that is read soon
 * may not be known yet. Of a JVM that writes scopes, events of Java threads that are in none can be
 * held: they are told of with the next piece.
 */
#ifndef JFR_PIECEWISE_H
#define JFR_PIECEWISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jfr/chunk_header.h"
#include "jfr/held.h"

struct piecewise;
struct jvm;
struct jvms;
struct window;

struct follow_piece {
	int fd;				   /* of the file; it may be another descriptor each time */
	const struct chunk_header *header; /* as it is now */
	uint64_t from, to;
	bool is_whole;		 /* its offsets can be relied on */
	uint64_t max_events;	 /* then the piece ends early */
	const struct held *held; /* of pieces before: told of with this one; NULL: none */
	int64_t hold_from_ns;	 /* what was written from then on may be held; or NOT_HELD */
};

struct follow_result {
	uint64_t to;  /* where it ended */
	uint64_t cut; /* bytes before that, of an event that is cut off: another file may have it */
	uint64_t lost, lost_at; /* bytes that are damaged; the first of them, in the file */
	const char *what;
	struct held held;	/* the caller's */
	uint64_t n_late_scopes; /* that began before what was told of with the pieces before */
};

/* A chunk at an offset of a file in a directory. The window is shared by all. NULL: no memory. */
struct piecewise *piecewise_new(struct jvms *jvms, struct window *w, const char *place, uint64_t at,
				const struct chunk_header *h);
/* is_read: the chunk was read to its end. NULL is fine. */
void piecewise_free(struct piecewise *f, bool is_read);
struct jvm *piecewise_jvm(struct piecewise *f);
/* Gets to know what is before the piece, and what it is made of. 0, -ENOMEM, -EBADMSG: nothing says
   what its events are; or what the file said. */
int piecewise_load(struct piecewise *f, const struct follow_piece *p);
/* Tells the sinks of the JVM's interpreter of its events. 0, or what they or the file said: then
   nothing is held. A piece that ends early holds what is near its end. */
int piecewise_read(struct piecewise *f, const struct follow_piece *p, struct follow_result *result);
/* Ids that a profile had are no longer valid. */
void piecewise_forget(struct piecewise *f);

#endif
