// SPDX-License-Identifier: Apache-2.0
/* A jitdump file that grows once; without a limit, and in little room. */
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/jit_symbols.h"
#include "symbolizer/jitdump.h"
#include "tests/fuzz/jit_room.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_dump(const uint8_t *data, size_t size, struct jit_room *room)
{
	struct jit_symbols *s = jit_symbols_new(room);
	struct jitdump d = { 0 };
	const char *file;

	jitdump_read(&d, data, size / 2, s);
	jitdump_read(&d, data, size, s);
	for (uint64_t addr = 0; addr < 0x6000; addr += 0x800) {
		jit_symbols_find(s, addr, 3000, NULL, NULL);
		jit_symbols_line(s, addr, &file);
	}
	jit_symbols_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jit_room room = little_room();

	read_dump(data, size, NULL);
	read_dump(data, size, &room);
	return 0;
}
