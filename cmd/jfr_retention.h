/* SPDX-License-Identifier: Apache-2.0 */
/* What `weft jfr --watch` keeps of what it wrote. */
#ifndef CMD_JFR_RETENTION_H
#define CMD_JFR_RETENTION_H

#include <stddef.h>
#include <stdint.h>

/*
 * Deletes the oldest files of batches in a directory: those written before a unix time, and those
 * beyond so many bytes together. 0 keeps what it is about. Files of other names are left alone.
 * How many it deleted, or a negative errno.
 */
int64_t retention_apply(const char *dir, uint64_t before_ns, uint64_t max_bytes);

#endif
