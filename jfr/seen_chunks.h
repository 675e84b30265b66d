/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chunks that were read already, of one file and others: dumps overlap. Of one that is not whole in
 * a file, another file may have more.
 */
#ifndef JFR_SEEN_CHUNKS_H
#define JFR_SEEN_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jfr/chunk_header.h"

/* What was read of the chunks that begin at a time, in bytes from their start. */
struct seen_part {
	uint64_t
		read_to; /* up to where an event ended, of copies that were not whole; 0: of none */
	uint64_t seen_to; /* what they had: behind read_to an event that is cut off */
	uint64_t hash;	  /* of the last bytes before read_to */
	bool is_whole;	  /* one was read to its end */
	bool is_to_come;  /* one that is whole lies in a file that is read, too */
};

struct seen_chunks { /* all zero at first */
	struct seen_chunk {
		int64_t start_ns, start_ticks;
		uint64_t size; /* of a whole one; 0: what is known of all that begin then */
		struct seen_part part;
	} * items;
	size_t n, cap;
	uint32_t *slots; /* of a hash: index + 1; 0: free */
	size_t n_slots;
};

void seen_chunks_deinit(struct seen_chunks *seen);
/* A whole one. 0, -E2BIG or -ENOMEM. */
int seen_chunks_add(struct seen_chunks *seen, const struct chunk_header *h, bool *is_new);
/* A whole one that is read now or later, so that no copy with less of it need be. 0, -E2BIG or
   -ENOMEM. */
int seen_chunks_expect(struct seen_chunks *seen, const struct chunk_header *h);
/* Was it, or a part of it? */
bool seen_chunks_has(const struct seen_chunks *seen, const struct chunk_header *h);
/* Valid until the next one is added or asked for. 0, -E2BIG or -ENOMEM. */
int seen_chunks_part(struct seen_chunks *seen, const struct chunk_header *h,
		     struct seen_part **part);

#endif
