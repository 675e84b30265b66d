/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A part of a chunk's events, in memory: which of them are wanted, and how many there are of each
 * type.
 *
 * The way from event to event is one load that depends on another, so it is gone from two places at
 * once: from the start, and from a place ahead that looks like where an event begins. What was
 * found ahead counts when the first way comes to exactly that place, and never was if it does not.
 */
#ifndef JFR_PART_H
#define JFR_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jfr/event_types.h"

struct chunk;

#define PART_WANTED 1024 /* events that wait for a way's end, with their bytes near the CPU */
#define PART_EXPECTED (PART_WANTED / 5) /* so many are no more than that: they come in bursts */
#define PART_WAYS 2			/* the second one may be of no use */

struct wanted_events {
	struct event items[PART_WANTED];
	size_t n;
};

struct part {
	struct chunk *chunk;
	struct event_types *types;
	const uint8_t *start, *end;		/* of what is in memory */
	uint64_t at;				/* of start, in the chunk */
	uint64_t limit;				/* no event goes beyond, in the chunk */
	struct wanted_events wanted[PART_WAYS]; /* in the order of the file */
	size_t reach; /* how far a way has place for what is wanted; 0: it goes from one place */
};

/*
 * Collects what is wanted, and counts. Returns how far it went, which is behind the memory when an
 * event that nobody wants goes on there. *is_sound: nothing speaks against what it saw.
 */
uint64_t part_collect(struct part *p, bool *is_sound);
/* Is something left because there was no room for what is wanted? Nothing but that ended it. */
bool part_is_full(const struct part *p);
static inline size_t part_n_wanted(const struct part *p)
{
	return p->wanted[0].n + p->wanted[1].n;
}

/* In the order of the file. */
static inline const struct event *part_wanted(const struct part *p, size_t i)
{
	size_t n = p->wanted[0].n;

	return i < n ? &p->wanted[0].items[i] : &p->wanted[1].items[i - n];
}

/* Takes back what was counted from one offset in the part up to another. */
void part_uncount(struct part *p, uint64_t from, uint64_t to);
/* Counts an event of any type. */
void part_count(struct part *p, struct event_type *row, uint64_t type, uint64_t size);

#endif
