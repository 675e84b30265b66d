// SPDX-License-Identifier: Apache-2.0
/*
 * The scopes of a unit: its subprograms and inlined calls as a flat list of intervals, each with
 * its innermost scope, from one pass over the unit's DIEs (DWARF 5 sections 3.3.3 and 3.3.8).
 */
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/dwarf_unit.h"

#include "core/array.h"

#define MAX_DIE_DEPTH 256
#define MAX_SCOPE_DEPTH 200
#define MAX_SCOPES (1 << 20)

struct builder {
	struct dwarf *d;
	struct dwarf_unit *u;
	struct dwarf_scope *scopes;
	size_t n_scopes, cap_scopes;
	struct dwarf_ranges ranges;	/* tag: index of the scope */
	uint32_t levels[MAX_DIE_DEPTH]; /* scope + 1 that the children at each depth belong to */
};

struct scope_attrs {
	struct dwarf_value low_pc, high_pc, ranges, origin;
	uint64_t call_file, call_line, call_column;
};

static void read_attrs(const struct builder *b, struct reader *r, const struct dwarf_abbrev *abbrev,
		       struct scope_attrs *out)
{
	*out = (struct scope_attrs){ 0 };
	for (uint32_t i = 0; i < abbrev->n; i++) {
		struct dwarf_attr attr = b->u->abbrevs.attrs[abbrev->first + i];

		switch (attr.at) {
		case DW_AT_low_pc:
			out->low_pc = value_read(b->u, r, attr);
			break;
		case DW_AT_high_pc:
			out->high_pc = value_read(b->u, r, attr);
			break;
		case DW_AT_ranges:
			out->ranges = value_read(b->u, r, attr);
			break;
		case DW_AT_abstract_origin:
			out->origin = value_read(b->u, r, attr);
			break;
		case DW_AT_call_file:
			out->call_file = value_read(b->u, r, attr).number;
			break;
		case DW_AT_call_line:
			out->call_line = value_read(b->u, r, attr).number;
			break;
		case DW_AT_call_column:
			out->call_column = value_read(b->u, r, attr).number;
			break;
		default:
			value_skip(b->u, r, attr.form);
		}
	}
}

/* Adds the code of a DIE under a tag; 1 when there is any. */
static int add_code(struct builder *b, const struct scope_attrs *a, uint32_t tag)
{
	size_t before = b->ranges.n;
	uint64_t low, high;
	int err;

	if (a->ranges.kind != VALUE_NONE) {
		err = ranges_read(b->d, b->u, &a->ranges, tag, &b->ranges);
	} else {
		if (!value_address(b->d, b->u, &a->low_pc, &low))
			return 0;
		if (!value_address(b->d, b->u, &a->high_pc, &high)) {
			if (a->high_pc.kind != VALUE_NUMBER)
				return 0;
			high = low + a->high_pc.number;
		}
		err = ranges_add(b->d, &b->ranges, low, high, tag);
	}
	if (err == -ENOMEM || err == -E2BIG)
		return err;
	return b->ranges.n > before;
}

static uint16_t clip16(uint64_t n)
{
	return n < UINT16_MAX ? (uint16_t)n : 0;
}

/* A DIE with code becomes a scope; *level is what its children belong to. */
static int add_scope(struct builder *b, struct reader *r, const struct dwarf_abbrev *abbrev,
		     uint64_t offset, uint32_t *level)
{
	bool is_inlined = abbrev->tag == DW_TAG_inlined_subroutine;
	struct dwarf_scope s = { .origin = offset, .parent = is_inlined ? *level : 0 };
	struct scope_attrs a;
	int n;

	read_attrs(b, r, abbrev, &a);
	if (reader_error(r) || b->n_scopes >= MAX_SCOPES)
		return reader_error(r) ? reader_error(r) : -E2BIG;
	if (is_inlined && !(s.origin = value_ref(&a.origin)))
		return 0;
	n = add_code(b, &a, (uint32_t)b->n_scopes);
	if (n <= 0) {
		/* Nothing in a function without code is code of the function around it. */
		if (!is_inlined)
			*level = 0;
		return n;
	}
	s.call_line = a.call_line < UINT32_MAX ? (uint32_t)a.call_line : 0;
	s.call_file = clip16(a.call_file);
	s.call_column = clip16(a.call_column);
	s.depth = s.parent ? (uint16_t)(b->scopes[s.parent - 1].depth + 1) : 0;
	if (s.depth > MAX_SCOPE_DEPTH)
		return -E2BIG;
	if (ARRAY_RESERVE(b->scopes, b->cap_scopes, b->n_scopes) < 0)
		return -ENOMEM;
	b->scopes[b->n_scopes++] = s;
	*level = (uint32_t)b->n_scopes;
	return 0;
}

static void skip_attrs(const struct builder *b, struct reader *r, const struct dwarf_abbrev *abbrev)
{
	if (abbrev->fixed_len >= 0) {
		reader_skip(r, (uint64_t)abbrev->fixed_len, "attributes");
		return;
	}
	for (uint32_t i = 0; i < abbrev->n; i++)
		value_skip(b->u, r, b->u->abbrevs.attrs[abbrev->first + i].form);
}

