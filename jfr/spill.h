/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files without a name that take what is unpacked, within the limits that one packed file has:
 * what makes a thousand bytes out of one is no recording, and others need the disk too. They are
 * in $TMPDIR, or in /var/tmp.
 */
#ifndef JFR_SPILL_H
#define JFR_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jfr/unpack_fault.h"

/* For one file, all that is unpacked of it together. */
struct unpack_limits {
	uint64_t max_len;   /* bytes */
	uint64_t free_len;  /* up to here no ratio is asked about */
	uint32_t max_ratio; /* bytes out for each byte of the file; real recordings have 2 to 40 */
	uint32_t max_entries; /* of a zip that are looked at */
	uint64_t reserve;     /* stays free where it is unpacked; a tenth if that is less */
	uint64_t max_memory;  /* in a tmpfs, which is memory */
};

/* 64 GiB; 64 MiB; 1000; 65536; 1 GiB; 64 MiB. */
extern const struct unpack_limits unpack_limits_default;

struct spill_room {
	const struct unpack_limits *limits; /* borrowed */
	uint64_t file_len, used;
};

struct spill {
	int fd; /* -1: none yet */
	uint64_t len;
	uint64_t max_len;     /* what a file of this process may have (ulimit -f) */
	uint64_t max_on_disk; /* what there is space for, as it was the last time */
	uint64_t look_again;  /* at this length */
	bool is_memory;
};

/* 0 or -errno with *fault. */
int spill_open(struct spill *s, struct unpack_fault *fault);
/* 0, or -E2BIG, -ENOSPC, -errno with *fault; where: the offset in the packed file, for it. What
   fits is written. */
int spill_write(struct spill *s, struct spill_room *room, const void *bytes, size_t len,
		uint64_t where, struct unpack_fault *fault);

#endif
