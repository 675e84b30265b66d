/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One chunk of a recording: its metadata, its constants and its events. The same for a finished
 * chunk, one that a JVM still writes (read piece by piece, each flush), and one that was cut off or
 * damaged (read by walking from event to event, without the header's offsets).
 *
 * Offsets count from the chunk's first byte, except where they are said to be the file's.
 */
#ifndef JFR_CHUNK_H
#define JFR_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jfr/chunk_header.h"
#include "jfr/event_types.h"
#include "jfr/names.h"

struct window;

#define MAX_RESTS 16

/* Bytes of the file that are lost, and why. */
struct damage {
	uint64_t at, len;
	const char *what;
};

struct chunk {
	struct window *window; /* borrowed */
	uint64_t at;	       /* of its first byte, in the file */
	struct chunk_header header;
	struct metadata *metadata; /* NULL until it is found */
	struct names *names;	   /* of its constants; NULL as long as there is no metadata */
	struct names *older[2];	   /* of the chunks before, newest first; borrowed, may be NULL */
	bool is_of_another_jvm;	   /* chunk_forget_older() was called */
	uint64_t loaded_to;	   /* metadata and constants are known up to here */
	bool is_scanned;	   /* by every event of it, not only those the header leads to */
	uint64_t *marks;	   /* where metadata and checkpoints begin, ascending */
	size_t n_marks, marks_cap;
	uint64_t rests[MAX_RESTS]; /* where a scan met damage, that may be a checkpoint's */
	size_t n_rests;
	struct damage *damages;
	size_t n_damages, damages_cap;
	uint64_t cut_at;	      /* where an event begins that has no end; 0: none */
	uint64_t n_unknown;	      /* events of types that nothing is said about */
	uint64_t counts[2], sizes[2]; /* of its metadata and its checkpoints, as walked over */
	uint64_t n_unchecked;	      /* bytes that were looked at for events behind damage */
	struct event_types *plain;    /* of the metadata, for nobody to visit; made when needed */
	uint8_t *event;		      /* room for one event that is read by itself */
	size_t event_cap;
};

struct chunk *chunk_new(struct window *w, uint64_t at, const struct chunk_header *h);
void chunk_free(struct chunk *c); /* NULL is fine */

/* It turned out to be of another JVM than the chunks before, whose names mean nothing in it. What
   was put together with their help is put together again: they may go. */
static inline void chunk_forget_older(struct chunk *c)
{
	c->older[0] = c->older[1] = NULL;
	c->is_of_another_jvm = true;
	names_doubt(c->names);
}

/*
 * Reads metadata and constants between loaded_to and `to`, by the header's offsets as they are
 * now. 0; -EBADMSG: they do not hold together (use chunk_scan()); -ENOMEM; -errno of the file.
 * known: metadata that this chunk may share, or NULL.
 */
int chunk_load(struct chunk *c, uint64_t to, struct metadata *known);
/* The same by walking from event to event, whatever is damaged. -EBADMSG: there is no metadata. */
int chunk_scan(struct chunk *c, uint64_t to, struct metadata *known);
/* Adds constants that the header's way does not lead to, once. 0, or -ENOENT when that was done. */
int chunk_search(struct chunk *c);
/* Nothing says what its events are: they are tried as if this did. 0 or -ENOMEM. */
int chunk_assume(struct chunk *c, struct metadata *m, uint64_t to);
/* Visits the events at the chunk's beginning, as many as fit in memory, and on until is_enough()
   says so, and counts and notes nothing: what has to be known before the rest. It stands there
   mostly; JVMs before 14, which write what a thread has when its buffer is full, may have it last.
 */
int chunk_preview(struct chunk *c, struct event_types *types, bool (*is_enough)(void *ctx),
		  void *ctx);
/* Visits the events from `from` up to `to`, and notes what is damaged. 0, or what the visitor or
   the file said. */
int chunk_walk(struct chunk *c, struct event_types *types, uint64_t from, uint64_t to);
int chunk_note(struct chunk *c, uint64_t from, uint64_t to, const char *what);
/* The size and type of the event at an offset. 0; -EBADMSG: none that ends by `to`; or an error of
   the file. */
int chunk_head(struct chunk *c, uint64_t at, uint64_t to, uint64_t *size, uint64_t *type);
/* All its bytes, until the next one is asked for. */
int chunk_event(struct chunk *c, uint64_t at, uint64_t size, const uint8_t **bytes);
/* Reads the fields of an event again, of which type, place and size are known. */
int chunk_event_fields(struct chunk *c, struct event *e);

#endif
