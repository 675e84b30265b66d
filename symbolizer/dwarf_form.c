// SPDX-License-Identifier: Apache-2.0
/* Abbreviations and attribute values (DWARF 5 sections 7.5.3 to 7.5.6). */
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "symbolizer/dwarf_unit.h"

struct reader section_reader(struct dwarf_section s, uint64_t offset)
{
	struct reader r;

	reader_init(&r, s.data, s.len);
	reader_seek(&r, offset, "DWARF section offset");
	return r;
}

uint64_t read_offset(struct reader *r, unsigned int size)
{
	switch (size) {
	case 1:
		return reader_u8(r, "DWARF value");
	case 2:
		return reader_u16(r, "DWARF value");
	case 3: {
		uint64_t low = reader_u16(r, "DWARF value");

		return low | (uint64_t)reader_u8(r, "DWARF value") << 16;
	}
	case 4:
		return reader_u32(r, "DWARF value");
	default:
		return reader_u64(r, "DWARF value");
	}
}

/* Bytes of a form, or -1 when they depend on the value. */
static int form_len(const struct dwarf_unit *u, uint16_t form)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
	case DW_FORM_ref_sup4:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	case DW_FORM_addr:
		return u->addr_size;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return u->offset_size;
	case DW_FORM_ref_addr:
		return u->version == 2 ? u->addr_size : u->offset_size;
	default:
		return -1;
	}
}

void abbrevs_deinit(struct dwarf_abbrevs *a)
{
	free(a->list);
	free(a->attrs);
	*a = (struct dwarf_abbrevs){ 0 };
}

size_t abbrevs_memory(const struct dwarf_abbrevs *a)
{
	return a->cap * sizeof(*a->list) + a->cap_attrs * sizeof(*a->attrs);
}

static int read_attrs(const struct dwarf_unit *u, struct reader *r, struct dwarf_abbrevs *a,
		      struct dwarf_abbrev *b)
{
	b->first = (uint32_t)a->n_attrs;
	b->n = 0;
	b->fixed_len = 0;
	while (!reader_error(r)) {
		uint64_t at = read_uleb(r), form = read_uleb(r);
		int64_t implicit =
			form == DW_FORM_implicit_const ? reader_sleb(r, "implicit constant") : 0;
		int len;

		if (!at && !form)
			break;
		if (form > UINT16_MAX)
			return reader_fail(r, -EBADMSG, "DWARF form");
		if (ARRAY_RESERVE(a->attrs, a->cap_attrs, a->n_attrs) < 0)
			return -ENOMEM;
		a->attrs[a->n_attrs++] = (struct dwarf_attr){ at > UINT16_MAX ? 0 : (uint16_t)at,
							      (uint16_t)form, (int32_t)implicit };
		b->n++;
		len = form_len(u, (uint16_t)form);
		b->fixed_len = len < 0 || b->fixed_len < 0 || b->fixed_len > INT32_MAX - 16
				       ? -1
				       : b->fixed_len + len;
	}
	return reader_error(r);
}

static int compare_codes(const void *a, const void *b)
{
	const struct dwarf_abbrev *x = a, *y = b;

	return x->code < y->code ? -1 : x->code > y->code;
}

/* They are kept as long as their unit: without the room they grew in. */
static void shrink(struct dwarf_abbrevs *a)
{
	void *list = realloc(a->list, a->n * sizeof(*a->list));
	void *attrs = realloc(a->attrs, a->n_attrs * sizeof(*a->attrs));

	if (list) {
		a->list = list;
		a->cap = a->n;
	}
	if (attrs) {
		a->attrs = attrs;
		a->cap_attrs = a->n_attrs;
	}
}

/* only_code 0 reads the whole table, else up to and with this code. */
int abbrevs_load(struct dwarf *d, const struct dwarf_unit *u, uint64_t only_code,
		 struct dwarf_abbrevs *out)
{
	struct reader r = section_reader(d->in.abbrev, u->abbrev_offset);
	struct dwarf_abbrevs a = { 0 };
	bool is_sorted = true;
	uint64_t code;
	int err = 0;

	if (!has_work(d))
		return -E2BIG;
	while (!err && !hurry_is_on() && (code = read_uleb(&r)) != 0) {
		struct dwarf_abbrev b = { .code = code };

		b.tag = (uint16_t)read_uleb(&r);
		b.has_children = reader_u8(&r, "abbreviation children");
		err = ARRAY_RESERVE(a.list, a.cap, a.n);
		if (!err)
			err = read_attrs(u, &r, &a, &b);
		if (err)
			break;
		is_sorted = is_sorted && (!a.n || a.list[a.n - 1].code < code);
		a.list[a.n++] = b;
		if (code == only_code)
			break;
	}
	d->work += reader_offset(&r) - (u->abbrev_offset < d->in.abbrev.len ? u->abbrev_offset : 0);
	if (!err)
		err = reader_error(&r);
	if (err < 0) {
		abbrevs_deinit(&a);
		return err;
	}
	if (!is_sorted)
		qsort(a.list, a.n, sizeof(*a.list), compare_codes);
	if (a.n && a.n_attrs)
		shrink(&a);
	*out = a;
	return 0;
}

const struct dwarf_abbrev *abbrevs_find(const struct dwarf_abbrevs *a, uint64_t code)
{
	struct dwarf_abbrev key = { .code = code };

	/* Compilers count from 1. */
	if (code - 1 < a->n && a->list[code - 1].code == code)
		return &a->list[code - 1];
	return a->n ? bsearch(&key, a->list, a->n, sizeof(*a->list), compare_codes) : NULL;
}

