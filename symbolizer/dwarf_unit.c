// SPDX-License-Identifier: Apache-2.0
/* The list of units, their root DIEs, and the map from code to unit (DWARF 5 sections 7.5.1
 * and 3.1). */
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/dwarf_unit.h"

#include "core/array.h"

#define MAX_UNITS (1 << 20)
#define MAX_OVERLAP 32 /* ranges looked at backwards from an address */

struct reader unit_reader(const struct dwarf *d, const struct dwarf_unit *u, uint64_t offset)
{
	struct reader r;

	/* Ends with the unit; offsets are still those of the section. */
	reader_init(&r, d->in.info.data, u->end);
	if (offset < u->first_die)
		reader_fail(&r, -EBADMSG, "DIE offset");
	reader_seek(&r, offset, "DIE offset");
	return r;
}

static int read_unit_header(struct reader *r, struct dwarf_unit *u)
{
	uint64_t len;

	u->offset = reader_offset(r);
	u->offset_size = 4;
	len = reader_u32(r, "unit length");
	if (len == UINT32_MAX) {
		u->offset_size = 8;
		len = reader_u64(r, "unit length");
	} else if (len >= 0xfffffff0) {
		return reader_fail(r, -EBADMSG, "unit length");
	}
	if (len > reader_left(r))
		return reader_fail(r, -EBADMSG, "unit length");
	u->end = reader_offset(r) + len;
	u->version = (uint8_t)reader_u16(r, "unit version");
	u->type = DW_UT_compile;
	if (u->version >= 5) {
		u->type = reader_u8(r, "unit type");
		u->addr_size = reader_u8(r, "address size");
		u->abbrev_offset = read_offset(r, u->offset_size);
		if (u->type == DW_UT_skeleton || u->type == DW_UT_split_compile)
			reader_u64(r, "unit id");
	} else {
		u->abbrev_offset = read_offset(r, u->offset_size);
		u->addr_size = reader_u8(r, "address size");
	}
	u->first_die = reader_offset(r);
	return reader_error(r);
}

static bool is_supported(const struct dwarf_unit *u)
{
	return u->version >= 2 && u->version <= 5 && (u->addr_size == 8 || u->addr_size == 4) &&
	       u->first_die < u->end && u->type != DW_UT_type && u->type != DW_UT_split_type;
}

static int list_units(struct dwarf *d)
{
	struct reader r = section_reader(d->in.info, 0);

	/* Units that are passed over count, too: a large file of zeros is full of empty ones. */
	for (size_t n = 0; !reader_at_end(&r) && n < MAX_UNITS && has_work(d); n++) {
		struct dwarf_unit u = { 0 };

		if (read_unit_header(&r, &u) < 0)
			break; /* the units before it are good */
		reader_seek(&r, u.end, "next unit");
		if (!is_supported(&u))
			continue;
		if (ARRAY_RESERVE(d->units, d->cap_units, d->n_units) < 0)
			return -ENOMEM;
		d->units[d->n_units++] = u;
	}
	return d->n_units || d->in.is_alt ? 0 : -ENOENT;
}

/* Values of the root that can be understood only when all bases are known. */
struct root {
	struct dwarf_value low_pc, high_pc, comp_dir;
	uint64_t language;
};

static void root_attr(struct dwarf_unit *u, struct root *root, uint16_t at,
		      const struct dwarf_value *v)
{
	switch (at) {
	case DW_AT_low_pc:
		root->low_pc = *v;
		break;
	case DW_AT_high_pc:
		root->high_pc = *v;
		break;
	case DW_AT_comp_dir:
		root->comp_dir = *v;
		break;
	case DW_AT_language:
		root->language = v->number;
		break;
	case DW_AT_ranges:
		u->ranges = *v;
		u->has_ranges = true;
		break;
	case DW_AT_stmt_list:
		u->line_offset = v->number;
		u->has_lines = v->kind == VALUE_OFFSET || v->kind == VALUE_NUMBER;
		break;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		u->addr_base = v->number;
		break;
	case DW_AT_str_offsets_base:
		u->str_offsets_base = v->number;
		break;
	case DW_AT_rnglists_base:
		u->rnglists_base = v->number;
		break;
	}
}

static bool is_c_like(uint64_t language)
{
	return language == DW_LANG_C || language == DW_LANG_C89 || language == DW_LANG_C99 ||
	       language == DW_LANG_C11 || language == DW_LANG_Mips_Assembler;
}

