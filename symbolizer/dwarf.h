/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions, inlined calls and source lines at an address, from DWARF 2 to 5 (DWARF Debugging
 * Information Format, version 5). A reader of ours, because the bytes are hostile until proven
 * otherwise and because lookups need one flat index per unit instead of a walk over DIEs. It is
 * built for a unit when an address in it is asked for.
 *
 * Known: ranges and rnglists, .debug_addr, .debug_str_offsets, DWZ alternate files. Not read: split
 * DWARF (.dwo), whose skeletons still give lines, and .debug_types (no functions in it).
 */
#ifndef SYMBOLIZER_DWARF_H
#define SYMBOLIZER_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf;

struct dwarf_section {
	const void *data;
	size_t len;
};

struct dwarf_input {
	struct dwarf_section info, abbrev, str, line, line_str, ranges, rnglists, addr, str_offsets;
	uint64_t text_start, text_end; /* code lies between; what claims to be elsewhere was
					  discarded by the linker */
	struct dwarf *alt;	       /* the DWZ file, or NULL; borrowed */
	bool is_alt;		       /* this is one: it may have strings only */
};

struct dwarf_frame {	  /* borrowed until the next call */
	const char *name; /* qualified when it has no linkage name; NULL is unknown (only a line
			     then) */
	const char *linkage_name; /* or NULL */
	const char *file;	  /* of `line`; NULL is unknown */
	uint32_t decl_line;	  /* where the function begins, when that is in `file`; else 0 */
	uint32_t line, column;	  /* 0 is unknown */
};

/* 0; -ENOENT no units; -EBADMSG; -ENOMEM. Sections stay the caller's. */
int dwarf_new(const struct dwarf_input *in, struct dwarf **out);
void dwarf_free(struct dwarf *d);
/* Innermost first. Returns how many frames; 0: this address is in no unit. */
size_t dwarf_find(struct dwarf *d, uint64_t vaddr, struct dwarf_frame *out, size_t max);
/* Drops what can be built again. A file that was read more often than any honest one needs says so
   for good: it is not read again. */
void dwarf_flush(struct dwarf *d);
bool dwarf_is_spent(const struct dwarf *d);
size_t dwarf_memory(const struct dwarf *d);
/* What of it dwarf_flush() would free, about. */
size_t dwarf_droppable(const struct dwarf *d);

#endif
