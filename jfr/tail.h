/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One file that is followed: which chunk is next, in what state its header says it is, and which
 * piece of it can be read now. What a chunk's state is its header decides and never a file's time:
 *
 *	HotSpot, live		a state that is not 0: what the last flush committed
 *	async-profiler, live	a size of 2^30 and no offsets: nothing yet
 *	finished		state 0, and the whole size is there
 *	being appended		state 0, and less is there: nothing yet
 *
 * Where a writer died, the last state stays for ever; that it died is what somebody else finds out
 * (a tail that is told to settle): then what can be read is read, and the rest is lost.
 *
 * The descriptor is kept until everything was read, also when the file has no name any more.
 */
#ifndef JFR_TAIL_H
#define JFR_TAIL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "jfr/chunk_header.h"
#include "jfr/identity.h"

enum tail_phase {
	TAIL_WAITS,	/* for its writer */
	TAIL_SEARCHES,	/* a long stretch for the next chunk: look again */
	TAIL_HAS_PIECE, /* see tail_piece() */
	TAIL_AT_END,	/* all there is was read */
	TAIL_REPLACED,	/* other bytes are where some were read: it is another file now */
	TAIL_FOREIGN,	/* no recording begins here */
	TAIL_FAILED,	/* see err */
};

/* A part of a chunk that can be read. */
struct piece {
	uint64_t from, to; /* in the chunk */
	bool is_last;	   /* the chunk ends there, for good */
	bool is_whole;	   /* the header can be relied on */
	uint64_t lost;	   /* bytes behind it that belong to no event anybody committed */
	uint64_t next;	   /* in the file: where the next chunk begins, if is_last */
};

/* For the chunk behind one that has no end, some of the file at a time. */
struct search {
	uint64_t of;   /* behind which one */
	uint64_t from; /* nothing is before; 0: not begun, or the file changed */
	bool is_over;  /* it begins there, or nothing does */
};

struct tail {
	int fd; /* -1: closed */
	uint64_t size;
	int64_t mtime_ns;
	uint64_t n_links;
	uint64_t at;	   /* in the file: of the chunk that is read */
	uint64_t exported; /* in the chunk: up to here it was read */
	bool has_key;
	struct chunk_key key; /* of the chunk */
	struct chunk_header header;
	struct piece piece;
	struct search search;
	uint64_t start_ns; /* of the file's first chunk; 0: no header yet */
	uint64_t grown_ns; /* when it was last seen to change */
	bool is_settled;   /* nobody writes any more */
	int err;	   /* of TAIL_FAILED: -ENOTSUP, or what reading said */
	const char *what;  /* about err, or about what is damaged in the piece */
};

/* Takes fd. at: where to go on. */
void tail_init(struct tail *t, int fd, uint64_t at);
void tail_deinit(struct tail *t);
/* Looks at the file; now_ns is of any clock that does not jump. */
enum tail_phase tail_look(struct tail *t, uint64_t now_ns);
/* The chunk was read up to an offset in it: by this tail, or by another one of the same chunk. */
void tail_took(struct tail *t, uint64_t to);
/* Nothing of the piece's chunk is wanted any more. */
void tail_next_chunk(struct tail *t);

/* The header at an offset, as it was at one moment: read twice, and again while its JVM writes it.
   0; -EAGAIN: it is being written; else as chunk_header_parse() and pread(). */
int tail_read_header(int fd, uint64_t at, struct chunk_header *h, const char **what);

#endif
