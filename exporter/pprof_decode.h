/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof profiles of any writer into a profile: gzipped or not, ids of any size, packed or not,
 * unknown fields skipped. What profile.proto cannot say comes from weft's own fields (pprof.h); for
 * other writers the kind of a frame is taken from its mapping's or its file's name.
 */
#ifndef EXPORTER_PPROF_DECODE_H
#define EXPORTER_PPROF_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;

struct pprof_report {
	const char *what;	 /* what was wrong, or NULL */
	uint64_t where;		 /* offset in the unpacked bytes */
	uint64_t n_sample_types; /* in the file; a profile keeps the first MAX_VALUES */
};

/* Could these be the first bytes of one? */
bool pprof_sniff(const void *head, size_t len);
/*
 * Adds to p, which is a new one. 0; -EBADMSG damaged (p has the samples before the damage), -E2BIG
 * larger than weft reads (what then says what it does, as in "unpacks to more than ..."), -ENOTSUP
 * a recording of JFR, -ENOMEM. *report is always filled.
 */
int pprof_decode(const void *bytes, size_t len, struct profile *p, struct pprof_report *report);

#endif
