/* SPDX-License-Identifier: Apache-2.0 */
/* What both makers of a struct python_layout need: the tables and the parser of _Py_DebugOffsets.
 */
#ifndef RUNTIMES_PYTHON_LAYOUT_DERIVE_H
#define RUNTIMES_PYTHON_LAYOUT_DERIVE_H

#include "runtimes/python_layout.h"

/* Names a field in a table of offsets. */
#define AT(field) offsetof(struct python_layout, field)

static inline uint16_t *python_layout_field(struct python_layout *l, size_t at)
{
	return (uint16_t *)((char *)l + at);
}

/* Final releases and the candidates before them; what is older was still moving. */
static inline bool python_layout_is_settled(uint32_t version)
{
	return (version & 0xf0) >= 0xc0;
}

/* Fills in what follows from the version and from the other fields. False: these cannot be. */
bool python_layout_derive(struct python_layout *l);

#endif
