/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of a chunk that wait to be exported while those around them no longer do, by their offsets
 * in the chunk: what they need to be whole is expected, for a bounded time.
 */
#ifndef JFR_HELD_H
#define JFR_HELD_H

#include <stddef.h>
#include <stdint.h>

#define NOT_HELD INT64_MAX /* a time from which on events may be held: none */
#define MAX_HELD 4096	   /* of one chunk: a JVM has some 2,000 in a second */

struct held { /* all zero at first */
	uint64_t *at;
	size_t n, cap;
};

void held_deinit(struct held *h);
int held_add(struct held *h, uint64_t at); /* 0, -ENOMEM, or -E2BIG when there are MAX_HELD */
void held_sort(struct held *h);		   /* ascending */

/* As bytes, for a ledger: 8 of each. held_decode() makes another one of them; 0, -ENOMEM, or
   -EBADMSG: it did not write them. */
#define HELD_LEN 8
void held_encode(const struct held *h, uint8_t *out);
int held_decode(struct held *h, const void *bytes, size_t len);

#endif
