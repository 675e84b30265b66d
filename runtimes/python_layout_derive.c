// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_layout_derive.h"

#include "unwinders/python.h"

static void derive_kinds(struct python_layout *l)
{
	unsigned int minor = PYTHON_MINOR(l->version);

	l->chain = PYTHON_SHIMS;
	l->instr = PYTHON_INSTR_POINTER;
	l->lines = PYTHON_LOCATIONS;
	if (minor < 10) {
		l->chain = PYTHON_FRAME_OBJECTS;
		l->instr = PYTHON_INSTR_BYTES;
		l->lines = PYTHON_LNOTAB;
	} else if (minor == 10) {
		l->chain = PYTHON_CFRAMES;
		l->instr = PYTHON_INSTR_UNITS;
		l->lines = PYTHON_LINETABLE;
	} else if (minor == 11) {
		l->chain = PYTHON_ENTRIES;
	}
}

static uint16_t max_of(uint16_t a, uint16_t b)
{
	return a > b ? a : b;
}

/* From the first line's word to the last of the pointers. False: too far apart for one identity. */
static bool derive_identity(struct python_layout *l)
{
	uint16_t start = l->code.first_line & ~7;
	uint16_t last = max_of(max_of(l->code.filename, l->code.name),
			       max_of(l->code.qualname, l->code.linetable));

	if (last < start || last + 8 - start > PYTHON_IDENTITY_WORDS * 8)
		return false;
	l->code.id_off = start;
	l->code.id_len = last + 8 - start;
	l->code.id_needs_name = PYTHON_MINOR(l->version) < 12;
	return true;
}

bool python_layout_derive(struct python_layout *l)
{
	derive_kinds(l);
	l->str.hash = l->str.length + 8;
	if (!l->str.compact_header)
		l->str.compact_header = l->str.ascii_header + 16;
	/* Free-threaded builds from 3.14 on keep `interned` in a byte of its own. */
	l->str.kind_bit = l->is_free_threaded && PYTHON_MINOR(l->version) >= 14 ? 8 : 2;
	l->type.basicsize = l->type.name + 8;
	l->type.flags = l->type.name + 144;
	l->type.dictoffset = l->type.name + 264;
	return derive_identity(l);
}
