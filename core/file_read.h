/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of a file from an offset on, without moving where it is read otherwise. */
#ifndef CORE_FILE_READ_H
#define CORE_FILE_READ_H

#include <stddef.h>
#include <stdint.h>

/* As many of len as the file has; *got says how many, also when it fails. 0 or -errno. */
int file_read(int fd, uint64_t at, void *buf, size_t len, size_t *got);

#endif
