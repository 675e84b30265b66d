/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: the memory of a CPython with a few objects in it, in any layout. */
#ifndef TESTS_UNIT_PYTHON_MEMORY_H
#define TESTS_UNIT_PYTHON_MEMORY_H

#include <string.h>

#include "bpf/weft.h"
#include "runtimes/python_layout.h"

#define MEMORY_ADDR 0x7f0000010000ull
#define MEMORY_LEN 2048

/* Where things are in it. */
enum place {
	CODE_TYPE = 16,
	CODE = 64,
	NAME = 512,
	FILENAME = 768,
	LINES = 1024,
	TEXT = 1280,
	COPIES = 1536,
};

static inline void put_bytes(uint8_t *memory, size_t at, uint64_t value, size_t len)
{
	for (size_t i = 0; i < len; i++)
		memory[at + i] = (uint8_t)(value >> 8 * i);
}

/* A str of n characters, width bytes each. is_compact 0: its text is at TEXT. */
static inline void put_str(uint8_t *memory, const struct python_layout *l, size_t at, uint64_t n,
			   const void *text, unsigned int width, bool is_ascii, bool is_compact)
{
	uint32_t state = width | is_compact << 3 | is_ascii << 4;
	size_t to = at + (is_ascii ? l->str.ascii_header : l->str.compact_header);

	put_bytes(memory, at + l->str.length, n, 8);
	put_bytes(memory, at + l->str.hash, n * 0x123456789abcdef, 8);
	put_bytes(memory, at + l->str.state, 1 | (uint64_t)state << l->str.kind_bit, 4);
	if (!is_compact) {
		to = TEXT;
		put_bytes(memory, at + l->str.compact_header, MEMORY_ADDR + TEXT, 8);
	}
	memcpy(memory + to, text, n * width);
}

static inline void put_code(uint8_t *memory, const struct python_layout *l, const void *lines,
			    size_t n_lines)
{
	put_bytes(memory, CODE + l->object.type, MEMORY_ADDR + CODE_TYPE, 8);
	if (l->instr == PYTHON_INSTR_POINTER)
		put_bytes(memory, CODE + l->object.size, 2, 8); /* code units */
	put_bytes(memory, CODE + l->code.first_line, 7, 4);
	put_bytes(memory, CODE + l->code.flags, 0x43, 4);
	put_bytes(memory, CODE + l->code.name, MEMORY_ADDR + NAME, 8);
	if (l->code.qualname)
		put_bytes(memory, CODE + l->code.qualname, MEMORY_ADDR + NAME, 8);
	put_bytes(memory, CODE + l->code.filename, MEMORY_ADDR + FILENAME, 8);
	put_bytes(memory, CODE + l->code.linetable, MEMORY_ADDR + LINES, 8);
	put_str(memory, l, NAME, 9, "Class.run", 1, true, true);
	put_str(memory, l, FILENAME, 7, "/srv.py", 1, true, true);
	put_bytes(memory, LINES + l->bytes.size, n_lines, 8);
	memcpy(memory + LINES + l->bytes.data, lines, n_lines);
}

/* The code object in the memory as the kernel half copies it. */
static inline struct wire_python_code copied_code(const uint8_t *memory, uint32_t id)
{
	struct wire_python_code copy = { .addr = MEMORY_ADDR + CODE, .id = id };
	const struct {
		size_t at, len;
		uint8_t *bytes;
	} parts[N_CODE_PARTS] = {
		{ CODE, CODE_OBJECT_MAX, copy.object },
		{ NAME, CODE_STRING_MAX, copy.name },
		{ FILENAME, CODE_STRING_MAX, copy.file },
		{ LINES, 64, copy.lines },
	};

	for (size_t i = 0; i < N_CODE_PARTS; i++) {
		memcpy(parts[i].bytes, memory + parts[i].at, parts[i].len);
		copy.parts[i].addr = MEMORY_ADDR + parts[i].at;
		copy.parts[i].len = (uint32_t)parts[i].len;
	}
	return copy;
}

#endif
