/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: bytes that look like a recording, and everything they may be packed in. */
#ifndef TESTS_UNIT_PACKED_H
#define TESTS_UNIT_PACKED_H

#include <lz4frame.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

struct packed {
	uint8_t *data;
	size_t len;
};

static inline void packed_add(struct packed *p, const void *data, size_t len)
{
	p->data = realloc(p->data, p->len + len + 1);
	if (len)
		memcpy(p->data + p->len, data, len);
	p->len += len;
}

/* Little endian, as zip has them. */
static inline void packed_add_number(struct packed *p, uint64_t value, size_t len)
{
	packed_add(p, &value, len);
}

static inline void packed_free(struct packed *p)
{
	free(p->data);
	*p = (struct packed){ 0 };
}

/* Begins as a recording does; some of what follows can be made smaller, some not. */
static inline struct packed some_recording(size_t len)
{
	struct packed p = { .data = malloc(len + 1), .len = len };
	unsigned int seed = (unsigned int)len;

	for (size_t i = 0; i < len; i++)
		p.data[i] = i % 64 < 48 ? (uint8_t)(i / 64) : (uint8_t)rand_r(&seed);
	memcpy(p.data, "FLR\0\0\2\0\1", len < 8 ? len : 8);
	return p;
}

/* window: 15 for a stream without head, 31 for gzip. */
static inline struct packed pack_zlib(struct packed in, int window)
{
	struct packed p = { .data = malloc(in.len + in.len / 8 + 256) };
	z_stream z = { .next_in = in.data, .avail_in = (uInt)in.len };

	deflateInit2(&z, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY);
	z.next_out = p.data;
	z.avail_out = (uInt)(in.len + in.len / 8 + 256);
	deflate(&z, Z_FINISH);
	p.len = z.total_out;
	deflateEnd(&z);
	return p;
}

static inline struct packed pack_gzip(struct packed in)
{
	return pack_zlib(in, 31);
}

static inline struct packed pack_zstd(struct packed in)
{
	struct packed p = { .data = malloc(ZSTD_compressBound(in.len)) };
	ZSTD_CCtx *z = ZSTD_createCCtx();

	ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
	p.len = ZSTD_compress2(z, p.data, ZSTD_compressBound(in.len), in.data, in.len);
	ZSTD_freeCCtx(z);
	return p;
}

static inline struct packed pack_lz4_with(struct packed in, const LZ4F_preferences_t *prefs)
{
	size_t cap = LZ4F_compressFrameBound(in.len, prefs);
	struct packed p = { .data = malloc(cap) };

	p.len = LZ4F_compressFrame(p.data, cap, in.data, in.len, prefs);
	return p;
}

static inline struct packed pack_lz4(struct packed in)
{
	const LZ4F_preferences_t prefs = {
		.frameInfo = { .blockSizeID = LZ4F_max64KB,
			       .contentChecksumFlag = LZ4F_contentChecksumEnabled },
	};

	return pack_lz4_with(in, &prefs);
}

struct zip_image {
	struct packed all, directory;
	unsigned int n_entries;
	bool is_zip64;
};

enum { ZIP_IMAGE_STREAMED = 8, ZIP_IMAGE_ENCRYPTED = 1 }; /* flags */

/* method: 0, 8, 93, or any other for bytes that stay as they are. Sizes and checksum follow the
   bytes when the flags say so. */
