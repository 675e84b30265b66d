// SPDX-License-Identifier: Apache-2.0
/* A jitdump file that grows once. */
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/jit_symbols.h"
#include "symbolizer/jitdump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jit_symbols *s = jit_symbols_new(NULL);
	struct jitdump d = { 0 };
	const char *file;

	jitdump_read(&d, data, size / 2, s);
	jitdump_read(&d, data, size, s);
	for (uint64_t addr = 0; addr < 0x6000; addr += 0x800) {
		jit_symbols_find(s, addr, 3000, NULL, NULL);
		jit_symbols_line(s, addr, &file);
	}
	jit_symbols_free(s);
	return 0;
}
