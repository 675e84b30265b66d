// SPDX-License-Identifier: Apache-2.0
/* An ELF file: headers, symbols, DWARF, MiniDebugInfo, debug link; names at a few addresses. */
#include <stddef.h>
#include <stdint.h>

#include "core/profile.h"
#include "symbolizer/object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(struct object *o, uint64_t vaddr, struct profile *p)
{
	struct line lines[MAX_INLINE_DEPTH];
	uint64_t start, len;
	uint16_t flags = 0;

	object_symbolize(o, vaddr, p, lines, MAX_INLINE_DEPTH, &flags);
	object_function(o, vaddr, &start, &len);
	object_vaddr(o, vaddr, &start);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const dirs[] = { "/nonexistent", NULL };
	struct objects *os =
		objects_new(&(struct object_options){ .debug_dirs = dirs, .memory = 16 << 20 });
	struct profile *p = profile_new();
	const struct segment *segments;
	const void *bytes;
	uint64_t vaddr, len;
	size_t n;
	int err;
	struct object *o = objects_get_bytes(os, data, size, "/nonexistent/fuzz", &err);

	if (o) {
		segments = object_segments(o, &n);
		for (size_t i = 0; i < n && i < 4; i++)
			for (uint64_t at = 0; at < 64; at += 5)
				ask(o, segments[i].vaddr + at * (1 + segments[i].memsz / 64), p);
		ask(o, object_entry(o), p);
		object_section(o, ".eh_frame", &bytes, &n, &vaddr);
		object_section(o, ".debug_frame", &bytes, &n, &vaddr);
		object_symbol(o, "main", &vaddr, &len);
		object_is_go(o);
		object_otel_context(o);
	}
	objects_free(os);
	profile_free(p);
	return 0;
}
