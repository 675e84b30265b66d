// SPDX-License-Identifier: Apache-2.0
#include "jfr/window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/file_read.h"
#include "jfr/wire.h"

int window_init(struct window *w, int fd)
{
	*w = (struct window){ .fd = fd };
	w->bytes = malloc(WINDOW_LEN + WIRE_PADDING);
	if (!w->bytes)
		return -ENOMEM;
	w->cap = WINDOW_LEN;
	return 0;
}

void window_deinit(struct window *w)
{
	free(w->bytes);
	*w = (struct window){ .fd = -1 };
}

/* A buffer that one large event needed is not kept for the small ones. */
static int resize(struct window *w, size_t want)
{
	size_t cap = want > WINDOW_LEN ? want : WINDOW_LEN;
	uint8_t *bytes;

	if (cap <= w->cap && w->cap == WINDOW_LEN)
		return 0;
	if (cap <= w->cap && want > WINDOW_LEN)
		return 0;
	bytes = malloc(cap + WIRE_PADDING);
	if (!bytes)
		return -ENOMEM;
	free(w->bytes);
	w->bytes = bytes;
	w->cap = cap;
	w->len = 0;
	return 0;
}

int window_read(struct window *w, uint64_t at, size_t want, const uint8_t **bytes, size_t *len)
{
	size_t skip;
	int err;

	if (want > WINDOW_MAX || at > INT64_MAX - WINDOW_MAX)
		return -E2BIG;
	if (at >= w->at && at - w->at <= w->len && w->len - (at - w->at) >= want) {
		skip = (size_t)(at - w->at);
		*bytes = w->bytes + skip;
		*len = w->len - skip;
		return 0;
	}
	err = resize(w, want);
	if (err)
		return err;
	w->at = at;
	w->len = 0;
	err = file_read(w->fd, at, w->bytes, w->cap, &w->len);
	if (err)
		return err;
	*bytes = w->bytes;
	*len = w->len;
	return 0;
}

int window_peek(struct window *w, uint64_t at, void *buf, size_t len, size_t *got)
{
	if (at > INT64_MAX - WINDOW_MAX || len > WINDOW_MAX)
		return -E2BIG;
	if (at >= w->at && at - w->at <= w->len && w->len - (at - w->at) >= len) {
		memcpy(buf, w->bytes + (at - w->at), len);
		*got = len;
		return 0;
	}
	return file_read(w->fd, at, buf, len, got);
}

void window_forget(struct window *w)
{
	w->len = 0;
}
