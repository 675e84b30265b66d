// SPDX-License-Identifier: Apache-2.0
#include "jfr/stream_search.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/hurry.h"
#include "core/scoped.h"
#include "jfr/content.h"
#include "jfr/decoder.h"
#include "jfr/stream.h"

#define WINDOW_LEN (256 << 10)

static bool has_recording(const struct decoder_ops *ops, int fd, uint64_t at)
{
	struct unpack_fault fault = { 0 };
	SCOPED(stream_free)
	struct stream *s = stream_new(ops, fd, at, STREAM_TO_THE_END, &fault);
	uint8_t head[CONTENT_HEAD_LEN];
	size_t len = s ? stream_read(s, head, sizeof(head)) : 0;

	/* So few bytes could be anything. */
	return len >= 4 && content_sniff(head, len).kind == CONTENT_RECORDING;
}

/* In the n bytes that were read from *at. */
static bool search_window(const struct decoder_ops *ops, int fd, const uint8_t *window, size_t n,
			  uint64_t *at, unsigned int *n_tries)
{
	const char *reason;

	for (size_t i = 0; i < n && *n_tries; i++) {
		size_t len = n - i < DECODER_HEAD_LEN ? n - i : DECODER_HEAD_LEN;

		if (ops->sniff(window + i, len, &reason) <= 0)
			continue;
		--*n_tries;
		if (has_recording(ops, fd, *at + i)) {
			*at += i;
			return true;
		}
	}
	return false;
}

bool stream_search(const struct decoder_ops *ops, int fd, uint64_t *at, unsigned int *n_tries)
{
	SCOPED(free) uint8_t *window = malloc(WINDOW_LEN);

	while (window && *n_tries && !hurry_is_on()) {
		ssize_t n = pread(fd, window, WINDOW_LEN, (off_t)*at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		if (search_window(ops, fd, window, (size_t)n, at, n_tries))
			return true;
		/* A head may lie across the window's end. */
		*at += n > DECODER_HEAD_LEN ? (uint64_t)n - DECODER_HEAD_LEN + 1 : (uint64_t)n;
	}
	return false;
}
