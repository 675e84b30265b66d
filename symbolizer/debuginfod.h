/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the servers in DEBUGINFOD_URLS for a debug file. The library is loaded when it is first
 * needed: it brings a network stack along, which a profiler that runs as root does without.
 */
#ifndef SYMBOLIZER_DEBUGINFOD_H
#define SYMBOLIZER_DEBUGINFOD_H

#include <stddef.h>
#include <stdint.h>

/* An open file, its *path to be freed by the caller; -ENOENT nobody has it, -ETIMEDOUT nothing came
   for some seconds, -ENOTSUP the library is not installed. The name is for people. */
int debuginfod_fetch(const char *name, const uint8_t *build_id, size_t len, char **path);

#endif
