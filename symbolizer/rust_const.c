// SPDX-License-Identifier: Apache-2.0
/* Constants in Rust v0 symbols: generic arguments and lengths of arrays. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/text.h"
#include "symbolizer/rust_symbol.h"

#define MAX_HEX 32 /* digits of 128 bits */

static int nibble(char c)
{
	return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* A number of up to 64 bits; false when it is longer. */
static bool hex_value(const char *digits, size_t n, uint64_t *value)
{
	*value = 0;
	for (; n && *digits == '0'; n--)
		digits++;
	if (n > 16)
		return false;
	for (; n; n--)
		*value = *value << 4 | (unsigned)nibble(*digits++);
	return true;
}

static void put_integer(struct rust_symbol *s, bool is_signed)
{
	bool is_negative = is_signed && rust_eat(s, 'n');
	const char *digits;
	size_t n = rust_hex(s, &digits);
	uint64_t value;

	if (n > MAX_HEX)
		rust_fail(s, "integer");
	if (rust_failed(s))
		return;
	if (is_negative)
		rust_put(s, "-");
	if (hex_value(digits, n, &value)) {
		rust_put_number(s, value);
		return;
	}
	for (; *digits == '0'; n--)
		digits++;
	rust_put(s, "0x");
	rust_put_bytes(s, digits, n);
}

/* The value of a bool or a char: above max is an error. */
static uint32_t read_small(struct rust_symbol *s, uint32_t max)
{
	const char *digits;
	size_t n = rust_hex(s, &digits);
	uint64_t value = 0;

	if (n > MAX_HEX || !hex_value(digits, n, &value) || value > max)
		rust_fail(s, "constant");
	return rust_failed(s) ? 0 : (uint32_t)value;
}

/* A character of a literal, escaped as Rust's Debug does it. */
static void put_escaped(struct rust_symbol *s, uint32_t c, char quote)
{
	static const char plain[] = "\t\n\r\\", escape[] = "tnr\\";
	const char *at = c && c < 0x80 ? strchr(plain, (int)c) : NULL;
	char text[16];

	if (at)
		snprintf(text, sizeof(text), "\\%c", escape[at - plain]);
	else if (c == (unsigned char)quote)
		snprintf(text, sizeof(text), "\\%c", quote);
	else if (!c)
		strcpy(text, "\\0");
	else if (c < 0x20 || (c >= 0x7f && c < 0xa0))
		snprintf(text, sizeof(text), "\\u{%" PRIx32 "}", c);
	else
		text[0] = 0;
	if (text[0])
		rust_put(s, text);
	else
		rust_put_char(s, c);
}

static void put_char(struct rust_symbol *s)
{
	uint32_t c = read_small(s, 0x10ffff);

	if (c >= 0xd800 && c <= 0xdfff)
		rust_fail(s, "character");
	rust_put(s, "'");
	put_escaped(s, c, '\'');
	rust_put(s, "'");
}

/* The bytes are UTF-8, two digits each. */
static void put_string(struct rust_symbol *s)
{
	const char *digits;
	size_t n = rust_hex(s, &digits);

	if (n % 2)
		rust_fail(s, "string");
	rust_put(s, "\"");
	while (!rust_failed(s) && n) {
		size_t have = n / 2 < 4 ? n / 2 : 4, len;
		char bytes[4];
		uint32_t c;

		for (size_t i = 0; i < have; i++)
			bytes[i] = (char)(nibble(digits[2 * i]) << 4 | nibble(digits[2 * i + 1]));
		len = text_char(bytes, have, &c);
		if (!len)
			rust_fail(s, "string");
		else
			put_escaped(s, c, '"');
		digits += 2 * len;
		n -= 2 * len;
	}
	rust_put(s, "\"");
}

static void put_field(struct rust_symbol *s, bool is_value)
{
	struct rust_identifier name;

	rust_tagged(s, 's');
	name = rust_identifier(s);
	rust_put_identifier(s, &name);
	rust_put(s, ": ");
	rust_const(s, is_value);
}

static void put_variant(struct rust_symbol *s)
{
	rust_path(s, true);
	switch (rust_next(s)) {
	case 'U':
		break;
	case 'T':
		rust_put(s, "(");
		rust_list(s, rust_const, true);
		rust_put(s, ")");
		break;
	case 'S':
		rust_put(s, " { ");
		rust_list(s, put_field, true);
		rust_put(s, " }");
		break;
	default:
		rust_fail(s, "variant");
	}
}

/* What needs braces around it where a generic argument is expected. */
static void put_expression(struct rust_symbol *s, char tag)
{
	switch (tag) {
	case 'e': /* "..." is a &str */
		rust_put(s, "*");
		put_string(s);
		break;
	case 'R':
		rust_put(s, "&");
		rust_const(s, true);
		break;
	case 'Q':
		rust_put(s, "&mut ");
		rust_const(s, true);
		break;
	case 'A':
		rust_put(s, "[");
		rust_list(s, rust_const, true);
		rust_put(s, "]");
		break;
	case 'T':
		rust_put(s, "(");
		if (rust_list(s, rust_const, true) == 1)
			rust_put(s, ",");
		rust_put(s, ")");
		break;
	case 'V':
		put_variant(s);
		break;
	default:
		rust_fail(s, "constant");
	}
}

static void put_const(struct rust_symbol *s, bool is_value)
{
	char tag = rust_next(s);

	if (tag == 'B')
		rust_backref(s, rust_const, is_value);
	else if (tag == 'p')
		rust_put(s, "_");
	else if (tag == 'b')
		rust_put(s, read_small(s, 1) ? "true" : "false");
	else if (tag == 'c')
		put_char(s);
	else if (tag && strchr("hmtyoj", tag))
		put_integer(s, false);
	else if (tag && strchr("aslxni", tag))
		put_integer(s, true);
	else if (tag == 'R' && rust_eat(s, 'e'))
		put_string(s);
	else {
		rust_put(s, is_value ? "" : "{");
		put_expression(s, tag);
		rust_put(s, is_value ? "" : "}");
	}
}

void rust_const(struct rust_symbol *s, bool is_value)
{
	if (!rust_enter(s))
		return;
	put_const(s, is_value);
	rust_leave(s);
}
