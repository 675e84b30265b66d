// SPDX-License-Identifier: Apache-2.0
#include "exporter/gzip.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define WINDOW_GZIP (15 + 16) /* zlib's way to say: the largest window, in a gzip wrapper */
#define LEVEL 4		      /* half the time of zlib's own choice, and profiles are 3 % larger */

struct gzip {
	z_stream stream;
	FILE *out;
	uint8_t buf[16 * 1024];
};

struct gzip *gzip_new(FILE *out)
{
	struct gzip *z = calloc(1, sizeof(*z));

	if (!z)
		return NULL;
	z->out = out;
	if (deflateInit2(&z->stream, LEVEL, Z_DEFLATED, WINDOW_GZIP, 8, Z_DEFAULT_STRATEGY) !=
	    Z_OK) {
		free(z);
		return NULL;
	}
	return z;
}

void gzip_free(struct gzip *z)
{
	if (!z)
		return;
	deflateEnd(&z->stream);
	free(z);
}

static int pack(struct gzip *z, int flush)
{
	int status;

	do {
		size_t n;

		z->stream.next_out = z->buf;
		z->stream.avail_out = sizeof(z->buf);
		status = deflate(&z->stream, flush);
		n = sizeof(z->buf) - z->stream.avail_out;
		if (fwrite(z->buf, 1, n, z->out) != n)
			return -EIO;
	} while (z->stream.avail_out == 0);
	return flush == Z_FINISH && status != Z_STREAM_END ? -EIO : 0;
}

int gzip_write(struct gzip *z, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	int err = 0;

	while (len && !err) {
		uInt n = len > INT_MAX ? INT_MAX : (uInt)len;

		z->stream.next_in = (Bytef *)p;
		z->stream.avail_in = n;
		err = pack(z, Z_NO_FLUSH);
		p += n;
		len -= n;
	}
	return err;
}

int gzip_finish(struct gzip *z)
{
	return pack(z, Z_FINISH);
}

bool gzip_sniff(const void *head, size_t len)
{
	return len >= 3 && !memcmp(head, "\x1f\x8b\x08", 3);
}

/* Room for more output: twice the size, up to max. */
static int grow(z_stream *stream, uint8_t **out, size_t *cap, size_t max)
{
	size_t used = *cap - stream->avail_out, want = *cap ? *cap * 2 : 64 * 1024;
	uint8_t *grown;

	if (want > max)
		want = max;
	if (want <= *cap)
		return -E2BIG;
	grown = realloc(*out, want);
	if (!grown)
		return -ENOMEM;
	*out = grown;
	*cap = want;
	stream->next_out = grown + used;
	stream->avail_out = (uInt)(want - used);
	return 0;
}

static int unpack(z_stream *stream, uint8_t **out, size_t *cap, size_t max)
{
	for (;;) {
		int status;

		if (!stream->avail_out) {
			int err = grow(stream, out, cap, max);

			if (err)
				return err;
		}
		status = inflate(stream, Z_NO_FLUSH);
		if (status == Z_STREAM_END) {
			/* The next member; anything else after the end is padding, as gzip(1) has
			 * it. */
			if (!gzip_sniff(stream->next_in, stream->avail_in))
				return 0;
			if (inflateReset(stream) != Z_OK)
				return -EBADMSG;
		} else if (status == Z_MEM_ERROR) {
			return -ENOMEM;
		} else if (status != Z_OK && !(status == Z_BUF_ERROR && !stream->avail_out)) {
			return -EBADMSG;
		}
	}
}

int gzip_unpack(const void *bytes, size_t len, size_t max, void **out, size_t *out_len)
{
	z_stream stream = { .next_in = (Bytef *)bytes, .avail_in = (uInt)len };
	uint8_t *unpacked = NULL;
	size_t cap = 0;
	int err;

	if (len > INT_MAX || max > INT_MAX)
		return -E2BIG;
	if (inflateInit2(&stream, WINDOW_GZIP) != Z_OK)
		return -ENOMEM;
	err = unpack(&stream, &unpacked, &cap, max);
	*out = unpacked;
	*out_len = cap - stream.avail_out;
	inflateEnd(&stream);
	return err;
}
