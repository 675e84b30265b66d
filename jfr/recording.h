/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of chunks, read from its first to its last, whatever state it is in: what is damaged, cut
 * off or unfinished is read as far as it can be and said.
 */
#ifndef JFR_RECORDING_H
#define JFR_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jfr/chunk.h"
#include "jfr/event_types.h"
#include "jfr/recording_report.h"
#include "jfr/seen_chunks.h"

/*
 * Visits all events of a file, which stays open. 0 also when it is damaged; -EINTR (core/hurry.h);
 * or what the file, the memory or the visitor said. The report is complete as far as the reading
 * went.
 */
int recording_read(int fd, const struct event_visitor *visitor, struct seen_chunks *seen,
		   struct recording_report *report);

/* What the last chunks of a file lend to the first one of the next file, if that follows them:
   names for events that began before it. */
struct recording_past { /* all zero at first */
	struct names *older[2];
	struct chunk_header last; /* of the chunk older[0] is of */
};

void recording_past_deinit(struct recording_past *past);
/* As recording_read(). */
int recording_read_on(int fd, const struct event_visitor *visitor, struct seen_chunks *seen,
		      struct recording_past *past, struct recording_report *report);

/*
 * The same in parts, of a file whose chunks begin where chunk_list_read() says. What a chunk needs
 * of the two before it (their names, their metadata) is kept from part to part.
 */
struct recording;

/* All that is handed in is borrowed. NULL and *err: -ENOMEM or -errno. */
struct recording *recording_new(int fd, const struct event_visitor *visitor,
				struct seen_chunks *seen, int *err);
void recording_free(struct recording *r); /* NULL is fine */
/* What is lent moves from one to the other: before its first part, and behind its last one. What
   the other had is freed. */
void recording_take_past(struct recording *r, struct recording_past *past);
void recording_give_past(struct recording *r, struct recording_past *past);
/* Visits the chunks that begin in [from, to). As recording_read(). */
int recording_read_part(struct recording *r, uint64_t from, uint64_t to,
			struct recording_report *report);
/* The same, but for their events: of each chunk, the visitor is told that it begins and ends. */
int recording_glance(struct recording *r, uint64_t from, uint64_t to,
		     struct recording_report *report);

/* From here on the visitor may want other events. 0 or -ENOMEM. */
int recording_rebind(struct recording *r);

/* Which chunks it keeps something of. */
struct recording_state {
	struct chunk_header last;
	size_t n_older[2]; /* constants, and one; more where one was missed and others were found */
};

struct recording_state recording_state(const struct recording *r);
/* Is the next chunk read the same way? */
bool recording_state_equal(const struct recording_state *a, const struct recording_state *b);

#endif
