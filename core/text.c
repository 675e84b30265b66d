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

/* Nearly all there is: worth a way of its own. */
static bool is_printable_ascii(char c)
{
	return c >= ' ' && c <= '~';
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
		size_t n, room;

		if (is_printable_ascii(*s) && size - used > 1) {
			out[used++] = *s++;
			len--;
			continue;
		}
		n = safe_char(s, len, shown);
		room = strlen(shown);
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
	size_t valid = 0; /* bytes not written yet */
	uint32_t c;

	while (valid < len) {
		size_t n = text_char(s + valid, len - valid, &c);

		valid += n;
		if (n)
			continue;
		fwrite(s, 1, valid, out);
		fputs(REPLACEMENT, out);
		s += valid + 1;
		len -= valid + 1;
		valid = 0;
	}
	if (len)
		fwrite(s, 1, len, out);
}

/* Characters that end a JSON string, or that HTML or old JavaScript would take for syntax. */
static bool is_plain_json(uint32_t c)
{
	return c != '"' && c != '\\' && c != '<' && c != '>' && c != '&' && c != '\'' &&
	       !is_unsafe(c);
}

static void put_json_escape(uint32_t c, FILE *out)
{
	switch (c) {
	case '"':
		fputs("\\\"", out);
		break;
	case '\\':
		fputs("\\\\", out);
		break;
	case '\n':
		fputs("\\n", out);
		break;
	case '\t':
		fputs("\\t", out);
		break;
	default:
		fprintf(out, "\\u%04x", c);
	}
}

const char *path_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

void text_put_json(const char *s, size_t len, FILE *out)
{
	size_t plain = 0; /* bytes not written yet */
	uint32_t c;

	fputc('"', out);
	while (plain < len) {
		size_t n = text_char(s + plain, len - plain, &c);

		if (n && is_plain_json(c)) {
			plain += n;
			continue;
		}
		fwrite(s, 1, plain, out);
		if (n)
			put_json_escape(c, out);
		else
			fputs(REPLACEMENT, out);
		n = n ? n : 1;
		s += plain + n;
		len -= plain + n;
		plain = 0;
	}
	if (len)
		fwrite(s, 1, len, out);
	fputc('"', out);
}

bool text_is_numbered(const char *s, const char *start)
{
	size_t len = strlen(start);

	return !strncmp(s, start, len) && s[len] && !s[len + strspn(s + len, "0123456789")];
}
