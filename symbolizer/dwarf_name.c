// SPDX-License-Identifier: Apache-2.0
/* Names of functions: along abstract origins and specifications (DWARF 5 sections 3.3.8
 * and 2.13.2). */
#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/intern.h"
#include "symbolizer/dwarf_unit.h"

#define MAX_HOPS 8
#define MAX_QUALIFIERS 64 /* nesting of namespaces and classes that is followed */
#define MAX_QUALIFIED 4096

struct name_attrs {
	const char *name, *linkage_name;
	uint64_t file, line, next; /* next: DIE that says the rest */
	bool has_file;
};

/* A reference out of the file that a DIE is in: within the alternate file it stays there. */
static uint64_t ref_from(const struct dwarf_value *v, bool is_alt)
{
	uint64_t ref = value_ref(v);

	return is_alt && ref ? ref | ORIGIN_ALT : ref;
}

static int read_die(struct dwarf *d, struct dwarf_unit *u, uint64_t offset, bool is_alt,
		    struct name_attrs *out)
{
	struct reader r;
	const struct dwarf_abbrev *b;

	*out = (struct name_attrs){ 0 };
	if (unit_load(d, u) < 0)
		return -EBADMSG;
	r = unit_reader(d, u, offset);
	b = abbrevs_find(&u->abbrevs, read_uleb(&r));
	for (uint32_t i = 0; b && i < b->n; i++) {
		struct dwarf_attr attr = u->abbrevs.attrs[b->first + i];
		struct dwarf_value v = value_read(u, &r, attr);

		if (attr.at == DW_AT_name) {
			out->name = value_string(d, u, &v);
		} else if (attr.at == DW_AT_linkage_name || attr.at == DW_AT_MIPS_linkage_name) {
			out->linkage_name = value_string(d, u, &v);
		} else if (attr.at == DW_AT_decl_file) {
			out->file = v.number;
			out->has_file = true;
		} else if (attr.at == DW_AT_decl_line) {
			out->line = v.number;
		} else if (attr.at == DW_AT_abstract_origin || attr.at == DW_AT_specification) {
			out->next = ref_from(&v, is_alt);
		}
	}
	return b ? reader_error(&r) : -EBADMSG;
}

static bool is_qualifier(uint16_t tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_module ||
	       tag == DW_TAG_interface_type;
}

/* One step of the search for the DIE at target: the name of the DIE at r and where its sibling is.
 */
static void read_qualifier(const struct dwarf *d, const struct dwarf_unit *u, struct reader *r,
			   const struct dwarf_abbrev *b, const char **name, uint64_t *sibling)
{
	*name = NULL;
	*sibling = 0;
	for (uint32_t i = 0; i < b->n; i++) {
		struct dwarf_attr attr = u->abbrevs.attrs[b->first + i];
		struct dwarf_value v = value_read(u, r, attr);

		if (attr.at == DW_AT_sibling)
			*sibling = value_ref(&v);
		else if (attr.at == DW_AT_name && is_qualifier(b->tag))
			*name = value_string(d, u, &v);
	}
	if (!*name && is_qualifier(b->tag))
		*name = b->tag == DW_TAG_namespace ? "(anonymous namespace)" : "(anonymous)";
}

/* Names of the DIEs around target, outermost first. Returns how many; 0 also when it is not found.
 */
