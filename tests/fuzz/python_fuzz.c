// SPDX-License-Identifier: Apache-2.0
/*
 * CPython: _Py_DebugOffsets, line tables, a process's memory with a code object at its 64th byte.
 * The first byte chooses, and the version: 6 to 12 as they are; 13 is the layout that the first
 * 1024 bytes of the rest say, for the memory behind them.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "runtimes/python_code.h"
#include "runtimes/python_lines.h"

#define ADDR 0x7f0000010000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_code(const struct python_layout *l, const uint8_t *memory, size_t len)
{
	struct mem *m = mem_array(ADDR, memory, len);
	struct python_code c;
	int line;

	if (!python_code_read(m, l, ADDR + 64, 0, &c)) {
		for (int64_t position = -2; position < 100; position += 2)
			if (!python_code_line(l, &c, position, &line) && line < 0)
				abort();
		python_code_deinit(&c);
	}
	mem_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct python_layout l = { 0 };
	unsigned int minor;
	int line;

	if (!size)
		return 0;
	minor = *data++ % 32;
	size--;
	if (minor == 13 && size >= PYTHON_DEBUG_LEN) {
		python_layout_parse(data, PYTHON_DEBUG_LEN, &l);
		if (l.frame.size)
			read_code(&l, data + PYTHON_DEBUG_LEN, size - PYTHON_DEBUG_LEN);
	} else if (!python_layout_of_version(PYTHON_VERSION(3, minor, 9), false, &l)) {
		read_code(&l, data, size);
	} else if (minor < 3) {
		for (int64_t position = -2; position < 100; position += 2)
			if (!python_line((enum python_lines)minor, data, size, 1, position,
					 &line) &&
			    line < 0)
				abort();
	} else {
		python_layout_parse(data, size, &l);
	}
	return 0;
}
