// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/punycode.h"

#include <string.h>

/* RFC 3492, section 5. */
#define BASE 36
#define T_MIN 1
#define T_MAX 26
#define SKEW 38
#define DAMP 700
#define INITIAL_BIAS 72
#define INITIAL_CHAR 0x80

#define MAX_CHAR 0x10ffff

/* Section 6.1. n_chars is the number of characters with the new one. */
static uint64_t adapt(uint64_t delta, uint64_t n_chars, int is_first)
{
	uint64_t k = 0;

	delta /= is_first ? DAMP : 2;
	delta += delta / n_chars;
	for (; delta > (BASE - T_MIN) * T_MAX / 2; k += BASE)
		delta /= BASE - T_MIN;
	return k + (BASE - T_MIN + 1) * delta / (delta + SKEW);
}

static int digit_value(char c)
{
	if (c >= 'a' && c <= 'z')
		return c - 'a';
	if (c >= '0' && c <= '9')
		return c - '0' + 26;
	return -1;
}

static uint64_t threshold(uint64_t k, uint64_t bias)
{
	if (k <= bias + T_MIN)
		return T_MIN;
	return k >= bias + T_MAX ? T_MAX : k - bias;
}

/* One generalized variable-length integer (section 3.3); its length, 0 when it is not one. */
static size_t read_delta(const char *digits, size_t n, uint64_t bias, uint64_t *delta)
{
	uint64_t weight = 1, value = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t t = threshold(BASE * (i + 1), bias);
		int digit = digit_value(digits[i]);

		if (digit < 0)
			return 0;
		value += (uint64_t)digit * weight;
		if (value > UINT32_MAX)
			return 0;
		if ((uint64_t)digit < t) {
			*delta = value;
			return i + 1;
		}
		weight *= BASE - t;
		if (weight > UINT32_MAX)
			return 0;
	}
	return 0;
}

size_t punycode_decode(const char *basic, size_t n_basic, const char *digits, size_t n_digits,
		       uint32_t *out, size_t cap)
{
	uint64_t next = INITIAL_CHAR, at = 0, bias = INITIAL_BIAS, delta;
	size_t n = n_basic;

	if (n_basic > cap)
		return 0;
	for (size_t i = 0; i < n_basic; i++)
		out[i] = (unsigned char)basic[i];
	while (n_digits) {
		size_t len = read_delta(digits, n_digits, bias, &delta);

		if (!len || n == cap)
			return 0;
		digits += len;
		n_digits -= len;
		n++;
		bias = adapt(delta, n, n == n_basic + 1);
		at += delta;
		next += at / n;
		at %= n;
		if (next > MAX_CHAR || (next >= 0xd800 && next <= 0xdfff))
			return 0;
		memmove(out + at + 1, out + at, (n - 1 - at) * sizeof(*out));
		out[at++] = (uint32_t)next;
	}
	return n;
}
