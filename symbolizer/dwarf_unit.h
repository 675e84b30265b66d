/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the DWARF reader (dwarf*.c) share. Offsets of DIEs count from .debug_info's
 * start. */
#ifndef SYMBOLIZER_DWARF_UNIT_H
#define SYMBOLIZER_DWARF_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/hurry.h"
#include "core/reader.h"
#include "symbolizer/dwarf.h"

struct intern;

#define ORIGIN_ALT (UINT64_C(1) << 63) /* the DIE is in the alternate file */

struct dwarf_attr {
	uint16_t at, form;
	int32_t implicit; /* of DW_FORM_implicit_const */
};

struct dwarf_abbrev {
	uint64_t code;
	uint32_t first, n; /* attributes */
	int32_t fixed_len; /* bytes of all attributes when every form is of fixed size, else -1 */
	uint16_t tag;
	bool has_children;
};

struct dwarf_abbrevs {
	struct dwarf_abbrev *list;
	struct dwarf_attr *attrs;
	size_t n, cap, n_attrs, cap_attrs;
};

enum value_kind {
	VALUE_NONE,
	VALUE_NUMBER, /* constants, and offsets into sections before DWARF 4 */
	VALUE_ADDRESS,
	VALUE_ADDRESS_INDEX, /* into .debug_addr */
	VALUE_STRING,	     /* in place */
	VALUE_STRING_OFFSET, /* into .debug_str */
	VALUE_LINE_STRING,   /* into .debug_line_str */
	VALUE_STRING_INDEX,  /* into .debug_str_offsets */
	VALUE_ALT_STRING,
	VALUE_REF, /* offset in .debug_info */
	VALUE_ALT_REF,
	VALUE_OFFSET,	  /* into the section the attribute means */
	VALUE_LIST_INDEX, /* into the range lists' offsets */
	VALUE_OTHER,
};

struct dwarf_value {
	enum value_kind kind;
	uint64_t number;
	const char *string;
};

struct dwarf_row {
	uint32_t addr; /* from row_base */
	uint32_t line; /* ROW_END: no code from here on */
	uint16_t file, column;
};

#define ROW_END UINT32_MAX

struct dwarf_file {
	const char *dir, *name;
	const char *path; /* put together when it is asked for */
};

struct dwarf_scope {	 /* a subprogram or an inlined call with code */
	uint64_t origin; /* DIE that has the name; ORIGIN_ALT */
	uint32_t parent; /* the scope it is inlined into, + 1; 0: none */
	uint32_t call_line;
	uint16_t call_file, call_column;
	uint16_t depth;
};

struct dwarf_interval { /* up to the next one's address */
	uint32_t addr;	/* from base */
	uint32_t scope; /* innermost, + 1; 0: none */
};

struct dwarf_unit {
	uint64_t offset, first_die, end;
	uint64_t abbrev_offset;
	uint8_t version, addr_size, offset_size, type;
	/* Of the root DIE, by unit_load(). */
	bool is_loaded, is_bad, has_ranges, has_lines, is_c;
	uint64_t low_pc, high_pc;
	uint64_t addr_base, str_offsets_base, rnglists_base, line_offset;
	struct dwarf_value ranges;
	const char *comp_dir;
	struct dwarf_abbrevs abbrevs;
	/* By lines_path() and lines_load_rows(). */
	struct dwarf_file *files;
	uint32_t n_files;
	bool has_files, has_rows, has_scopes;
	uint64_t row_base;
	struct dwarf_row *rows;
	uint32_t n_rows;
	/* By scopes_load(). */
	struct dwarf_scope *scopes;
	struct dwarf_interval *intervals;
	uint32_t n_scopes, n_intervals;
	uint64_t base; /* lowest address of the scopes */
};

struct dwarf_range {
	uint64_t start, end;
	uint32_t tag; /* what it belongs to */
};

struct dwarf_ranges { /* grows while it is filled */
	struct dwarf_range *list;
	size_t n, cap;
};

