/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first 68 bytes of a chunk of a JFR recording: big endian and never compressed, as HotSpot's
 * jfrChunkHeader writes them. There is no specification; what is relied on was seen in recordings
 * of JDK 11 to 25, async-profiler and others (docs/jfr.md).
 */
#ifndef JFR_CHUNK_HEADER_H
#define JFR_CHUNK_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"

#define CHUNK_HEADER_LEN 68
#define CHUNK_SIZE_AT 8 /* in it */
#define CHUNK_OFFSETS_END 32
/* What async-profiler writes as the size of a chunk it has not finished. */
#define CHUNK_UNFINISHED_SIZE ((uint64_t)1 << 30)

enum chunk_state {
	CHUNK_COMPLETE = 0,   /* 1 to 254: its JVM still writes, or died */
	CHUNK_CHANGING = 255, /* the header is being written right now */
};

struct chunk_header {
	uint16_t major, minor;
	uint64_t size;			    /* with the header */
	uint64_t constants_at, metadata_at; /* from the chunk's start; 0: none yet */
	int64_t start_ns;		    /* unix time of start_ticks */
	uint64_t duration_ns;
	int64_t start_ticks;
	uint64_t ticks_per_s;	 /* never 0 */
	uint64_t ns_per_tick;	 /* times 2^64, rounded down; 0: a tick is no part of one */
	bool is_frequency_guess; /* the header had none */
	bool is_final;		 /* the JVM's last chunk */
	uint8_t state;		 /* enum chunk_state */
};

/* Are these the first bytes of a recording, of whatever version? */
bool chunk_header_sniff(const void *head, size_t len);
/*
 * 0; -EBADMSG: these bytes are no header; -ENOTSUP: a version or an encoding that nobody writes
 * any more. *what says which, for people. Sizes and offsets are as written: chunk_header_is_whole()
 * checks them.
 */
int chunk_header_parse(const void *bytes, size_t len, struct chunk_header *h, const char **what);
/* Is the chunk finished and do its offsets lie in it, when so many bytes are there? */
bool chunk_header_is_whole(const struct chunk_header *h, uint64_t available);
/* Is it one that HotSpot before 14 still writes? It says nothing until the chunk ends. */
bool chunk_header_is_silent(const struct chunk_header *h);
/* Is it one of HotSpot 14 and later that was not flushed yet? In its first second each is. */
bool chunk_header_is_unflushed(const struct chunk_header *h);
/* Has it no size yet, as async-profiler's until they end? */
bool chunk_header_is_open(const struct chunk_header *h);

/* Does its clock tick at least once in a nanosecond? */
static inline bool chunk_header_has_fast_clock(const struct chunk_header *h)
{
	return h->ns_per_tick || h->ticks_per_s == NS_PER_S;
}

/* A number of ticks in nanoseconds, rounded down, where ticks are not longer: a multiplication
   gives the right number or one less, which what is left over tells. */
static inline uint64_t chunk_header_length_ns(const struct chunk_header *h, uint64_t ticks)
{
	uint64_t ns, rest;

	if (h->ticks_per_s == NS_PER_S)
		return ticks;
	ns = (uint64_t)((unsigned __int128)ticks * h->ns_per_tick >> 64);
	rest = ticks * NS_PER_S - ns * h->ticks_per_s; /* its upper half is 0 */
	return ns + (rest >= h->ticks_per_s);
}

/* Of any clock and any number. */
int64_t chunk_header_any_time_ns(const struct chunk_header *h, int64_t ticks);
int64_t chunk_header_any_duration_ns(const struct chunk_header *h, int64_t ticks);

/* Ticks to time; what does not fit in 64 bits is the nearest that does. Nearly all are in the
   chunk, and of a clock that ticks at least once in a nanosecond. */
static inline int64_t chunk_header_time_ns(const struct chunk_header *h, int64_t ticks)
{
	int64_t length, time;

	if (!__builtin_sub_overflow(ticks, h->start_ticks, &length) && length >= 0 &&
	    chunk_header_has_fast_clock(h) &&
	    !__builtin_add_overflow(h->start_ns,
				    (int64_t)chunk_header_length_ns(h, (uint64_t)length), &time))
		return time;
	return chunk_header_any_time_ns(h, ticks);
}

static inline int64_t chunk_header_duration_ns(const struct chunk_header *h, int64_t ticks)
{
	if (ticks >= 0 && chunk_header_has_fast_clock(h))
		return (int64_t)chunk_header_length_ns(h, (uint64_t)ticks);
	return chunk_header_any_duration_ns(h, ticks);
}

/* When the chunk ends, as far as the header knows; when it begins if that makes no sense. */
int64_t chunk_header_end_ns(const struct chunk_header *h);
/* Do two chunks follow each other as those of one JVM do, by both of its clocks? */
bool chunk_header_follows(const struct chunk_header *a, const struct chunk_header *b);

#endif