static void finish_root(const struct dwarf *d, struct dwarf_unit *u, const struct root *root)
{
	u->low_pc = u->high_pc = 0;
	if (value_address(d, u, &root->low_pc, &u->low_pc) &&
	    !value_address(d, u, &root->high_pc, &u->high_pc) && root->high_pc.kind == VALUE_NUMBER)
		u->high_pc = u->low_pc + root->high_pc.number;
	u->comp_dir = value_string(d, u, &root->comp_dir);
	u->is_c = is_c_like(root->language);
}

static int read_root(const struct dwarf *d, struct dwarf_unit *u,
		     const struct dwarf_abbrevs *abbrevs)
{
	struct reader r = unit_reader(d, u, u->first_die);
	const struct dwarf_abbrev *b = abbrevs_find(abbrevs, read_uleb(&r));
	struct root root = { 0 };

	if (!b)
		return -EBADMSG;
	u->has_ranges = u->has_lines = false;
	/* Bases of units that do not name them: behind the header of the section's first table. */
	u->str_offsets_base = u->offset_size == 8 ? 16 : 8;
	u->addr_base = u->version >= 5 ? (u->offset_size == 8 ? 16 : 8) : 0;
	u->rnglists_base = u->offset_size == 8 ? 20 : 12;
	for (uint32_t i = 0; i < b->n; i++) {
		struct dwarf_attr attr = abbrevs->attrs[b->first + i];
		struct dwarf_value v = value_read(u, &r, attr);

		root_attr(u, &root, attr.at, &v);
	}
	finish_root(d, u, &root);
	return reader_error(&r);
}

int unit_load(struct dwarf *d, struct dwarf_unit *u)
{
	if (u->is_bad)
		return -EBADMSG;
	if (u->is_loaded)
		return 0;
	if (abbrevs_load(d, u, 0, &u->abbrevs) < 0 || read_root(d, u, &u->abbrevs) < 0) {
		u->is_bad = true;
		return -EBADMSG;
	}
	u->is_loaded = true;
	d->memory += abbrevs_memory(&u->abbrevs);
	return 0;
}

void unit_flush(struct dwarf_unit *u)
{
	abbrevs_deinit(&u->abbrevs);
	free(u->files);
	free(u->rows);
	free(u->scopes);
	free(u->intervals);
	u->files = NULL;
	u->rows = NULL;
	u->scopes = NULL;
	u->intervals = NULL;
	u->n_files = u->n_rows = u->n_scopes = u->n_intervals = 0;
	u->is_loaded = u->has_files = u->has_rows = u->has_scopes = false;
}

/* Adds the code of one unit to the map. Only the abbreviation of its root is looked at. */
static int map_unit(struct dwarf *d, struct dwarf_unit *u, uint32_t index)
{
	struct reader r = unit_reader(d, u, u->first_die);
	uint64_t code = read_uleb(&r);
	struct dwarf_abbrevs abbrevs;
	int err;

	if (!code || abbrevs_load(d, u, code, &abbrevs) < 0)
		return 0;
	err = read_root(d, u, &abbrevs);
	abbrevs_deinit(&abbrevs);
	if (err < 0)
		return 0; /* damaged: costs this unit */
	if (u->has_ranges)
		return ranges_read(d, u, &u->ranges, index, &d->map) == -ENOMEM ? -ENOMEM : 0;
	return ranges_add(d, &d->map, u->low_pc, u->high_pc, index);
}

static int compare_ranges(const void *a, const void *b)
{
	const struct dwarf_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

int units_load(struct dwarf *d)
{
	struct dwarf_range *exact;
	int err = list_units(d);

	for (size_t i = 0; !err && i < d->n_units && !hurry_is_on(); i++)
		err = map_unit(d, &d->units[i], (uint32_t)i);
	if (err < 0)
		return err;
	if (d->map.n)
		qsort(d->map.list, d->map.n, sizeof(*d->map.list), compare_ranges);
	exact = d->map.n ? realloc(d->map.list, d->map.n * sizeof(*exact)) : NULL;
	if (exact) {
		d->map.list = exact;
		d->map.cap = d->map.n;
	}
	return 0;
}

struct dwarf_unit *unit_at(struct dwarf *d, uint64_t vaddr)
{
	size_t lo = ARRAY_COUNT_UP_TO(d->map.list, d->map.n, start, vaddr);

	for (size_t i = lo; i-- > 0 && lo - i <= MAX_OVERLAP;)
		if (vaddr < d->map.list[i].end)
			return &d->units[d->map.list[i].tag];
	return NULL;
}

struct dwarf_unit *unit_of_die(struct dwarf *d, uint64_t offset)
{
	size_t lo = ARRAY_COUNT_UP_TO(d->units, d->n_units, offset, offset);

	return lo && offset < d->units[lo - 1].end ? &d->units[lo - 1] : NULL;
}
