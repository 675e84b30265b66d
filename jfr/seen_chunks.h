/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks that were read already, of one file and others: dumps overlap. */
#ifndef JFR_SEEN_CHUNKS_H
#define JFR_SEEN_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jfr/chunk_header.h"

struct seen_chunks { /* all zero at first */
	struct seen_chunk {
		int64_t start_ns, start_ticks;
		uint64_t size;
	} * items;
	size_t n, cap;
	uint32_t *slots; /* of a hash: index + 1; 0: free */
	size_t n_slots;
};

void seen_chunks_deinit(struct seen_chunks *seen);
/* 0, -E2BIG or -ENOMEM. */
int seen_chunks_add(struct seen_chunks *seen, const struct chunk_header *h, bool *is_new);
bool seen_chunks_has(const struct seen_chunks *seen, const struct chunk_header *h);

#endif
