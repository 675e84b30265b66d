/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that a target names. They are found as a place first (O_PATH), which has no effect on what
 * is there, and opened only when that is a regular file: opening a FIFO would let its writer go on,
 * and opening a device may do anything. What was looked at is what is opened.
 */
#ifndef CORE_LOCATED_H
#define CORE_LOCATED_H

#include <sys/stat.h>

/* An O_PATH descriptor of path below root_fd, which is never left, or -errno. flags: O_NOFOLLOW to
 * get a link itself. */
int located_below(int root_fd, const char *path, int flags);

/* A descriptor to read with, or -errno: -ELOOP for a link, -EINVAL for what is no regular file
 * either. *st is set whenever there is something. */
int located_open(int located, struct stat *st);

#endif
