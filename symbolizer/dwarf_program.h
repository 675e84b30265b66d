/* SPDX-License-Identifier: Apache-2.0 */
/* The header of one unit's line table (DWARF 5 section 6.2.4); for dwarf_file.c and dwarf_line.c
 * only. */
#ifndef SYMBOLIZER_DWARF_PROGRAM_H
#define SYMBOLIZER_DWARF_PROGRAM_H

#include "symbolizer/dwarf_unit.h"

#define MAX_FILES 65535 /* a row has 16 bits for it */

struct dwarf_program {
	struct reader tables; /* directories and files */
	struct reader code;
	uint16_t version;
	uint8_t min_len, line_range, opcode_base;
	int8_t line_base;
	const uint8_t *opcode_lens;
	struct dwarf_unit shape; /* sizes of forms in here, and the bases of its unit */
};

int program_open(const struct dwarf *d, const struct dwarf_unit *u, struct dwarf_program *p);

#endif
