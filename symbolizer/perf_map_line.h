/* SPDX-License-Identifier: Apache-2.0 */
/* One line of a perf map: START SIZE NAME, numbers in hex, the name up to the end of the line. */
#ifndef SYMBOLIZER_PERF_MAP_LINE_H
#define SYMBOLIZER_PERF_MAP_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_map_line {
	uint64_t start, size;
	const char *name; /* inside the line, not terminated */
	size_t name_len;
};

/* len bytes without the newline. False when it is no such line. */
bool perf_map_line_parse(const char *line, size_t len, struct perf_map_line *out);

#endif
