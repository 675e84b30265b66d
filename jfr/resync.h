/* SPDX-License-Identifier: Apache-2.0 */
/* Where the events go on behind damage: nothing in a chunk marks an event's beginning. */
#ifndef JFR_RESYNC_H
#define JFR_RESYNC_H

#include <stdbool.h>
#include <stdint.h>

struct chunk;

/* May an event of the chunk begin then? */
bool resync_is_time(const struct chunk *c, int64_t ticks);
/*
 * Is what lies here an event beyond doubt: of a type the metadata describes, with fields that end
 * where it ends, at a time that the chunk can have? *size is its length then. An error of the file
 * is a no.
 */
bool resync_is_event(struct chunk *c, uint64_t at, uint64_t to, uint64_t *size);
/* Does a mark, or the header of a finished chunk, say that an event ends at the limit? */
bool resync_is_end(const struct chunk *c, uint64_t limit, uint64_t to);
/* Do several such events follow each other from here on, as far as there is room before the limit,
   the next mark or `to`? A single one at the very end is not enough, unless a mark or the header
   says that something ends there. */
bool resync_is_run(struct chunk *c, uint64_t at, uint64_t limit, uint64_t to);
/*
 * *at is where an event should be and is none. Moves it to the next place from which several events
 * follow each other, to the next mark, or to `to`, and notes what lies between as damage. 0 or
 * -ENOMEM.
 */
int resync(struct chunk *c, uint64_t *at, uint64_t to);
/* The first metadata of a chunk that can be read, wherever it lies. */
bool resync_metadata(struct chunk *c, uint64_t to, uint64_t *at);

#endif
