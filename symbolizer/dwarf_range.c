// SPDX-License-Identifier: Apache-2.0
/* Range lists: .debug_ranges before DWARF 5, .debug_rnglists since (sections 2.17.3 and 7.25). */
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "symbolizer/dwarf_unit.h"

#include "core/array.h"

#define MAX_RANGES (1 << 20) /* of one unit, or of all units in the map */
#define PADDING 16	     /* functions are aligned to it; closer ranges become one */

int ranges_add(const struct dwarf *d, struct dwarf_ranges *list, uint64_t start, uint64_t end,
	       uint32_t tag)
{
	struct dwarf_range *last = list->n ? &list->list[list->n - 1] : NULL;

	if (start >= end || start < d->in.text_start || end > d->in.text_end)
		return 0;
	if (last && last->tag == tag && list == &d->map && start >= last->end &&
	    start - last->end < PADDING) {
		last->end = end;
		return 0;
	}
	if (list->n >= MAX_RANGES)
		return -E2BIG;
	if (ARRAY_RESERVE(list->list, list->cap, list->n) < 0)
		return -ENOMEM;
	list->list[list->n++] = (struct dwarf_range){ start, end, tag };
	return 0;
}

/* What has been read of a list, in bytes; -E2BIG when all work is spent. */
static int count_work(struct dwarf *d, const struct reader *r, uint64_t offset)
{
	d->work += reader_offset(r) > offset ? reader_offset(r) - offset : 1;
	return has_work(d) ? 0 : -E2BIG;
}

static int read_old_list(struct dwarf *d, const struct dwarf_unit *u, uint64_t offset, uint32_t tag,
			 struct dwarf_ranges *out)
{
	struct reader r = section_reader(d->in.ranges, offset);
	uint64_t base = u->low_pc, select = u->addr_size == 8 ? UINT64_MAX : UINT32_MAX;
	int err = 0;

	while (!err && !reader_at_end(&r) && !hurry_is_on()) {
		uint64_t start = read_offset(&r, u->addr_size), end = read_offset(&r, u->addr_size);

		if (reader_error(&r) || (!start && !end))
			break;
		if (start == select)
			base = end;
		else
			err = ranges_add(d, out, base + start, base + end, tag);
	}
	return err ? err : count_work(d, &r, offset);
}

/* An address by its index in .debug_addr; 0, which is no code, when there is none. */
static uint64_t indexed(const struct dwarf *d, const struct dwarf_unit *u, struct reader *r)
{
	struct dwarf_value v = { .kind = VALUE_ADDRESS_INDEX, .number = read_uleb(r) };
	uint64_t addr = 0;

	value_address(d, u, &v, &addr);
	return addr;
}

/* One entry of a list; *end is 0 for one that only sets the base. False at the end. */
static bool read_entry(const struct dwarf *d, const struct dwarf_unit *u, struct reader *r,
		       uint64_t *base, uint64_t *start, uint64_t *end)
{
	*start = *end = 0;
	switch (reader_u8(r, "range list entry")) {
	case DW_RLE_base_addressx:
		*base = indexed(d, u, r);
		return true;
	case DW_RLE_base_address:
		*base = read_offset(r, u->addr_size);
		return true;
	case DW_RLE_startx_endx:
		*start = indexed(d, u, r);
		*end = indexed(d, u, r);
		return true;
	case DW_RLE_startx_length:
		*start = indexed(d, u, r);
		*end = *start + read_uleb(r);
		return true;
	case DW_RLE_offset_pair:
		*start = *base + read_uleb(r);
		*end = *base + read_uleb(r);
		return true;
	case DW_RLE_start_end:
		*start = read_offset(r, u->addr_size);
		*end = read_offset(r, u->addr_size);
		return true;
	case DW_RLE_start_length:
		*start = read_offset(r, u->addr_size);
		*end = *start + read_uleb(r);
		return true;
	default: /* DW_RLE_end_of_list, and what nobody knows */
		return false;
	}
}

static int read_new_list(struct dwarf *d, const struct dwarf_unit *u, uint64_t offset, uint32_t tag,
			 struct dwarf_ranges *out)
{
	struct reader r = section_reader(d->in.rnglists, offset);
	uint64_t base = u->low_pc, start, end;
	int err = 0;

	while (!err && read_entry(d, u, &r, &base, &start, &end))
		if (end && !reader_error(&r))
			err = ranges_add(d, out, start, end, tag);
	return err ? err : count_work(d, &r, offset);
}

int ranges_read(struct dwarf *d, const struct dwarf_unit *u, const struct dwarf_value *v,
		uint32_t tag, struct dwarf_ranges *out)
{
	uint64_t offset = v->number;

	if (v->kind == VALUE_LIST_INDEX) {
		struct reader r;

		if (__builtin_mul_overflow(offset, u->offset_size, &offset) ||
		    __builtin_add_overflow(offset, u->rnglists_base, &offset))
			return -EBADMSG;
		r = section_reader(d->in.rnglists, offset);
		offset = u->rnglists_base + read_offset(&r, u->offset_size);
		if (reader_error(&r))
			return -EBADMSG;
	} else if (v->kind != VALUE_OFFSET && v->kind != VALUE_NUMBER) {
		return -EBADMSG;
	}
	return u->version >= 5 ? read_new_list(d, u, offset, tag, out)
			       : read_old_list(d, u, offset, tag, out);
}
