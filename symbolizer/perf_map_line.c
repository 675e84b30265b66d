// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/perf_map_line.h"

#include <string.h>

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* A hex number with or without 0x, and the blanks behind it. */
static bool take_hex(const char **pos, const char *end, uint64_t *out)
{
	const char *p = *pos;
	uint64_t value = 0;
	const char *first;

	if (end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	for (first = p; p < end && hex_digit(*p) >= 0; p++) {
		if (value >> 60)
			return false;
		value = value << 4 | (uint64_t)hex_digit(*p);
	}
	if (p == first || p == end || *p != ' ')
		return false;
	while (p < end && *p == ' ')
		p++;
	*pos = p;
	*out = value;
	return true;
}

bool perf_map_line_parse(const char *line, size_t len, struct perf_map_line *out)
{
	const char *end = line + len;
	struct perf_map_line l = { 0 };

	if (!take_hex(&line, end, &l.start) || !take_hex(&line, end, &l.size))
		return false;
	if (line < end && end[-1] == '\r')
		end--;
	l.name = line;
	l.name_len = (size_t)(end - line);
	if (!l.name_len || !l.size)
		return false;
	*out = l;
	return true;
}
