/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encoded pointers of .eh_frame (Linux Standard Base 5.0 core, "DWARF Extensions", table 10.5): the
 * low four bits say how the value is stored, the next three what it counts from, the top one that
 * it is the address of the pointer.
 */
#ifndef UNWINDERS_EH_POINTER_H
#define UNWINDERS_EH_POINTER_H

#include <stdint.h>

#include "core/reader.h"

#define EH_POINTER_OMIT 0xff
#define EH_POINTER_FORMAT 0x0f /* mask; alone it reads a plain number such as a length */

struct eh_bases {
	uint64_t section;    /* vaddr of the outermost reader's first byte: pc-relative counts from
				there */
	uint64_t text, data; /* 0 when unknown: such pointers are then -ENOTSUP */
};

/* Fails the reader: -EBADMSG no such encoding, -ENOTSUP one that needs what is not known here. */
uint64_t eh_pointer_read(struct reader *r, uint8_t encoding, const struct eh_bases *bases);
/* Moves over a pointer of any encoding, also an indirect one. */
void eh_pointer_skip(struct reader *r, uint8_t encoding, const struct eh_bases *bases);

#endif
