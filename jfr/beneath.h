/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening what is below a directory that others write to, and nothing else: no symbolic link is
 * followed, and nothing leads out of it. Only what is a regular file is ever opened for reading, so
 * that no FIFO waits for us and no device notices.
 */
#ifndef JFR_BENEATH_H
#define JFR_BENEATH_H

#include <sys/stat.h>

/* A descriptor, or a negative errno. path "" is the root itself. */
int beneath_open_dir(int root, const char *path);
/* -ENOTSUP when it is no regular file. *st as it was opened. */
int beneath_open_file(int root, const char *path, struct stat *st);
int beneath_stat(int root, const char *path, struct stat *st);

#endif
