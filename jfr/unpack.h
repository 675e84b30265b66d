/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recording file is packed in. What a file is is decided by its content and never by its
 * name: gzip (RFC 1952, several members), zstd (RFC 8878, several frames), lz4 frames, zip
 * (APPNOTE 6.3.10: stored, deflate and zstd, zip64; every entry that is a recording, its name only
 * for messages), or the recording itself. A recording may be packed twice (x.jfr.gz in a zip), not
 * more often.
 *
 * The recording itself is handed on as it is, and may grow. What is packed is unpacked into a file
 * without a name, in $TMPDIR or /var/tmp, so that it can be read at any offset and takes no memory;
 * its limits are in jfr/spill.h.
 *
 *	struct unpack *u = unpack_new(AT_FDCWD, path, 0, NULL);
 *	struct unpack_part part;
 *
 *	while (u && unpack_next(u, &part)) {
 *		if (part.err)
 *			...part.reason, part.where
 *		if (part.fd >= 0)
 *			...
 *		unpack_part_deinit(&part);
 *	}
 *	unpack_free(u);
 */
#ifndef JFR_UNPACK_H
#define JFR_UNPACK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/scoped.h"
#include "jfr/spill.h"
#include "jfr/unpack_fault.h"

struct unpack;

#define UNPACK_NAME_MAX 512

/* One recording, or why there is none or not all of it. */
struct unpack_part {
	int fd;	      /* to be read with pread, owned by the part; -1: nothing can be read */
	bool is_self; /* the file itself and not a copy: it may grow, shrink and be deleted */
	/* Nothing at its beginning says that this is a recording: one whose beginning is damaged,
	   or anything else. The chunks in it, if there are any, have to be looked for. */
	bool is_unsure;
	uint64_t len; /* of what fd has, at this time */
	/* 0, or why it is not all, or not there at all: -EBADMSG damaged or cut, -ENOTSUP packed in
	   a way that is not read, or no recording, or no file to read from; -E2BIG over a limit of
	   ours; -ENOSPC, -EINTR in a hurry, -ENOMEM, or what the system said. */
	int err;
	uint64_t where;			/* of err: offset in the packed file */
	char name[UNPACK_NAME_MAX];	/* for messages: "x.zip:inner.jfr", safe for a terminal */
	char reason[UNPACK_REASON_MAX]; /* of err: "the gzip data ends in the middle", safe too */
};

/* Follow no link at the path's last component: for what is found in a directory others write to. */
#define UNPACK_NOFOLLOW 1u

/*
 * The file at path, from dir as openat() has it. What is no regular file is not opened at all: a
 * FIFO's writer stays where it is. limits: NULL for the default ones. NULL only without memory:
 * what is wrong with the file is said by its first part.
 */
struct unpack *unpack_new(int dir, const char *path, unsigned int flags,
			  const struct unpack_limits *limits);
void unpack_free(struct unpack *u);

/* The next part, which is the caller's; false after the last one. There is at least one. */
bool unpack_next(struct unpack *u, struct unpack_part *part);
/* Closes the part's descriptor, unless it was taken (TAKE_FD). */
void unpack_part_deinit(struct unpack_part *part);

SCOPED_DEFINE(struct unpack, unpack_free)

#endif
