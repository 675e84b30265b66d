// SPDX-License-Identifier: Apache-2.0
#include "jfr/wire.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include <stdbool.h>

#include "core/text.h"

#define REPLACEMENT 0xfffd
#define ONES UINT64_C(0x0101010101010101) /* in each byte of a word */
#define UTF8_MAX 3 /* bytes for each byte or unit read, at most: U+FFFD for one bad byte */

static uint64_t varint_bytewise(struct reader *r, const char *what)
{
	const uint8_t *p = r->pos;
	uint64_t value = 0;

	for (int i = 0; p < r->end; i++) {
		uint8_t byte = *p++;
		bool is_last = i == WIRE_VARINT_MAX - 1;

		value |= (uint64_t)(is_last ? byte : byte & 0x7f) << (7 * i);
		if (is_last || byte < 0x80) {
			r->pos = p;
			return value;
		}
	}
	/* It is cut off. */
	r->pos = r->end;
	reader_u8(r, what);
	return 0;
}

/* In a word that ends where the bytes do, when there are as many. */
uint64_t wire_varint_last(struct reader *r, const char *what)
{
	size_t left = (size_t)(r->end - r->pos), len;
	uint64_t word, ends;

	if (!left || left > sizeof(word) || (size_t)(r->end - r->start) < sizeof(word))
		return varint_bytewise(r, what);
	word = wire_load(r->end - sizeof(word)) >> (64 - 8 * left);
	ends = ~word & WIRE_MORE;
	len = ends ? (size_t)(__builtin_ctzll(ends) + 1) / 8 : left + 1;
	if (len > left)
		return varint_bytewise(r, what);
	r->pos += len;
	return wire_pack(word & (ends ^ (ends - 1)));
}

#ifdef __SSE2__
#define BLOCK_LEN 16
#define MAX_BLOCKS 255 /* whose ends are counted in a byte */

static unsigned int last_end(__m128i block)
{
	unsigned int ends = ~(unsigned int)_mm_movemask_epi8(block) & 0xffff;

	return 31 - (unsigned int)__builtin_clz(ends);
}

/*
 * Moves behind those that end in n blocks, in which no more can end than there are bytes, and
 * returns how many. 0: one of nine bytes may be among them. Eight of those say that it goes on, so
 * four of them lie in one word of four.
 */
static uint64_t skip_blocks(struct reader *r, size_t n)
{
	const __m128i none = _mm_setzero_si128(), more = _mm_set1_epi32((int)0x80808080);
	const __m128i minus_one = _mm_set1_epi8(-1);
	__m128i block = none, ends = none, longs = none, sums;

	for (size_t i = 0; i < n; i++) {
		const uint8_t *at = r->pos + i * BLOCK_LEN;

		block = _mm_loadu_si128((const __m128i *)(const void *)at);
		ends = _mm_sub_epi8(ends, _mm_cmpgt_epi8(block, minus_one));
		longs = _mm_or_si128(longs, _mm_cmpeq_epi32(_mm_and_si128(block, more), more));
	}
	if (_mm_movemask_epi8(longs))
		return 0;
	r->pos += (n - 1) * BLOCK_LEN + last_end(block) + 1;
	sums = _mm_sad_epu8(ends, none);
	return (uint64_t)_mm_cvtsi128_si64(sums) +
	       (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(sums, none));
}

/* Moves behind fewer than a block can have, if the next one has as many. */
static uint64_t skip_few(struct reader *r, uint64_t n)
{
	__m128i block = _mm_loadu_si128((const __m128i *)(const void *)r->pos);
	unsigned int ends = ~(unsigned int)_mm_movemask_epi8(block) & 0xffff;
	uint64_t len;

	for (uint64_t i = 1; i < n; i++)
		ends &= ends - 1;
	len = ends ? (uint64_t)__builtin_ctz(ends) + 1 : BLOCK_LEN;
	if (!ends || len >= WIRE_VARINT_MAX + n) /* one of nine bytes may be among them */
		return 0;
	r->pos += len;
	return n;
}

static uint64_t skip_in_blocks(struct reader *r, uint64_t n)
{
	uint64_t left = n, skipped = 1;

	while (skipped && left && r->end - r->pos >= BLOCK_LEN) {
		uint64_t bytes = (uint64_t)(r->end - r->pos);
		uint64_t n_blocks = (left < bytes ? left : bytes) / BLOCK_LEN;

		if (n_blocks)
			skipped = skip_blocks(r, n_blocks < MAX_BLOCKS ? n_blocks : MAX_BLOCKS);
		else
			skipped = skip_few(r, left);
		left -= skipped;
	}
	return n - left;
}
#else
static uint64_t skip_in_blocks(struct reader *r, uint64_t n)
{
	(void)r, (void)n;
	return 0;
}
#endif

/* As many at a time as end in a word that begins with one. */
void wire_skip_varints(struct reader *r, uint64_t n, const char *what)
{
	n -= skip_in_blocks(r, n);
	while (n >= sizeof(uint64_t) && r->end - r->pos >= WIRE_VARINT_MAX) {
		uint64_t ends = ~wire_load(r->pos) & WIRE_MORE;

		n -= ends ? (ends >> 7) * ONES >> 56 : 1;
		r->pos += ends ? sizeof(ends) - (size_t)__builtin_clzll(ends) / 8 : WIRE_VARINT_MAX;
	}
	for (; n && !r->err; n--)
		wire_skip_varint(r, what);
}

/* Nearly all text is ASCII, which all encodings write as one byte each: how much of it there is
   before anything else, or a NUL. */