struct dwarf {
	struct dwarf_input in;
	struct dwarf_unit *units; /* by offset */
	size_t n_units, cap_units;
	struct dwarf_ranges map;	 /* code to unit, by start */
	struct intern *strings;		 /* paths and qualified names */
	struct function_info *functions; /* by origin: open addressing, a power of two */
	size_t n_functions, cap_functions;
	uint64_t work, max_work; /* bytes read since the last flush: many parts may refer to one
				    large list */
	size_t memory;		 /* of the units' tables */
};

struct function_info {
	uint64_t origin;
	const char *name;	  /* qualified; NULL is unknown */
	const char *linkage_name; /* or the plain name */
	const char *file;
	uint32_t line;
	bool has_linkage_name;
};

/* Is there still work to be spent, and time? A good file is read a few times over, never this
   often. */
static inline bool has_work(const struct dwarf *d)
{
	return d->work <= d->max_work && !hurry_is_on();
}

/* A small value at no cost; the rest by the reader. */
static inline uint64_t read_uleb(struct reader *r)
{
	if (r->pos < r->end && *r->pos < 0x80)
		return *r->pos++;
	return reader_uleb(r, "DWARF number");
}

/* dwarf_form.c */
int abbrevs_load(struct dwarf *d, const struct dwarf_unit *u, uint64_t only_code,
		 struct dwarf_abbrevs *out);
void abbrevs_deinit(struct dwarf_abbrevs *a);
size_t abbrevs_memory(const struct dwarf_abbrevs *a);
const struct dwarf_abbrev *abbrevs_find(const struct dwarf_abbrevs *a, uint64_t code);
void value_skip(const struct dwarf_unit *u, struct reader *r, uint16_t form);
struct dwarf_value value_read(const struct dwarf_unit *u, struct reader *r, struct dwarf_attr attr);
const char *value_string(const struct dwarf *d, const struct dwarf_unit *u,
			 const struct dwarf_value *v);
bool value_address(const struct dwarf *d, const struct dwarf_unit *u, const struct dwarf_value *v,
		   uint64_t *out);
/* The DIE that a reference means; ORIGIN_ALT for one in the alternate file. 0: none. */
uint64_t value_ref(const struct dwarf_value *v);
struct reader section_reader(struct dwarf_section s, uint64_t offset);
uint64_t read_offset(struct reader *r, unsigned int size);

/* dwarf_unit.c */
int units_load(struct dwarf *d);
struct dwarf_unit *unit_at(struct dwarf *d, uint64_t vaddr);
struct dwarf_unit *unit_of_die(struct dwarf *d, uint64_t offset);
/* Reads the root DIE and all abbreviations. 0 or an error, which is remembered. */
int unit_load(struct dwarf *d, struct dwarf_unit *u);
void unit_flush(struct dwarf_unit *u);
/* A reader inside the unit at a DIE. */
struct reader unit_reader(const struct dwarf *d, const struct dwarf_unit *u, uint64_t offset);

/* dwarf_range.c */
int ranges_add(const struct dwarf *d, struct dwarf_ranges *list, uint64_t start, uint64_t end,
	       uint32_t tag);
/* The ranges that DW_AT_ranges means; what is no code of ours is left out. */
int ranges_read(struct dwarf *d, const struct dwarf_unit *u, const struct dwarf_value *v,
		uint32_t tag, struct dwarf_ranges *out);

/* dwarf_scope.c */
int scopes_load(struct dwarf *d, struct dwarf_unit *u);
/* Innermost scope at an address, or NULL. */
const struct dwarf_scope *scopes_find(const struct dwarf_unit *u, uint64_t vaddr);

/* dwarf_line.c */
int lines_load_rows(struct dwarf *d, struct dwarf_unit *u);
const struct dwarf_row *lines_find(const struct dwarf_unit *u, uint64_t vaddr);

/* dwarf_file.c */
/* The path of a file by its number in the line table, or NULL. Stays until the next flush. */
const char *lines_path(struct dwarf *d, struct dwarf_unit *u, uint64_t file);

/* dwarf_name.c */
/* Name and place of the function that a DIE is or stands for. NULL without memory. */
const struct function_info *function_info(struct dwarf *d, uint64_t origin);

#endif
