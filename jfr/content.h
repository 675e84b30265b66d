/* SPDX-License-Identifier: Apache-2.0 */
/* What a file or a stream is, by its first bytes. */
#ifndef JFR_CONTENT_H
#define JFR_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTENT_HEAD_LEN 512 /* bytes that are enough to say */

enum content_kind {
	CONTENT_UNKNOWN,
	CONTENT_RECORDING, /* also what is so short that it may still become one */
	CONTENT_GZIP,
	CONTENT_ZSTD,
	CONTENT_LZ4,
	CONTENT_SKIPPABLE, /* a frame of zstd or lz4 without content: what follows it says which */
	CONTENT_ZIP,
	CONTENT_OTHER, /* surely no recording */
};

struct content {
	enum content_kind kind;
	const char *name; /* "a tar archive"; NULL for CONTENT_UNKNOWN */
};

struct content content_sniff(const void *head, size_t len);
bool content_is_packed(enum content_kind kind);

#endif