static size_t ascii_len(const uint8_t *p, size_t len)
{
	size_t n = 0;

	for (; len - n >= sizeof(uint64_t); n += sizeof(uint64_t)) {
		uint64_t word = wire_load(p + n);

		if ((word | (word - ONES)) & WIRE_MORE)
			break;
	}
	while (n < len && p[n] && p[n] < 0x80)
		n++;
	return n;
}

struct wire_string wire_string_read(struct reader *r, const char *what)
{
	struct wire_string s = { .encoding = WIRE_NULL };
	const uint8_t *start = r->pos;
	uint8_t encoding;
	uint64_t n;

	/* What a JVM writes of Java's strings, mostly. */
	if (r->end - start > 2 && start[0] == WIRE_UTF16 && start[1] && start[1] < 0x80 &&
	    start[1] <= r->end - start - 2 && ascii_len(start + 2, start[1]) == start[1]) {
		r->pos = start + 2 + start[1];
		return (struct wire_string){ WIRE_UTF16, .bytes = start + 2, .len = start[1] };
	}
	encoding = r->pos < r->end ? *r->pos++ : reader_u8(r, what);
	switch (encoding) {
	case WIRE_NULL:
	case WIRE_EMPTY:
		s.encoding = encoding;
		return s;
	case WIRE_POOLED:
		s.encoding = WIRE_POOLED;
		s.key = (int64_t)wire_varint(r, what);
		return s;
	case WIRE_UTF8:
	case WIRE_LATIN1:
		n = wire_varint(r, what);
		s.bytes = reader_bytes(r, n, what);
		s.len = s.bytes ? n : 0;
		break;
	case WIRE_UTF16:
		n = wire_varint(r, what);
		start = r->pos;
		if (n > reader_left(r))
			reader_fail(r, -EBADMSG, what);
		else if (ascii_len(start, n) == n)
			r->pos += n;
		else
			wire_skip_varints(r, n, what);
		s.bytes = start;
		s.len = reader_error(r) ? 0 : (size_t)(r->pos - start);
		break;
	default:
		reader_fail(r, -EBADMSG, what);
		return s;
	}
	s.encoding = s.len ? encoding : WIRE_EMPTY;
	return s;
}

size_t wire_string_room(const struct wire_string *s)
{
	return s->len * UTF8_MAX;
}

static size_t put_utf8(uint32_t c, char *out)
{
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	if (n == 1) {
		out[0] = (char)c;
		return 1;
	}
	for (size_t i = n; i-- > 1; c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)((0xf00 >> n) | c);
	return n;
}

static uint32_t whole(uint32_t c)
{
	return !c || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff ? REPLACEMENT : c;
}

/* A surrogate that is written by itself, as HotSpot does (its UTF-8 is that of class files). */
static bool is_surrogate(const uint8_t *p, size_t left, uint8_t second)
{
	return left >= 3 && p[0] == 0xed && (p[1] & 0xf0) == second && (p[2] & 0xc0) == 0x80;
}

static size_t surrogate_pair(const uint8_t *p, size_t left, uint32_t *c)
{
	if (!is_surrogate(p, left, 0xa0) || !is_surrogate(p + 3, left - 3, 0xb0))
		return 0;
	*c = 0x10000 + (((uint32_t)(p[1] & 0x0f) << 6 | (p[2] & 0x3f)) << 10 |
			((uint32_t)(p[4] & 0x0f) << 6 | (p[5] & 0x3f)));
	return 6;
}

static size_t text_of_utf8(const struct wire_string *s, char *out)
{
	size_t n = 0, step;
	uint32_t c;

	for (size_t i = 0; i < s->len; i += step ? step : 1) {
		step = text_char((const char *)s->bytes + i, s->len - i, &c);
		if (!step)
			step = surrogate_pair(s->bytes + i, s->len - i, &c);
		n += put_utf8(step ? whole(c) : REPLACEMENT, out + n);
	}
	return n;
}

static size_t text_of_latin1(const struct wire_string *s, char *out)
{
	size_t n = 0;

	for (size_t i = 0; i < s->len; i++)
		n += put_utf8(whole(s->bytes[i]), out + n);
	return n;
}

static bool is_high(uint64_t unit)
{
	return unit >= 0xd800 && unit < 0xdc00;
}

static bool is_low(uint64_t unit)
{
	return unit >= 0xdc00 && unit < 0xe000;
}

static size_t text_of_utf16(const struct wire_string *s, char *out)
{
	struct reader r;
	uint64_t unit, next;
	size_t n = 0;

	reader_init(&r, s->bytes, s->len);
	unit = reader_at_end(&r) ? 0 : wire_varint(&r, "unit");
	for (bool more = s->len > 0; more; unit = next) {
		more = !reader_at_end(&r);
		next = more ? wire_varint(&r, "unit") : 0;
		if (is_high(unit) && more && is_low(next)) {
			n += put_utf8(0x10000 + (uint32_t)((unit - 0xd800) << 10 | (next - 0xdc00)),
				      out + n);
			more = !reader_at_end(&r);
			next = more ? wire_varint(&r, "unit") : 0;
		} else {
			n += put_utf8(unit > 0xffff ? REPLACEMENT : whole((uint32_t)unit), out + n);
		}
	}
	return n;
}

size_t wire_string_text(const struct wire_string *s, char *out)
{
	struct wire_string rest = *s;
	size_t n = s->len ? ascii_len(s->bytes, s->len) : 0;

	if (n) {
		memcpy(out, s->bytes, n);
		rest.bytes += n;
		rest.len -= n;
		out += n;
	}
	if (!rest.len)
		return n;
	switch (s->encoding) {
	case WIRE_UTF8:
		return n + text_of_utf8(&rest, out);
	case WIRE_LATIN1:
		return n + text_of_latin1(&rest, out);
	case WIRE_UTF16:
		return n + text_of_utf16(&rest, out);
	default:
		return 0;
	}
}
