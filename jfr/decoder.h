/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The libraries that unpack, behind one table: gzip, raw deflate and nothing at all (zip has these
 * two), zstd and lz4 frames. A stream of them is a sequence of members.
 */
#ifndef JFR_DECODER_H
#define JFR_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DECODER_HEAD_LEN 32 /* of a member: enough to judge it */

struct decoder;

/* Both are moved over what was taken and made. */
struct decoder_io {
	const uint8_t *in;
	size_t in_len;
	uint8_t *out;
	size_t out_len;
};

struct decoder_ops {
	const char *name; /* for messages: "gzip" */
	bool is_single;	  /* nothing follows its end, which may be in the middle of the input */
	bool is_unmarked; /* it ends where its input ends */
	/* Does a member begin with these bytes? 1 yes, 0 no, or why not, with *reason: -ENOTSUP. */
	int (*sniff)(const uint8_t *head, size_t len, const char **reason);
	void *(*new)(void);
	void (*free)(void *priv);
	/* Before every member but the first. */
	void (*reset)(void *priv);
	/* 1 the member ended, 0 it wants more input or more room, or why it cannot go on, with
	 *reason: -EBADMSG, -ENOTSUP, -E2BIG, -ENOMEM. */
	int (*step)(void *priv, struct decoder_io *io, const char **reason);
};

extern const struct decoder_ops decoder_gzip, decoder_deflate, decoder_stored, decoder_zstd,
	decoder_lz4;

#endif
