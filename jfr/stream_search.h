/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings behind damage: the next member of a stream that begins with one. */
#ifndef JFR_STREAM_SEARCH_H
#define JFR_STREAM_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

struct decoder_ops;

/*
 * From *at on, which is moved to it; false: there is none. What looks like the beginning of a
 * member is by chance once in some millions of bytes, so it is tried, as long as *n_tries is not 0,
 * and counts only when what comes out of it begins as a recording does.
 */
bool stream_search(const struct decoder_ops *ops, int fd, uint64_t *at, unsigned int *n_tries);

#endif
