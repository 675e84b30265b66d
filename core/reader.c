// SPDX-License-Identifier: Apache-2.0
#include "core/reader.h"

#include <errno.h>
#include <string.h>

int reader_fail(struct reader *r, int err, const char *what)
{
	if (!r->err) {
		r->err = err;
		r->what = what;
		r->where = r->base + (uint64_t)(r->pos - r->start);
		r->end = r->pos;
	}
	return r->err;
}

const void *reader_bytes(struct reader *r, uint64_t len, const char *what)
{
	const uint8_t *p = r->pos;

	if (r->err)
		return NULL;
	if (len > reader_left(r)) {
		reader_fail(r, -EBADMSG, what);
		return NULL;
	}
	r->pos += len;
	return p;
}

static uint64_t fixed(struct reader *r, size_t len, bool is_big, const char *what)
{
	const uint8_t *p = reader_bytes(r, len, what);
	uint64_t value = 0;

	if (!p)
		return 0;
	for (size_t i = 0; i < len; i++)
		value = value << 8 | p[is_big ? i : len - 1 - i];
	return value;
}

uint8_t reader_u8(struct reader *r, const char *what)
{
	return (uint8_t)fixed(r, 1, false, what);
}

uint16_t reader_u16(struct reader *r, const char *what)
{
	return (uint16_t)fixed(r, 2, false, what);
}

uint32_t reader_u32(struct reader *r, const char *what)
{
	return (uint32_t)fixed(r, 4, false, what);
}

uint64_t reader_u64(struct reader *r, const char *what)
{
	return fixed(r, 8, false, what);
}

uint16_t reader_u16_be(struct reader *r, const char *what)
{
	return (uint16_t)fixed(r, 2, true, what);
}

uint32_t reader_u32_be(struct reader *r, const char *what)
{
	return (uint32_t)fixed(r, 4, true, what);
}

uint64_t reader_u64_be(struct reader *r, const char *what)
{
	return fixed(r, 8, true, what);
}

struct leb {
	uint64_t value;
	unsigned int bits; /* given by the input */
	bool is_negative;  /* sign bit of the last byte */
	uint8_t any, all;  /* OR and AND of what was given beyond 64 bits, as seven bits */
};

/* A value of 64 bits takes ten bytes; more are padding, which linkers really write. */
#define LEB_MAX_LEN 20

static struct leb leb_read(struct reader *r, const char *what)
{
	struct leb leb = { .all = 0x7f };
	uint8_t byte = 0x80;

	while (byte & 0x80) {
		if (leb.bits == LEB_MAX_LEN * 7)
			reader_fail(r, -EBADMSG, what);
		byte = reader_u8(r, what);
		if (r->err)
			return (struct leb){ .all = 0x7f };
		if (leb.bits < 64)
			leb.value |= (uint64_t)(byte & 0x7f) << leb.bits;
		if (leb.bits == 63) { /* one bit of the tenth byte still counts, six do not */
			leb.any = (byte & 0x7f) >> 1;
			leb.all = (byte & 0x7f) >> 1 | 0x40;
		} else if (leb.bits > 63) {
			leb.any |= byte & 0x7f;
			leb.all &= byte & 0x7f;
		}
		leb.bits += 7;
	}
	leb.is_negative = byte & 0x40;
	return leb;
}

uint64_t reader_uleb(struct reader *r, const char *what)
{
	struct leb leb = leb_read(r, what);

	if (leb.any) {
		reader_fail(r, -EBADMSG, what);
		return 0;
	}
	return leb.value;
}

int64_t reader_sleb(struct reader *r, const char *what)
{
	struct leb leb = leb_read(r, what);
	bool is_whole = leb.value >> 63 ? leb.all == 0x7f : !leb.any;

	if (leb.bits > 63 && !is_whole) {
		reader_fail(r, -EBADMSG, what);
		return 0;
	}
	if (leb.bits < 64 && leb.is_negative)
		leb.value |= ~UINT64_C(0) << leb.bits;
	return (int64_t)leb.value;
}

size_t reader_count(struct reader *r, size_t min_len, const char *what)
{
	const uint8_t *from = r->pos;
	uint64_t n = reader_uleb(r, what);

	if (!r->err && n > reader_left(r) / (min_len ? min_len : 1)) {
		r->pos = from;
		reader_fail(r, -EBADMSG, what);
		return 0;
	}
	return n;
}

const char *reader_string(struct reader *r, const char *what)
{
	const uint8_t *p = r->pos;
	const uint8_t *nul = r->err ? NULL : memchr(p, 0, reader_left(r));

	if (!nul) {
		reader_fail(r, -EBADMSG, what);
		return NULL;
	}
	r->pos = nul + 1;
	return (const char *)p;
}

void reader_skip(struct reader *r, uint64_t len, const char *what)
{
	reader_bytes(r, len, what);
}

void reader_seek(struct reader *r, uint64_t offset, const char *what)
{
	if (r->err)
		return;
	if (offset > (uint64_t)(r->end - r->start))
		reader_fail(r, -EBADMSG, what);
	else
		r->pos = r->start + offset;
}

struct reader reader_sub(struct reader *r, uint64_t len, const char *what)
{
	struct reader part = *r;
	const uint8_t *p = reader_bytes(r, len, what);

	part.start = part.pos;
	part.base = r->base + (uint64_t)(part.pos - r->start);
	part.end = p ? p + len : part.pos;
	if (!p && !part.err)
		reader_fail(&part, -EBADMSG, what);
	return part;
}
