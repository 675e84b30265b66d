// SPDX-License-Identifier: Apache-2.0
#include "core/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

size_t text_char(const char *s, size_t len, uint32_t *c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)s;
	size_t n;

	if (!len)
		return 0;
	if (p[0] < 0x80) {
		*c = p[0];
		return 1;
	}
	n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4 || n > len)
		return 0;
	*c = p[0] & (0x7f >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (p[i] & 0x3f);
	}
	if (*c < least[n] || *c > 0x10ffff || (*c >= 0xd800 && *c <= 0xdfff))
		return 0;
	return n;
}

/* Characters that move the cursor, change colours, hide text or turn its direction round. */
static bool is_unsafe(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

/* One character or bad byte of s as text that is safe on a terminal; how many bytes of s it was. */
static size_t safe_char(const char *s, size_t len, char shown[8])
{
	uint32_t c;
	size_t n = text_char(s, len, &c);

	if (n && !is_unsafe(c)) {
		memcpy(shown, s, n);
		shown[n] = 0;
		return n;
	}
	if (n && c > 0x7f)
		snprintf(shown, 8, "\\u%04x", c & 0xffff);
	else
		snprintf(shown, 8, "\\x%02x", (unsigned char)*s);
	return n ? n : 1;
}

const char *text_safe(const char *s, char *out, size_t size)
{
	size_t len = strnlen(s, size), used = 0; /* no byte becomes less than a byte */
	char shown[8];

	if (!size)
		return out;
	while (len) {
		size_t n = safe_char(s, len, shown), room = strlen(shown);

		if (room >= size - used)
			break;
		memcpy(out + used, shown, room);
		used += room;
		s += n;
		len -= n;
	}
	out[used] = 0;
	return out;
}

char *text_safe_dup(const char *s)
{
	size_t size = strlen(s) * 4 + 1; /* \x1b for a byte is the longest */
	char *out = malloc(size), *fitted;

	if (!out)
		return NULL;
	text_safe(s, out, size);
	fitted = realloc(out, strlen(out) + 1);
	return fitted ? fitted : out;
}

int text_is_utf8(const char *s, size_t len)
{
	uint32_t c;

	while (len) {
		size_t n = text_char(s, len, &c);

		if (!n)
			return 0;
		s += n;
		len -= n;
	}
	return 1;
}

void text_put_utf8(const char *s, size_t len, FILE *out)
{
	uint32_t c;

	while (len) {
		size_t n = text_char(s, len, &c);

		if (n)
			fwrite(s, 1, n, out);
		else
			fputs(REPLACEMENT, out);
		s += n ? n : 1;
		len -= n ? n : 1;
	}
}

/* One character of a JSON string. What HTML or old JavaScript would take for syntax is escaped. */
static void put_json_char(uint32_t c, const char *bytes, size_t n, FILE *out)
{
	switch (c) {
	case '"':
	case '\\':
		fputc('\\', out);
		fputc((int)c, out);
		return;
	case '\n':
		fputs("\\n", out);
		return;
	case '\t':
		fputs("\\t", out);
		return;
	case '<':
	case '>':
	case '&':
	case '\'':
		break;
	default:
		if (!is_unsafe(c)) {
			fwrite(bytes, 1, n, out);
			return;
		}
	}
	fprintf(out, "\\u%04x", c);
}

void text_put_json(const char *s, size_t len, FILE *out)
{
	uint32_t c;

	fputc('"', out);
	while (len) {
		size_t n = text_char(s, len, &c);

		if (n)
			put_json_char(c, s, n, out);
		else
			fputs(REPLACEMENT, out);
		s += n ? n : 1;
		len -= n ? n : 1;
	}
	fputc('"', out);
}
