/* SPDX-License-Identifier: Apache-2.0 */
/* gzip (RFC 1952) by zlib: a stream that is written through, and bytes that are unpacked to a cap.
 */
#ifndef EXPORTER_GZIP_H
#define EXPORTER_GZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct gzip;

/* Packs into out, which it borrows. NULL without memory. */
struct gzip *gzip_new(FILE *out);
void gzip_free(struct gzip *z);
/* 0 or -EIO. */
int gzip_write(struct gzip *z, const void *bytes, size_t len);
/* Writes what is still held back. 0 or -EIO. */
int gzip_finish(struct gzip *z);

bool gzip_sniff(const void *head, size_t len);
/*
 * Unpacks all members of a gzip file into an allocated *out. -EBADMSG damaged or cut, -E2BIG more
 * than max bytes come out. On failure *out still holds what was unpacked before it (NULL when
 * nothing).
 */
int gzip_unpack(const void *bytes, size_t len, size_t max, void **out, size_t *out_len);

#endif
