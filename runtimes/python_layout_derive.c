// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_layout_derive.h"

#include "unwinders/python_identity.h"

static void derive_kinds(struct python_layout *l)
{
	l->chain = PYTHON_SHIMS;
	l->instr = PYTHON_INSTR_POINTER;
	l->lines = PYTHON_LOCATIONS;
	if (l->version < PYTHON_FIRST(3, 10)) {
		l->chain = PYTHON_FRAME_OBJECTS;
		l->instr = PYTHON_INSTR_BYTES;
		l->lines = PYTHON_LNOTAB;
	} else if (l->version < PYTHON_FIRST(3, 11)) {
		l->chain = PYTHON_CFRAMES;
		l->instr = PYTHON_INSTR_UNITS;
		l->lines = PYTHON_LINETABLE;
	} else if (l->version < PYTHON_FIRST(3, 12)) {
		l->chain = PYTHON_ENTRIES;
	}
}

/* From the first line's word to the last of the pointers. False: too far apart for one identity. */
static bool derive_identity(struct python_layout *l)
{
	const uint16_t pointers[] = { l->code.filename, l->code.name, l->code.linetable,
				      l->code.qualname ? l->code.qualname : l->code.name };
	uint16_t start = l->code.first_line & ~7, end = start;

	for (size_t i = 0; i < sizeof(pointers) / sizeof(*pointers); i++) {
		if (pointers[i] < start || pointers[i] + 8 - start > PYTHON_IDENTITY_WORDS * 8)
			return false;
		if (pointers[i] + 8 > end)
			end = pointers[i] + 8;
	}
	l->code.id_off = start;
	l->code.id_len = end - start;
	l->code.id_needs_name = l->version < PYTHON_FIRST(3, 12);
	return true;
}

bool python_layout_derive(struct python_layout *l)
{
	derive_kinds(l);
	l->str.hash = l->str.length + 8;
	if (!l->str.compact_header)
		l->str.compact_header = l->str.ascii_header + 16;
	/* Free-threaded builds from 3.14 on keep `interned` in a byte of its own. */
	l->str.kind_bit = l->is_free_threaded && l->version >= PYTHON_FIRST(3, 14) ? 8 : 2;
	l->type.basicsize = l->type.name + 8;
	l->type.flags = l->type.name + 144;
	l->type.dictoffset = l->type.name + 264;
	return derive_identity(l);
}
