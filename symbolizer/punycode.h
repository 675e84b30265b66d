/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Punycode (RFC 3492), as Rust's mangled names have it for identifiers that are not ASCII: the
 * basic characters, and digits (a-z, 0-9) that say where others are to be put in.
 */
#ifndef SYMBOLIZER_PUNYCODE_H
#define SYMBOLIZER_PUNYCODE_H

#include <stddef.h>
#include <stdint.h>

/* How many characters are in out, 0 when the digits make no sense or cap is too small. Work is at
 * most cap * cap / 2 moved characters. */
size_t punycode_decode(const char *basic, size_t n_basic, const char *digits, size_t n_digits,
		       uint32_t *out, size_t cap);

#endif
