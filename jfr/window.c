// SPDX-License-Identifier: Apache-2.0
#include "jfr/window.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/file_read.h"
#include "jfr/wire.h"

int window_init(struct window *w, int fd)
{
	w->fd = fd;
	w->at = w->near.at = 0;
	w->len = w->near.len = 0;
	w->bytes = malloc(WINDOW_LEN + WIRE_PADDING);
	if (!w->bytes)
		return -ENOMEM;
	w->cap = WINDOW_LEN;
	return 0;
}

void window_deinit(struct window *w)
{
	free(w->bytes);
	w->bytes = NULL;
	w->fd = -1;
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

/* Does a piece of the file that begins at `at` have these bytes? */
static bool has(uint64_t at, size_t len, uint64_t want_at, size_t want)
{
	return want_at >= at && want_at - at <= len && len - (want_at - at) >= want;
}

int window_read(struct window *w, uint64_t at, size_t want, const uint8_t **bytes, size_t *len)
{
	size_t skip;
	int err;

	if (want > WINDOW_MAX || at > INT64_MAX - WINDOW_MAX)
		return -E2BIG;
	if (has(w->at, w->len, at, want)) {
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

static int peek_near(struct window *w, uint64_t at, void *buf, size_t len, size_t *got)
{
	const size_t cap = sizeof(w->near.bytes);
	int err;

	if (!has(w->near.at, w->near.len, at, len)) {
		w->near.at = at + len > cap ? at + len - cap : 0;
		w->near.len = 0;
		err = file_read(w->fd, w->near.at, w->near.bytes, cap, &w->near.len);
		if (err)
			return err;
	}
	*got = w->near.at + w->near.len > at ? (size_t)(w->near.at + w->near.len - at) : 0;
	*got = *got < len ? *got : len;
	memcpy(buf, w->near.bytes + (at - w->near.at), *got);
	return 0;
}

int window_peek(struct window *w, uint64_t at, void *buf, size_t len, size_t *got)
{
	if (at > INT64_MAX - WINDOW_MAX || len > WINDOW_MAX)
		return -E2BIG;
	if (has(w->at, w->len, at, len)) {
		memcpy(buf, w->bytes + (at - w->at), len);
		*got = len;
		return 0;
	}
	if (len > sizeof(w->near.bytes) / 2)
		return file_read(w->fd, at, buf, len, got);
	return peek_near(w, at, buf, len, got);
}

void window_forget(struct window *w)
{
	w->len = w->near.len = 0;
}
