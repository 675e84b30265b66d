/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where functions begin and end by a file's unwind data: the sorted table in .eh_frame_hdr and the
 * FDEs it leads to (Linux Standard Base 5.0 core, "Exception Frame Header"). Stripped files keep
 * it. A function that was split has several ranges; hand-written assembly may have none, and one
 * range may hold all stubs of a PLT.
 *
 * Only what linkers write is read: a table of 4-byte offsets from its section, FDEs with plain or
 * pc-relative addresses. Bytes are borrowed from the file and not trusted.
 */
#ifndef SYMBOLIZER_FUNCTION_RANGE_H
#define SYMBOLIZER_FUNCTION_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/reader.h"
#include "symbolizer/elf_file.h"

/* Empty when the file has no such table. Nothing to free. */
struct function_ranges {
	const struct elf_file *elf;
	struct reader table; /* n pairs: function, FDE, both counted from vaddr */
	uint64_t vaddr;
	size_t n;
};

struct function_range {
	uint64_t start, size; /* size is never 0 */
};

void function_ranges_init(struct function_ranges *ranges, const struct elf_file *elf);
/* The last range that begins at or below the address, whether it reaches it or not. */
bool function_range_below(const struct function_ranges *ranges, uint64_t vaddr,
			  struct function_range *out);
/* The range that covers the address. */
bool function_range_find(const struct function_ranges *ranges, uint64_t vaddr,
			 struct function_range *out);

#endif
