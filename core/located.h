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

/* The same, but waits for no one and follows no link: -EAGAIN, -ELOOP. What is there as it was when
 * somebody had it open is found; nothing is mounted and no file system asked. */
int located_known(int root_fd, const char *path);

/* The same for a path as we see it ourselves, links and all but those of /proc. */
int located_own(const char *path);

/* A descriptor to read with, or -errno: -ELOOP for a link, -EINVAL for what is no regular file
 * either. *st is set whenever there is something. */
int located_open(int located, struct stat *st);

#endif