/* All DIEs in their order in the file, which is parents before children. */
static int walk(struct builder *b)
{
	struct reader r = unit_reader(b->d, b->u, b->u->first_die);
	size_t depth = 0;
	int err = 0;

	while (!err && !reader_at_end(&r) && !hurry_is_on()) {
		uint64_t offset = reader_offset(&r), code = read_uleb(&r);
		const struct dwarf_abbrev *abbrev =
			code ? abbrevs_find(&b->u->abbrevs, code) : NULL;
		uint32_t level = b->levels[depth];

		if (!code) {
			if (depth-- <= 1)
				break;
			continue;
		}
		if (!abbrev)
			return -EBADMSG;
		if (abbrev->tag == DW_TAG_subprogram || abbrev->tag == DW_TAG_inlined_subroutine)
			err = add_scope(b, &r, abbrev, offset, &level);
		else
			skip_attrs(b, &r, abbrev);
		if (!abbrev->has_children) {
			if (!depth)
				break;
			continue;
		}
		if (++depth >= MAX_DIE_DEPTH)
			return -E2BIG;
		b->levels[depth] = level;
	}
	return err ? err : reader_error(&r);
}

/* By start; of those that start together the outer one first. */
static int compare_ranges(const void *a, const void *b, void *scopes)
{
	const struct dwarf_range *x = a, *y = b;
	const struct dwarf_scope *list = scopes;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (list[x->tag].depth != list[y->tag].depth)
		return list[x->tag].depth < list[y->tag].depth ? -1 : 1;
	return x->tag < y->tag ? -1 : x->tag > y->tag;
}

struct open_range {
	uint64_t end;
	uint32_t scope; /* + 1 */
};

struct flattener {
	struct dwarf_unit *u;
	struct open_range stack[MAX_SCOPE_DEPTH + 2];
	size_t n;
	uint32_t root; /* the subprogram that is open, + 1 */
};

static void emit(struct dwarf_unit *u, uint64_t addr, uint32_t scope)
{
	struct dwarf_interval *last = u->n_intervals ? &u->intervals[u->n_intervals - 1] : NULL;

	if (last && last->addr == addr - u->base)
		last->scope = scope;
	else if (!last || last->scope != scope)
		u->intervals[u->n_intervals++] =
			(struct dwarf_interval){ (uint32_t)(addr - u->base), scope };
}

static void close_until(struct flattener *f, uint64_t addr)
{
	while (f->n && f->stack[f->n - 1].end <= addr) {
		uint64_t end = f->stack[--f->n].end;

		emit(f->u, end, f->n ? f->stack[f->n - 1].scope : 0);
	}
}

static uint32_t root_of(const struct builder *b, uint32_t scope)
{
	while (b->scopes[scope].parent)
		scope = b->scopes[scope].parent - 1;
	return scope;
}

static void flatten_one(struct flattener *f, const struct builder *b,
			const struct dwarf_range *range)
{
	uint64_t end = range->end;

	close_until(f, range->start);
	if (!f->n) {
		f->root = root_of(b, range->tag) + 1;
	} else {
		/* Two subprograms at one place were folded into one: the first names it. */
		if (root_of(b, range->tag) + 1 != f->root)
			return;
		if (end > f->stack[f->n - 1].end)
			end = f->stack[f->n - 1].end;
	}
	if (f->n == sizeof(f->stack) / sizeof(*f->stack))
		return;
	emit(f->u, range->start, range->tag + 1);
	f->stack[f->n++] = (struct open_range){ end, range->tag + 1 };
}

/* Nested ranges to a list without overlaps. Each range has at most one start and one end in it. */
static int flatten(struct builder *b)
{
	struct flattener f = { .u = b->u };
	struct dwarf_unit *u = b->u;
	struct dwarf_interval *exact;

	if (!b->ranges.n)
		return 0;
	qsort_r(b->ranges.list, b->ranges.n, sizeof(*b->ranges.list), compare_ranges, b->scopes);
	u->base = b->ranges.list[0].start;
	u->intervals = calloc(2 * b->ranges.n, sizeof(*u->intervals));
	if (!u->intervals)
		return -ENOMEM;
	for (size_t i = 0; i < b->ranges.n; i++)
		if (b->ranges.list[i].end - u->base < UINT32_MAX)
			flatten_one(&f, b, &b->ranges.list[i]);
	close_until(&f, UINT64_MAX);
	exact = u->n_intervals ? realloc(u->intervals, u->n_intervals * sizeof(*exact)) : NULL;
	if (exact)
		u->intervals = exact;
	return 0;
}

int scopes_load(struct dwarf *d, struct dwarf_unit *u)
{
	struct builder *b;
	int err;

	if (u->has_scopes)
		return 0;
	u->has_scopes = true;
	if (unit_load(d, u) < 0)
		return -EBADMSG;
	b = calloc(1, sizeof(*b));
	if (!b)
		return -ENOMEM;
	b->d = d;
	b->u = u;
	d->work += u->end - u->offset;
	/* What was found before an error is good: a damaged DIE costs those behind it. */
	err = walk(b);
	if (flatten(b) < 0)
		err = -ENOMEM;
	u->scopes = b->scopes;
	u->n_scopes = (uint32_t)b->n_scopes;
	d->memory += b->cap_scopes * sizeof(*b->scopes) + u->n_intervals * sizeof(*u->intervals);
	free(b->ranges.list);
	free(b);
	return err;
}

const struct dwarf_scope *scopes_find(const struct dwarf_unit *u, uint64_t vaddr)
{
	size_t lo;

	if (vaddr < u->base || vaddr - u->base > UINT32_MAX)
		return NULL;
	lo = ARRAY_COUNT_UP_TO(u->intervals, u->n_intervals, addr, vaddr - u->base);
	return lo && u->intervals[lo - 1].scope ? &u->scopes[u->intervals[lo - 1].scope - 1] : NULL;
}
