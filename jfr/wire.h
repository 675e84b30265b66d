/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a chunk writes its values: what core/reader.h is for other formats, by its rules. Inline, as
 * some two hundred million of these are read a second.
 *
 * A varint has seven bits a byte, the lowest first; its ninth byte has eight and ends it. Numbers
 * that are longer than they need be are normal.
 */
#ifndef JFR_WIRE_H
#define JFR_WIRE_H

#include <endian.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "core/reader.h"

#define WIRE_VARINT_MAX 9
#define WIRE_HEAD_MAX (2 * WIRE_VARINT_MAX) /* of an event: its size and its type */
#define WIRE_PADDING 16 /* bytes that can be loaded behind what is read fast, whatever they are */

#define WIRE_MORE UINT64_C(0x8080808080808080) /* the bits of eight bytes that say: it goes on */

/* A varint of which fewer bytes than it could have are left. Events have some fifteen bytes, so
   that is every second one of theirs. */
uint64_t wire_varint_last(struct reader *r, const char *what);

static inline uint64_t wire_load(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return le64toh(word);
}

/* The seven low bits of each of eight bytes, side by side. */
static inline uint64_t wire_pack(uint64_t word)
{
	word &= 0x7f7f7f7f7f7f7f7f;
	word = (word & 0x007f007f007f007f) | (word & 0x7f007f007f007f00) >> 1;
	word = (word & 0x00003fff00003fff) | (word & 0x3fff00003fff0000) >> 2;
	return (word & 0x000000000fffffff) | (word & 0x0fffffff00000000) >> 4;
}

/* Of bytes of which at least WIRE_VARINT_MAX can be read; moves *pos behind it. */
static inline uint64_t wire_varint_here(const uint8_t **pos)
{
	const uint8_t *p = *pos;
	uint64_t word, ends;

	if (p[0] < 0x80) {
		*pos = p + 1;
		return p[0];
	}
	word = wire_load(p);
	ends = ~word & WIRE_MORE;
	if (!ends) {
		*pos = p + WIRE_VARINT_MAX;
		return wire_pack(word) | (uint64_t)p[WIRE_VARINT_MAX - 1] << 56;
	}
	*pos = p + (__builtin_ctzll(ends) + 1) / 8;
	return wire_pack(word & (ends ^ (ends - 1)));
}

/* The same where one byte and two are both common: no branch that guesses which. */
static inline uint64_t wire_varint_short(const uint8_t **pos)
{
	const uint8_t *p = *pos;
	uint64_t two = p[0] >> 7;

	if (two & p[1] >> 7)
		return wire_varint_here(pos);
	*pos = p + 1 + two;
	return (p[0] & 0x7f) | (p[1] & -two) << 7;
}

static inline __attribute__((always_inline)) uint64_t wire_varint(struct reader *r,
								  const char *what)
{
	if (r->pos < r->end && *r->pos < 0x80)
		return *r->pos++;
	if (r->end - r->pos >= WIRE_VARINT_MAX)
		return wire_varint_here(&r->pos);
	return wire_varint_last(r, what);
}

static inline void wire_skip_varint(struct reader *r, const char *what)
{
	wire_varint(r, what);
}

/* Moves behind n of them. */
void wire_skip_varints(struct reader *r, uint64_t n, const char *what);

/* How a string is written; its first byte. */
enum wire_encoding {
	WIRE_NULL = 0,
	WIRE_EMPTY = 1,
	WIRE_POOLED = 2, /* a key into the constants of java.lang.String */
	WIRE_UTF8 = 3,
	WIRE_UTF16 = 4, /* a varint for each unit */
	WIRE_LATIN1 = 5,
};

/* A string as it lies in the bytes. */
struct wire_string {
	enum wire_encoding encoding;
	int64_t key;	      /* of WIRE_POOLED */
	const uint8_t *bytes; /* borrowed; varints for WIRE_UTF16 */
	size_t len;	      /* in bytes */
};

/* Any of them. */
struct wire_string wire_string_read(struct reader *r, const char *what);

/* Nearly all are short, and bytes. */
static inline struct wire_string wire_string(struct reader *r, const char *what)
{
	const uint8_t *p = r->pos;

	if (r->end - p > 2 && (p[0] == WIRE_UTF8 || p[0] == WIRE_LATIN1) && p[1] && p[1] < 0x80 &&
	    p[1] <= r->end - p - 2) {
		r->pos = p + 2 + p[1];
		return (struct wire_string){ .encoding = (enum wire_encoding)p[0],
					     .bytes = p + 2,
					     .len = p[1] };
	}
	return wire_string_read(r, what);
}

/* At most how many bytes wire_string_text() writes. */
size_t wire_string_room(const struct wire_string *s);
/* Its text as UTF-8, without a NUL; what is not Unicode becomes U+FFFD, and so does NUL. Nothing
   for WIRE_NULL, WIRE_EMPTY and WIRE_POOLED. Returns the length. */
size_t wire_string_text(const struct wire_string *s, char *out);

#endif
