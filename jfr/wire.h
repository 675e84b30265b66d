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

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "core/reader.h"

#define WIRE_VARINT_MAX 9

/* A varint of which fewer bytes than it could have are left, or that is longer than two bytes. */
uint64_t wire_varint_slow(struct reader *r, const char *what);

static inline uint64_t wire_varint(struct reader *r, const char *what)
{
	const uint8_t *p = r->pos;

	if (r->end - p < 2)
		return wire_varint_slow(r, what);
	if (p[0] < 0x80) {
		r->pos = p + 1;
		return p[0];
	}
	if (p[1] < 0x80) {
		r->pos = p + 2;
		return (uint64_t)(p[0] & 0x7f) | (uint64_t)p[1] << 7;
	}
	return wire_varint_slow(r, what);
}

/* Of bytes of which at least WIRE_VARINT_MAX can be read; moves *pos behind it. */
static inline uint64_t wire_varint_here(const uint8_t **pos)
{
	const uint8_t *p = *pos;
	uint64_t value = p[0];
	int i = 1;

	if (value >= 0x80) {
		value &= 0x7f;
		for (; i < WIRE_VARINT_MAX - 1; i++) {
			value |= (uint64_t)(p[i] & 0x7f) << (7 * i);
			if (p[i] < 0x80)
				break;
		}
		if (i == WIRE_VARINT_MAX - 1)
			value |= (uint64_t)p[i] << 56;
		i++;
	}
	*pos = p + i;
	return value;
}

static inline void wire_skip_varint(struct reader *r, const char *what)
{
	const uint8_t *p = r->pos;

	if (r->end - p >= WIRE_VARINT_MAX) {
		for (int i = 0; i < WIRE_VARINT_MAX; i++)
			if (p[i] < 0x80 || i == WIRE_VARINT_MAX - 1) {
				r->pos = p + i + 1;
				return;
			}
	}
	wire_varint_slow(r, what);
}

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

struct wire_string wire_string(struct reader *r, const char *what);
/* At most how many bytes wire_string_text() writes. */
size_t wire_string_room(const struct wire_string *s);
/* Its text as UTF-8, without a NUL; what is not Unicode becomes U+FFFD, and so does NUL. Nothing
   for WIRE_NULL, WIRE_EMPTY and WIRE_POOLED. Returns the length. */
size_t wire_string_text(const struct wire_string *s, char *out);

#endif
