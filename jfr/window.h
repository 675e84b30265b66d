/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of any size, seen through a buffer that pread() fills: files that are still written, or
 * cut off under us, may not be mapped.
 */
#ifndef JFR_WINDOW_H
#define JFR_WINDOW_H

#include <stddef.h>
#include <stdint.h>

struct window {
	int fd; /* borrowed */
	uint8_t *bytes;
	size_t cap, len;
	uint64_t at; /* of bytes[0] in the file */
	struct {
		uint8_t bytes[4096];
		size_t len;
		uint64_t at;
	} near; /* what was peeked at last, and what lies before it */
};

#define WINDOW_LEN (256 * 1024) /* fits in a CPU's second cache, with what is made of it */
#define WINDOW_MAX (256 << 20)	/* of one event; checkpoints have some 200 kB */

int window_init(struct window *w, int fd); /* 0 or -ENOMEM */
void window_deinit(struct window *w);
/*
 * The bytes of the file from `at` on: at least min(want, what there is) of them, and what else
 * fits. *bytes is borrowed until the next call, and WIRE_PADDING bytes behind them can be
 * loaded. 0; -E2BIG: more than WINDOW_MAX wanted; -ENOMEM; -errno of the read. Where the file ends
 * is where *len says.
 */
int window_read(struct window *w, uint64_t at, size_t want, const uint8_t **bytes, size_t *len);
/* Copies up to len bytes without moving the window: for what lies far apart, or close together but
   is asked for from back to front, as checkpoints are. */
int window_peek(struct window *w, uint64_t at, void *buf, size_t len, size_t *got);
/* What was read may have changed since. */
void window_forget(struct window *w);

#endif
