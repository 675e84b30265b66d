// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/minidebug.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>

#include "core/hurry.h"

#define FIRST_SIZE (64 << 10)

static int error_of(lzma_ret status)
{
	switch (status) {
	case LZMA_OK:
	case LZMA_STREAM_END:
		return 0;
	case LZMA_MEM_ERROR:
		return -ENOMEM;
	case LZMA_MEMLIMIT_ERROR:
		return -E2BIG;
	default:
		return -EBADMSG;
	}
}

struct image {
	char *bytes;
	size_t cap; /* without the zero byte */
};

/* Twice as much for what comes out, as far as that fits beside what the decoder has taken. */
static int grow(struct image *image, lzma_stream *stream, size_t max)
{
	uint64_t decoder = lzma_memusage(stream);
	size_t most = decoder < max ? max - decoder - 1 : 0;
	size_t cap = image->cap ? image->cap * 2 : FIRST_SIZE;
	char *larger;

	if (cap > most)
		cap = most;
	if (cap <= image->cap)
		return -E2BIG;
	larger = realloc(image->bytes, cap + 1);
	if (!larger)
		return -ENOMEM;
	stream->next_out = (uint8_t *)larger + image->cap;
	stream->avail_out = cap - image->cap;
	*image = (struct image){ larger, cap };
	return 0;
}

/* Each step makes as much as there is room for: what came before, so some 50 ms at most. */
static int decode(lzma_stream *stream, size_t max, struct image *image)
{
	lzma_ret status = LZMA_OK;
	int err = 0;

	while (!err && status != LZMA_STREAM_END) {
		if (hurry_is_on())
			return -EINTR;
		if (!stream->avail_out)
			err = grow(image, stream, max);
		if (!err) {
			status = lzma_code(stream, LZMA_FINISH);
			err = error_of(status);
		}
	}
	return err;
}

int minidebug_unpack(const void *xz, size_t len, size_t max, void **out, size_t *out_len)
{
	struct image image = { 0 };
	lzma_stream stream = LZMA_STREAM_INIT;
	int err = error_of(lzma_stream_decoder(&stream, max, LZMA_TELL_UNSUPPORTED_CHECK));
	char *exact;

	stream.next_in = xz;
	stream.avail_in = len;
	if (!err)
		err = decode(&stream, max, &image);
	lzma_end(&stream);
	if (err < 0) {
		free(image.bytes);
		return err;
	}
	image.bytes[stream.total_out] = 0;
	exact = realloc(image.bytes, stream.total_out + 1);
	*out_len = stream.total_out;
	*out = exact ? exact : image.bytes;
	return 0;
}