static inline void zip_image_add(struct zip_image *z, const char *name, struct packed in,
				 uint16_t method, uint16_t flags)
{
	struct packed packed = method == 8    ? pack_zlib(in, -15)
			       : method == 93 ? pack_zstd(in)
					      : (struct packed){ in.data, in.len };
	uint32_t crc = (uint32_t)crc32(0, in.data, (uInt)in.len), large = 0xffffffff;
	bool follows = flags & ZIP_IMAGE_STREAMED;
	uint64_t at = z->all.len;

	packed_add_number(&z->all, 0x04034b50, 4);
	packed_add_number(&z->all, 20, 2);
	packed_add_number(&z->all, flags, 2);
	packed_add_number(&z->all, method, 2);
	packed_add_number(&z->all, 0, 4);
	packed_add_number(&z->all, follows ? 0 : crc, 4);
	packed_add_number(&z->all, follows ? 0 : packed.len, 4);
	packed_add_number(&z->all, follows ? 0 : in.len, 4);
	packed_add_number(&z->all, strlen(name), 2);
	packed_add_number(&z->all, 4, 2);
	packed_add(&z->all, name, strlen(name));
	packed_add_number(&z->all, 0x7777, 4); /* an extra field without content */
	packed_add(&z->all, packed.data, packed.len);
	if (follows) {
		packed_add_number(&z->all, 0x08074b50, 4);
		packed_add_number(&z->all, crc, 4);
		packed_add_number(&z->all, packed.len, 4);
		packed_add_number(&z->all, in.len, 4);
	}
	packed_add_number(&z->directory, 0x02014b50, 4);
	packed_add_number(&z->directory, 20, 2);
	packed_add_number(&z->directory, 20, 2);
	packed_add_number(&z->directory, flags, 2);
	packed_add_number(&z->directory, method, 2);
	packed_add_number(&z->directory, 0, 4);
	packed_add_number(&z->directory, crc, 4);
	packed_add_number(&z->directory, z->is_zip64 ? large : packed.len, 4);
	packed_add_number(&z->directory, z->is_zip64 ? large : in.len, 4);
	packed_add_number(&z->directory, strlen(name), 2);
	packed_add_number(&z->directory, z->is_zip64 ? 28 : 0, 2);
	packed_add_number(&z->directory, 3, 2);
	packed_add_number(&z->directory, 0, 8);
	packed_add_number(&z->directory, z->is_zip64 ? large : at, 4);
	packed_add(&z->directory, name, strlen(name));
	if (z->is_zip64) {
		packed_add_number(&z->directory, 1 | 24 << 16, 4);
		packed_add_number(&z->directory, in.len, 8);
		packed_add_number(&z->directory, packed.len, 8);
		packed_add_number(&z->directory, at, 8);
	}
	packed_add(&z->directory, "abc", 3);
	z->n_entries++;
	if (packed.data != in.data)
		packed_free(&packed);
}

/* Ends it with its directory; what it was made in is freed. */
static inline struct packed zip_image_end(struct zip_image *z, const char *comment)
{
	uint64_t at = z->all.len, size = z->directory.len;

	packed_add(&z->all, z->directory.data, z->directory.len);
	if (z->is_zip64) {
		uint64_t end_at = z->all.len;

		packed_add_number(&z->all, 0x06064b50, 4);
		packed_add_number(&z->all, 44, 8);
		packed_add_number(&z->all, 45 | 45 << 16, 4);
		packed_add_number(&z->all, 0, 8);
		packed_add_number(&z->all, z->n_entries, 8);
		packed_add_number(&z->all, z->n_entries, 8);
		packed_add_number(&z->all, size, 8);
		packed_add_number(&z->all, at, 8);
		packed_add_number(&z->all, 0x07064b50, 4);
		packed_add_number(&z->all, 0, 4);
		packed_add_number(&z->all, end_at, 8);
		packed_add_number(&z->all, 1, 4);
	}
	packed_add_number(&z->all, 0x06054b50, 4);
	packed_add_number(&z->all, 0, 4);
	packed_add_number(&z->all, z->n_entries, 2);
	packed_add_number(&z->all, z->n_entries, 2);
	packed_add_number(&z->all, z->is_zip64 ? 0xffffffff : size, 4);
	packed_add_number(&z->all, z->is_zip64 ? 0xffffffff : at, 4);
	packed_add_number(&z->all, strlen(comment), 2);
	packed_add(&z->all, comment, strlen(comment));
	packed_free(&z->directory);
	return z->all;
}

static inline struct packed pack_zip(struct packed in)
{
	struct zip_image z = { 0 };

	zip_image_add(&z, "inner.jfr", in, 8, 0);
	return zip_image_end(&z, "");
}

#endif
