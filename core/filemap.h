/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A regular file that we do not trust, mapped read only. When its owner cuts it while it is mapped,
 * the lost pages read as zeros instead of killing us by SIGBUS. At least one zero byte follows the
 * last byte, so a string that was seen to end inside the file cannot run out of the mapping later.
 *
 * The bytes can still change under the reader: read a value once, then use the copy.
 */
#ifndef CORE_FILEMAP_H
#define CORE_FILEMAP_H

#include <stdbool.h>
#include <stddef.h>

#include "core/scoped.h"

struct filemap;

/* fd is only borrowed. NULL and *err: -EINVAL not a regular file, -EBADMSG empty, -ENOMEM, -errno.
 */
struct filemap *filemap_new(int fd, int *err);
void filemap_free(struct filemap *m);
const void *filemap_data(const struct filemap *m);
size_t filemap_len(const struct filemap *m);
/* Has a page been lost and replaced by zeros? */
bool filemap_is_cut(const struct filemap *m);

SCOPED_DEFINE(struct filemap, filemap_free)

#endif
