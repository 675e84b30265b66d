/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the fields of an event end, found without reading them: of fields that are all varints.
 * The last byte of each is the one below 0x80. A varint of nine bytes may have none, so bytes in
 * which there may be such a one are left to whoever reads them field by field.
 *
 * WIRE_PADDING bytes behind those that are looked at are loaded.
 */
#ifndef JFR_FIELD_ENDS_H
#define JFR_FIELD_ENDS_H

#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include <stdbool.h>

#include "jfr/wire.h"

#define FIELD_ENDS_LEN_MAX 63 /* bytes */

/* Of 16 bytes a bit for each that ends a varint. */
static inline uint64_t field_ends_of_16(const uint8_t *bytes)
{
#ifdef __SSE2__
	__m128i all = _mm_loadu_si128((const __m128i *)(const void *)bytes);

	return ~(unsigned int)_mm_movemask_epi8(all) & 0xffff;
#else
	const uint64_t gather = UINT64_C(0x0102040810204080); /* bit 8k to bit 56 + k */
	uint64_t low = (~wire_load(bytes) & WIRE_MORE) >> 7;
	uint64_t high = (~wire_load(bytes + sizeof(low)) & WIRE_MORE) >> 7;

	return low * gather >> 56 | (high * gather >> 56) << 8;
#endif
}

/* The same of len bytes, which are not more than FIELD_ENDS_LEN_MAX. */
static inline uint64_t field_ends_mask(const uint8_t *bytes, size_t len)
{
	uint64_t mask = field_ends_of_16(bytes);

	for (size_t at = 16; at < len; at += 16)
		mask |= field_ends_of_16(bytes + at) << at;
	return mask & ((UINT64_C(1) << len) - 1);
}

/* May a varint of nine bytes be among the len bytes of a mask? */
static inline bool field_ends_have_nine(uint64_t mask, size_t len)
{
	uint64_t more = ~mask & ((UINT64_C(1) << len) - 1);

	more &= more >> 1;
	more &= more >> 2;
	return more & more >> 4;
}

/* 1 to 16 bytes as words, with zeros behind them. Varints say themselves where they end: as many
   others, with zeros behind them, are other words. */
static inline void field_ends_words(const uint8_t *bytes, size_t len, uint64_t *words)
{
	uint64_t low = wire_load(bytes), high = wire_load(bytes + sizeof(low));
	uint64_t kept = ~UINT64_C(0) >> 8 * (-len % sizeof(low));

	words[0] = len > sizeof(low) ? low : low & kept;
	words[1] = len > sizeof(low) ? high & kept : 0;
}

#endif
