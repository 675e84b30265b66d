// SPDX-License-Identifier: Apache-2.0
#include "jfr/decoder.h"

#include <errno.h>
#include <limits.h>
#include <lz4frame.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define WINDOW_GZIP (15 + 16) /* zlib's way to say: the largest window, in a gzip wrapper */
#define WINDOW_RAW (-15)      /* no wrapper */
#define GZIP_RESERVED 0xe0    /* flags nobody has defined */

/* What zstd -d takes without being asked: 128 MiB, which only --ultra and --long ask for. */
#define MAX_WINDOW_LOG 27

/* What is wanted of a frame before it says more itself. */
#define ZSTD_HEAD_LEN 5
#define LZ4_HEAD_LEN 7

#define LZ4_FLAGS_AT 4 /* behind the magic (lz4 frame format 1.6.1) */
#define LZ4_HAS_DICTIONARY 1

static int always(const uint8_t *head, size_t len, const char **reason)
{
	(void)head;
	(void)len;
	(void)reason;
	return 1;
}

static int gzip_sniff(const uint8_t *head, size_t len, const char **reason)
{
	(void)reason;
	return len >= 4 && !memcmp(head, "\x1f\x8b\x08", 3) && !(head[3] & GZIP_RESERVED);
}

static void *zlib_new(int window)
{
	z_stream *z = calloc(1, sizeof(*z));

	if (z && inflateInit2(z, window) != Z_OK) {
		free(z);
		return NULL;
	}
	return z;
}

static void *gzip_new(void)
{
	return zlib_new(WINDOW_GZIP);
}

static void *deflate_new(void)
{
	return zlib_new(WINDOW_RAW);
}

static void zlib_free(void *priv)
{
	inflateEnd(priv);
	free(priv);
}

static void zlib_reset(void *priv)
{
	inflateReset(priv);
}

static int zlib_step(void *priv, struct decoder_io *io, const char **reason)
{
	z_stream *z = priv;
	int status;

	z->next_in = (Bytef *)io->in;
	z->avail_in = io->in_len > INT_MAX ? INT_MAX : (uInt)io->in_len;
	z->next_out = io->out;
	z->avail_out = io->out_len > INT_MAX ? INT_MAX : (uInt)io->out_len;
	status = inflate(z, Z_NO_FLUSH);
	io->in_len -= (size_t)(z->next_in - io->in);
	io->in = z->next_in;
	io->out_len -= (size_t)(z->next_out - io->out);
	io->out = z->next_out;
	if (status == Z_STREAM_END)
		return 1;
	if (status == Z_OK || status == Z_BUF_ERROR)
		return 0;
	*reason = z->msg;
	return status == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
}

const struct decoder_ops decoder_gzip = {
	.name = "gzip",
	.sniff = gzip_sniff,
	.new = gzip_new,
	.free = zlib_free,
	.reset = zlib_reset,
	.step = zlib_step,
};

const struct decoder_ops decoder_deflate = {
	.name = "deflate",
	.is_single = true,
	.sniff = always,
	.new = deflate_new,
	.free = zlib_free,
	.reset = zlib_reset,
	.step = zlib_step,
};

static void *stored_new(void)
{
	return calloc(1, 1);
}

static void stored_reset(void *priv)
{
	(void)priv;
}

/* It ends where its input ends. */
static int stored_step(void *priv, struct decoder_io *io, const char **reason)
{
	size_t n = io->in_len < io->out_len ? io->in_len : io->out_len;

	(void)priv;
	(void)reason;
	memcpy(io->out, io->in, n);
	io->in += n;
	io->in_len -= n;
	io->out += n;
	io->out_len -= n;
	return 0;
}

const struct decoder_ops decoder_stored = {
	.name = "stored",
	.is_unmarked = true,
	.sniff = always,
	.new = stored_new,
	.free = free,
	.reset = stored_reset,
	.step = stored_step,
};

/* A frame without content, which both libraries skip by themselves. */
static bool is_skippable(const uint8_t *head, size_t len)
{
	return len >= 4 && (head[0] & 0xf0) == 0x50 && !memcmp(head + 1, "\x2a\x4d\x18", 3);
}

static int zstd_sniff(const uint8_t *head, size_t len, const char **reason)
{
	if (is_skippable(head, len))
		return 1;
	if (len < 4 || memcmp(head, "\x28\xb5\x2f\xfd", 4))
		return 0;
	if (!ZSTD_getDictID_fromFrame(head, len))
		return 1;
	*reason = "needs a dictionary";
	return -ENOTSUP;
}

/* Both libraries say how much they want for one block. What one call made is lost when the call
   fails, so each gets one block, and no input at all while there is still output to take. */
struct by_block {
	void *ctx;
	size_t wanted;
	bool is_full;
};

