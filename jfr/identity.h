/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is the same file, and what is the same chunk.
 *
 * A file is (device, inode, start of its first chunk): a rename makes no new one, and an inode that
 * is used again does. A chunk keeps its header's start times and its bytes wherever it goes, from a
 * JVM's repository into a dump; its fingerprint is of its first bytes behind the header, which no
 * writer changes once they are committed.
 */
#ifndef JFR_IDENTITY_H
#define JFR_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file_identity {
	uint64_t dev, ino;
	uint64_t start_ns; /* 0 while the file has no header */
};

#define FINGERPRINT_LEN 256 /* bytes behind the header, or as many as a finished chunk has */

struct chunk_key {
	uint64_t start_ns, start_ticks;
	uint64_t fingerprint;
};

/* A hash that is the same in every process and on every machine: it gets into names. FNV-1a. */
static inline uint64_t identity_hash(const void *bytes, size_t len)
{
	const uint8_t *p = (const uint8_t *)bytes;
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * UINT64_C(0x100000001b3);
	return h;
}

static inline bool file_identity_equal(const struct file_identity *a, const struct file_identity *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->start_ns == b->start_ns;
}

#define BATCH_NAME_MAX 96

/*
 * The name of what is exported of a chunk from an offset on, the same in every run: its start, its
 * key as a hash and the offset, so that names of one chunk sort by it. A batch that was written but
 * not marked as exported is written again under its name, with all that was in it and maybe more.
 */
void batch_name(const struct chunk_key *key, uint64_t from, char out[BATCH_NAME_MAX]);

#endif
