/* SPDX-License-Identifier: Apache-2.0 */
/* What was found in a recording: its chunks, and what of them is lost. */
#ifndef JFR_RECORDING_REPORT_H
#define JFR_RECORDING_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include "jfr/chunk.h"

struct recording_report {		 /* all zero at first */
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
/* Bytes of the file that are lost. 0 or -ENOMEM, as below. */
int recording_report_note(struct recording_report *r, uint64_t at, uint64_t end, const char *what);
/* One more chunk, that was read. */
int recording_report_add(struct recording_report *r, const struct chunk *c);
/* What was found behind it. */
int recording_report_merge(struct recording_report *into, const struct recording_report *from);

#endif