static size_t input_len(const struct by_block *b, const struct decoder_io *io)
{
	if (b->is_full)
		return 0;
	return io->in_len < b->wanted ? io->in_len : b->wanted;
}

static void after_step(struct by_block *b, struct decoder_io *io, size_t in, size_t out,
		       size_t wanted)
{
	io->in += in;
	io->in_len -= in;
	io->out += out;
	io->out_len -= out;
	b->is_full = !io->out_len;
	b->wanted = wanted;
}

static void zstd_reset(void *priv)
{
	struct by_block *b = priv;

	ZSTD_DCtx_reset(b->ctx, ZSTD_reset_session_only);
	*b = (struct by_block){ .ctx = b->ctx, .wanted = ZSTD_HEAD_LEN };
}

static void *zstd_new(void)
{
	struct by_block *b = calloc(1, sizeof(*b));

	if (b)
		b->ctx = ZSTD_createDCtx();
	if (!b || !b->ctx) {
		free(b);
		return NULL;
	}
	ZSTD_DCtx_setParameter(b->ctx, ZSTD_d_windowLogMax, MAX_WINDOW_LOG);
	zstd_reset(b);
	return b;
}

static void zstd_free(void *priv)
{
	struct by_block *b = priv;

	ZSTD_freeDCtx(b->ctx);
	free(b);
}

static int zstd_error(size_t status, const char **reason)
{
	*reason = ZSTD_getErrorName(status);
	switch (ZSTD_getErrorCode(status)) {
	case ZSTD_error_frameParameter_windowTooLarge:
		*reason = "it looks back at more than 128 MiB (--long)";
		return -E2BIG;
	case ZSTD_error_frameParameter_unsupported:
	case ZSTD_error_version_unsupported:
		return -ENOTSUP;
	case ZSTD_error_dictionary_wrong:
		*reason = "needs a dictionary";
		return -ENOTSUP;
	case ZSTD_error_memory_allocation:
		return -ENOMEM;
	default:
		return -EBADMSG;
	}
}

static int zstd_step(void *priv, struct decoder_io *io, const char **reason)
{
	struct by_block *b = priv;
	ZSTD_inBuffer in = { .src = io->in, .size = input_len(b, io) };
	ZSTD_outBuffer out = { .dst = io->out, .size = io->out_len };
	size_t status = ZSTD_decompressStream(b->ctx, &out, &in);

	if (ZSTD_isError(status))
		return zstd_error(status, reason);
	after_step(b, io, in.pos, out.pos, status);
	return !status;
}

const struct decoder_ops decoder_zstd = {
	.name = "zstd",
	.sniff = zstd_sniff,
	.new = zstd_new,
	.free = zstd_free,
	.reset = zstd_reset,
	.step = zstd_step,
};

static int lz4_sniff(const uint8_t *head, size_t len, const char **reason)
{
	if (is_skippable(head, len))
		return 1;
	if (len < 4 || memcmp(head, "\x04\x22\x4d\x18", 4))
		return 0;
	if (len <= LZ4_FLAGS_AT || !(head[LZ4_FLAGS_AT] & LZ4_HAS_DICTIONARY))
		return 1;
	*reason = "needs a dictionary";
	return -ENOTSUP;
}

static void lz4_reset(void *priv)
{
	struct by_block *b = priv;

	LZ4F_resetDecompressionContext(b->ctx);
	*b = (struct by_block){ .ctx = b->ctx, .wanted = LZ4_HEAD_LEN };
}

static void *lz4_new(void)
{
	struct by_block *b = calloc(1, sizeof(*b));
	LZ4F_dctx *ctx;

	if (!b || LZ4F_isError(LZ4F_createDecompressionContext(&ctx, LZ4F_VERSION))) {
		free(b);
		return NULL;
	}
	b->ctx = ctx;
	lz4_reset(b);
	return b;
}

static void lz4_free(void *priv)
{
	struct by_block *b = priv;

	LZ4F_freeDecompressionContext(b->ctx);
	free(b);
}

static int lz4_step(void *priv, struct decoder_io *io, const char **reason)
{
	struct by_block *b = priv;
	size_t in = input_len(b, io), out = io->out_len;
	size_t status = LZ4F_decompress(b->ctx, io->out, &out, io->in, &in, NULL);

	if (LZ4F_isError(status)) {
		*reason = LZ4F_getErrorName(status);
		return strstr(*reason, "allocation") ? -ENOMEM : -EBADMSG;
	}
	after_step(b, io, in, out, status);
	return !status;
}

const struct decoder_ops decoder_lz4 = {
	.name = "lz4",
	.sniff = lz4_sniff,
	.new = lz4_new,
	.free = lz4_free,
	.reset = lz4_reset,
	.step = lz4_step,
};