void value_skip(const struct dwarf_unit *u, struct reader *r, uint16_t form)
{
	int len = form_len(u, form);

	if (len >= 0) {
		reader_skip(r, (uint64_t)len, "attribute");
		return;
	}
	switch (form) {
	case DW_FORM_string:
		reader_string(r, "attribute");
		return;
	case DW_FORM_block1:
		reader_skip(r, reader_u8(r, "block"), "block");
		return;
	case DW_FORM_block2:
		reader_skip(r, reader_u16(r, "block"), "block");
		return;
	case DW_FORM_block4:
		reader_skip(r, reader_u32(r, "block"), "block");
		return;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		reader_skip(r, read_uleb(r), "block");
		return;
	case DW_FORM_sdata:
		reader_sleb(r, "attribute");
		return;
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		read_uleb(r);
		return;
	case DW_FORM_indirect:
		form = (uint16_t)read_uleb(r);
		if (form != DW_FORM_indirect && form != DW_FORM_implicit_const) {
			value_skip(u, r, form);
			return;
		}
		/* fallthrough */
	default:
		reader_fail(r, -EBADMSG, "DWARF form");
	}
}

static struct dwarf_value number(enum value_kind kind, uint64_t n)
{
	return (struct dwarf_value){ .kind = kind, .number = n };
}

struct dwarf_value value_read(const struct dwarf_unit *u, struct reader *r, struct dwarf_attr attr)
{
	int len = form_len(u, attr.form);

	switch (attr.form) {
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
	case DW_FORM_flag:
		return number(VALUE_NUMBER, read_offset(r, (unsigned int)len));
	case DW_FORM_udata:
		return number(VALUE_NUMBER, read_uleb(r));
	case DW_FORM_sdata:
		return number(VALUE_NUMBER, (uint64_t)reader_sleb(r, "attribute"));
	case DW_FORM_implicit_const:
		return number(VALUE_NUMBER, (uint64_t)(int64_t)attr.implicit);
	case DW_FORM_flag_present:
		return number(VALUE_NUMBER, 1);
	case DW_FORM_addr:
		return number(VALUE_ADDRESS, read_offset(r, (unsigned int)len));
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
		return number(VALUE_ADDRESS_INDEX, read_offset(r, (unsigned int)len));
	case DW_FORM_addrx:
		return number(VALUE_ADDRESS_INDEX, read_uleb(r));
	case DW_FORM_string:
		return (struct dwarf_value){ VALUE_STRING, 0, reader_string(r, "string") };
	case DW_FORM_strp:
		return number(VALUE_STRING_OFFSET, read_offset(r, (unsigned int)len));
	case DW_FORM_line_strp:
		return number(VALUE_LINE_STRING, read_offset(r, (unsigned int)len));
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
		return number(VALUE_STRING_INDEX, read_offset(r, (unsigned int)len));
	case DW_FORM_strx:
		return number(VALUE_STRING_INDEX, read_uleb(r));
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
		return number(VALUE_ALT_STRING, read_offset(r, (unsigned int)len));
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
		return number(VALUE_REF, u->offset + read_offset(r, (unsigned int)len));
	case DW_FORM_ref_udata:
		return number(VALUE_REF, u->offset + read_uleb(r));
	case DW_FORM_ref_addr:
		return number(VALUE_REF, read_offset(r, (unsigned int)len));
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
	case DW_FORM_GNU_ref_alt:
		return number(VALUE_ALT_REF, read_offset(r, (unsigned int)len));
	case DW_FORM_sec_offset:
		return number(VALUE_OFFSET, read_offset(r, (unsigned int)len));
	case DW_FORM_rnglistx:
		return number(VALUE_LIST_INDEX, read_uleb(r));
	default:
		value_skip(u, r, attr.form);
		return number(VALUE_OTHER, 0);
	}
}

/* A string that ends inside its section. */
static const char *string_at(struct dwarf_section s, uint64_t offset)
{
	struct reader r = section_reader(s, offset);

	return reader_string(&r, "DWARF string");
}

const char *value_string(const struct dwarf *d, const struct dwarf_unit *u,
			 const struct dwarf_value *v)
{
	struct reader r;
	uint64_t at;

	switch (v->kind) {
	case VALUE_STRING:
		return v->string;
	case VALUE_STRING_OFFSET:
		return string_at(d->in.str, v->number);
	case VALUE_LINE_STRING:
		return string_at(d->in.line_str, v->number);
	case VALUE_ALT_STRING:
		return d->in.alt ? string_at(d->in.alt->in.str, v->number) : NULL;
	case VALUE_STRING_INDEX:
		if (__builtin_mul_overflow(v->number, u->offset_size, &at) ||
		    __builtin_add_overflow(at, u->str_offsets_base, &at))
			return NULL;
		r = section_reader(d->in.str_offsets, at);
		at = read_offset(&r, u->offset_size);
		return reader_error(&r) ? NULL : string_at(d->in.str, at);
	default:
		return NULL;
	}
}

bool value_address(const struct dwarf *d, const struct dwarf_unit *u, const struct dwarf_value *v,
		   uint64_t *out)
{
	struct reader r;
	uint64_t at;

	if (v->kind == VALUE_ADDRESS) {
		*out = v->number;
		return true;
	}
	if (v->kind != VALUE_ADDRESS_INDEX ||
	    __builtin_mul_overflow(v->number, u->addr_size, &at) ||
	    __builtin_add_overflow(at, u->addr_base, &at))
		return false;
	r = section_reader(d->in.addr, at);
	at = read_offset(&r, u->addr_size);
	if (reader_error(&r))
		return false;
	*out = at;
	return true;
}

uint64_t value_ref(const struct dwarf_value *v)
{
	if (v->number & ORIGIN_ALT)
		return 0;
	return v->kind == VALUE_REF	  ? v->number
	       : v->kind == VALUE_ALT_REF ? v->number | ORIGIN_ALT
					  : 0;
}
