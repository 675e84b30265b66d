// SPDX-License-Identifier: Apache-2.0
/* Lines of a perf map, and lookups over the ranges; without a limit, and in little room. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "symbolizer/jit_symbols.h"
#include "symbolizer/perf_map_line.h"
#include "tests/fuzz/jit_room.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_map(const uint8_t *data, size_t size, struct jit_room *room)
{
	struct jit_symbols *s = jit_symbols_new(room);
	const char *p = (const char *)data, *end = p + size, *newline;
	uint64_t time_ns = 0;

	for (; (newline = memchr(p, '\n', (size_t)(end - p))); p = newline + 1) {
		struct perf_map_line l;

		if (!perf_map_line_parse(p, (size_t)(newline - p), &l))
			continue;
		jit_symbols_add(s, l.start, l.size, ++time_ns, l.name, l.name_len);
		jit_symbols_find(s, l.start + l.size / 2, time_ns / 2, NULL, NULL);
		jit_symbols_has(s, l.start, l.size, l.name, l.name_len);
	}
	jit_symbols_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jit_room room = little_room();

	read_map(data, size, NULL);
	read_map(data, size, &room);
	return 0;
}