static size_t find_qualifiers(struct dwarf *d, const struct dwarf_unit *u, uint64_t target,
			      const char **names)
{
	struct reader r = unit_reader(d, u, u->first_die);
	size_t depth = 0, n = 0;

	d->work += target - u->first_die;
	while (!reader_at_end(&r) && reader_offset(&r) < target && has_work(d)) {
		const struct dwarf_abbrev *b = abbrevs_find(&u->abbrevs, read_uleb(&r));
		const char *name;
		uint64_t sibling;

		if (!b) { /* the end of the children */
			if (!depth)
				return 0;
			depth--;
			continue;
		}
		read_qualifier(d, u, &r, b, &name, &sibling);
		if (!b->has_children)
			continue;
		if (sibling > reader_offset(&r) && sibling <= target && depth) {
			reader_seek(&r, sibling, "sibling");
			continue;
		}
		if (depth >= MAX_QUALIFIERS)
			return 0;
		names[depth++] = name;
	}
	if (reader_offset(&r) != target)
		return 0;
	for (size_t i = 0; i < depth; i++)
		if (names[i])
			names[n++] = names[i];
	return n;
}

static const char *qualify(struct dwarf *d, const struct dwarf_unit *u, uint64_t offset,
			   const char *name)
{
	const char *qualifiers[MAX_QUALIFIERS];
	char whole[MAX_QUALIFIED];
	size_t n = find_qualifiers(d, u, offset, qualifiers), len = 0;
	const char *kept;

	if (!n)
		return name;
	for (size_t i = 0; i < n && len < sizeof(whole); i++)
		len += (size_t)snprintf(whole + len, sizeof(whole) - len, "%s::", qualifiers[i]);
	if (len < sizeof(whole))
		len += (size_t)snprintf(whole + len, sizeof(whole) - len, "%s", name);
	if (len >= sizeof(whole))
		return name;
	kept = intern_get(d->strings, intern_add(d->strings, whole, len), NULL);
	return kept ? kept : name;
}

static void resolve(struct dwarf *d, struct function_info *info)
{
	uint64_t at = info->origin;
	struct name_attrs a;

	for (int hop = 0; at && hop < MAX_HOPS; hop++, at = a.next) {
		bool is_alt = at & ORIGIN_ALT;
		struct dwarf *home = is_alt ? d->in.alt : d;
		struct dwarf_unit *u = home ? unit_of_die(home, at & ~ORIGIN_ALT) : NULL;

		if (!u || read_die(home, u, at & ~ORIGIN_ALT, is_alt, &a) < 0)
			break;
		if (a.linkage_name && !info->has_linkage_name) {
			info->linkage_name = a.linkage_name;
			info->has_linkage_name = true;
		}
		if (a.name && !info->name) {
			info->name = a.name;
			if (!info->has_linkage_name) {
				info->linkage_name = a.name;
				if (!u->is_c && !a.linkage_name && !a.next)
					info->name = qualify(home, u, at & ~ORIGIN_ALT, a.name);
			}
		}
		if (a.has_file && !info->file)
			info->file = lines_path(home, u, a.file);
		if (a.line && !info->line && a.line < UINT32_MAX)
			info->line = (uint32_t)a.line;
	}
}

static struct function_info *slot_of(struct function_info *list, size_t cap, uint64_t origin)
{
	uint64_t h = origin * UINT64_C(0x9e3779b97f4a7c15);

	for (uint64_t i = h ^ h >> 29;; i++) {
		struct function_info *f = &list[i & (cap - 1)];

		if (!f->origin || f->origin == origin)
			return f;
	}
}

static int grow(struct dwarf *d)
{
	size_t cap = d->cap_functions ? d->cap_functions * 2 : 256;
	struct function_info *list;

	if (d->n_functions < d->cap_functions / 4 * 3)
		return 0;
	list = calloc(cap, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < d->cap_functions; i++)
		if (d->functions[i].origin)
			*slot_of(list, cap, d->functions[i].origin) = d->functions[i];
	free(d->functions);
	d->functions = list;
	d->cap_functions = cap;
	return 0;
}

const struct function_info *function_info(struct dwarf *d, uint64_t origin)
{
	struct function_info *f;

	if (grow(d) < 0)
		return NULL;
	f = slot_of(d->functions, d->cap_functions, origin);
	if (f->origin)
		return f;
	f->origin = origin;
	d->n_functions++;
	resolve(d, f);
	return f;
}
