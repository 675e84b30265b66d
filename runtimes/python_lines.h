/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line of a position in a CPython code object, from the table that goes with it. The formats
 * are those of Objects/lnotab_notes.txt (to 3.9), PEP 626 (3.10) and Objects/locations.md (3.11 and
 * later); the answers are those of the interpreter itself, for every instruction.
 */
#ifndef RUNTIMES_PYTHON_LINES_H
#define RUNTIMES_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "runtimes/python_layout.h"

/*
 * position: bytes from the first instruction on; negative: the function has not begun, it is at its
 * first line. -ENOENT: code without a line, or behind the end of the table; -EBADMSG: the table is
 * damaged before that position.
 */
int python_line(enum python_lines format, const uint8_t *table, size_t len, int first_line,
		int64_t position, int *line);

#endif
