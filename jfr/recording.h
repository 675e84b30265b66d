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
#include "jfr/seen_chunks.h"

struct recording_report {
	uint64_t n_chunks, n_duplicates; /* chunks that were read, and that were there before */
	uint64_t n_open;		 /* that nobody finished: their JVM still writes, or died */
	uint64_t n_unflushed; /* bytes behind the last flush of such chunks, which are left out */
	uint64_t n_unknown;   /* events of types that nothing is said about */
	uint64_t counts[2], sizes[2]; /* of metadata and checkpoints */
	int64_t start_ns, end_ns;     /* of all chunks; 0, 0 without one */
	struct damage *damages;
	size_t n_damages, damages_cap;
	uint64_t n_lost; /* bytes of all of them */
};

void recording_report_deinit(struct recording_report *r);

/*
 * Visits all events of a file, which stays open. 0 also when it is damaged; -EINTR (core/hurry.h);
 * or what the file, the memory or the visitor said. The report is complete as far as the reading
 * went.
 */
int recording_read(int fd, const struct event_visitor *visitor, struct seen_chunks *seen,
		   struct recording_report *report);

#endif
