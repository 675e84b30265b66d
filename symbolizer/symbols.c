// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/symbols.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/filemap.h"
#include "core/profile.h"
#include "symbolizer/dwarf.h"
#include "symbolizer/function_range.h"
#include "symbolizer/minidebug.h"
#include "symbolizer/object.h"
#include "symbolizer/plt.h"
#include "symbolizer/symtab.h"

#define MAX_FOLDED 3 /* names shown of functions that share their code with another */
#define MAX_NAME 4096
#define MAX_MINIDEBUG (128 << 20) /* with the dictionary */
#define N_DWARF_SECTIONS 9

enum table { TABLE_SYMTAB, TABLE_DEBUG_FILE, TABLE_MINIDEBUG, TABLE_DYNSYM, N_TABLES };

struct unpacked { /* the DWARF of one file, with its sections */
	struct dwarf *dwarf;
	struct elf_bytes sections[N_DWARF_SECTIONS];
};

struct symbols {
	struct symtab *tables[N_TABLES];
	bool is_spent, is_short;
	bool is_whole; /* a table has the private functions too */
	struct function_ranges ranges;
	struct plt *plt;
	struct unpacked main, alt;
	struct debug_file alt_file;
	void *minidebug;
	size_t minidebug_len;
	struct elf_file minidebug_elf;
	struct elf_room *room;
	uint64_t memory_cap;
	char source[256];
	char name[MAX_NAME], cut_name[MAX_NAME]; /* of the last answer */
};

static void text_bounds(const struct elf_file *ef, uint64_t *start, uint64_t *end)
{
	*start = UINT64_MAX;
	*end = 0;
	for (size_t i = 0; i < ef->n_segments; i++) {
		const struct elf_segment *s = &ef->segments[i];

		if (s->type != PT_LOAD || !(s->flags & PF_X) || s->memsz > UINT64_MAX - s->vaddr)
			continue;
		if (s->vaddr < *start)
			*start = s->vaddr;
		if (s->vaddr + s->memsz > *end)
			*end = s->vaddr + s->memsz;
	}
	/* Nothing is code at address 0; the linker puts there what it threw away. */
	if (!*start)
		*start = 1;
}

/* The DWARF in ef for code of text, or for an alternate file (no text); u->dwarf stays NULL when
   there is none that can be used. -E2BIG: a section found no room. */
static int unpack(struct unpacked *u, const struct elf_file *ef, const struct elf_file *text,
		  struct dwarf *alt, struct elf_room *room)
{
	static const char *const names[N_DWARF_SECTIONS] = {
		".debug_info",	   ".debug_abbrev",   ".debug_str",
		".debug_line",	   ".debug_line_str", ".debug_ranges",
		".debug_rnglists", ".debug_addr",     ".debug_str_offsets",
	};
	struct dwarf_input in = { .alt = alt, .is_alt = !text };
	struct dwarf_section *sections[N_DWARF_SECTIONS] = {
		&in.info,   &in.abbrev,	  &in.str,  &in.line,	     &in.line_str,
		&in.ranges, &in.rnglists, &in.addr, &in.str_offsets,
	};
	int is_short = 0;

	if (text)
		text_bounds(text, &in.text_start, &in.text_end);
	for (size_t i = 0; i < N_DWARF_SECTIONS; i++) {
		int err = elf_file_bytes(ef, names[i], room, &u->sections[i]);

		if (err == -E2BIG)
			is_short = err;
		if (err < 0 && i < 2 && text)
			return is_short;
		*sections[i] = (struct dwarf_section){ u->sections[i].data, u->sections[i].len };
	}
	dwarf_new(&in, &u->dwarf);
	return is_short;
}

static void unpacked_deinit(struct unpacked *u, struct elf_room *room)
{
	dwarf_free(u->dwarf);
	for (size_t i = 0; i < N_DWARF_SECTIONS; i++)
		elf_bytes_deinit(&u->sections[i], room);
	u->dwarf = NULL;
}

static size_t unpacked_memory(const struct unpacked *u)
{
	size_t n = u->dwarf ? dwarf_memory(u->dwarf) : 0;

	for (size_t i = 0; i < N_DWARF_SECTIONS; i++)
		n += elf_bytes_memory(&u->sections[i]);
	return n;
}

/* Remembers what there was no room for. */
static void note(struct symbols *s, int err)
{
	s->is_short |= err == -E2BIG;
}

static void open_dwarf(struct symbols *s, const struct symbols_input *in)
{
	bool is_own = elf_file_section(in->elf, ".debug_info", NULL) || !in->debug->map;
	const struct elf_file *ef = is_own ? in->elf : &in->debug->elf;

	if (!debug_file_find_alt(&in->search, ef, is_own ? in->path : in->debug->path,
				 &s->alt_file))
		note(s, unpack(&s->alt, &s->alt_file.elf, NULL, NULL, in->room));
	note(s, unpack(&s->main, ef, in->elf, s->alt.dwarf, in->room));
	if (!s->main.dwarf)
		unpacked_deinit(&s->main, in->room);
}

static void open_minidebug(struct symbols *s, const struct elf_file *ef)
{
	size_t max = s->room->memory < MAX_MINIDEBUG ? s->room->memory : MAX_MINIDEBUG;
	struct elf_bytes bytes = { 0 };
	int err;

	if (elf_file_bytes(ef, ".gnu_debugdata", NULL, &bytes) < 0)
		return;
	err = minidebug_unpack(bytes.data, bytes.len, max, &s->minidebug, &s->minidebug_len);
	note(s, err);
	if (err < 0)
		return;
	elf_room_take(s->room, s->minidebug_len); /* no more than max */
	if (!elf_file_init(&s->minidebug_elf, s->minidebug, s->minidebug_len))
		note(s, symtab_new(&s->minidebug_elf, ".symtab", s->room,
				   &s->tables[TABLE_MINIDEBUG]));
}

static void name_source(struct symbols *s, const struct symbols_input *in)
{
	bool from_debug = in->debug->map && (s->tables[TABLE_DEBUG_FILE] || s->main.dwarf) &&
			  !elf_file_section(in->elf, ".debug_info", NULL);

	if (from_debug)
		snprintf(s->source, sizeof(s->source), "debug file %s", in->debug->path);
	else
		strcpy(s->source, s->main.dwarf		       ? "dwarf"
				  : s->tables[TABLE_SYMTAB]    ? "symtab"
				  : s->tables[TABLE_MINIDEBUG] ? "minidebuginfo"
				  : s->tables[TABLE_DYNSYM]    ? "dynsym"
							       : "none");
}

struct symbols *symbols_new(const struct symbols_input *in)
{
	struct symbols *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->room = in->room;
	s->memory_cap = in->memory;
	s->is_spent = in->is_spent;
	if (!in->is_spent)
		open_dwarf(s, in);
	note(s, symtab_new(in->elf, ".symtab", s->room, &s->tables[TABLE_SYMTAB]));
	if (in->debug->map)
		note(s,
		     symtab_new(&in->debug->elf, ".symtab", s->room, &s->tables[TABLE_DEBUG_FILE]));
	if (!s->tables[TABLE_SYMTAB] && !s->tables[TABLE_DEBUG_FILE])
		open_minidebug(s, in->elf);
	/* A .symtab has all that .dynsym has, and the private ones. */
	if (!s->tables[TABLE_SYMTAB] && !s->tables[TABLE_DEBUG_FILE])
		note(s, symtab_new(in->elf, ".dynsym", s->room, &s->tables[TABLE_DYNSYM]));
	for (size_t i = 0; i < TABLE_DYNSYM; i++)
		s->is_whole |= s->tables[i] && symtab_is_whole(s->tables[i]);
	function_ranges_init(&s->ranges, in->elf);
	note(s, plt_new(in->elf, s->room, &s->plt));
	name_source(s, in);
	return s;
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < N_TABLES; i++)
		symtab_free(s->tables[i]);
	plt_free(s->plt);
	unpacked_deinit(&s->main, s->room);
	unpacked_deinit(&s->alt, s->room);
	debug_file_deinit(&s->alt_file);
	elf_file_deinit(&s->minidebug_elf);
	elf_room_give(s->room, s->minidebug_len);
	free(s->minidebug);
	free(s);
}

/* Does a symbol without a size reach the address? Its own table, own, has said where it must end.
 */
static bool reaches(const struct symbols *s, size_t own, const struct symbol *sym, uint64_t vaddr)
{
	struct function_range r;

	if (function_range_below(&s->ranges, vaddr, &r)) {
		if (r.start >= sym->start)
			return r.start == sym->start && vaddr - r.start < r.size;
		if (sym->start - r.start < r.size && vaddr - r.start >= r.size)
			return false;
	}
	for (size_t i = 0; i < N_TABLES; i++)
		if (i != own && s->tables[i] && symtab_begins(s->tables[i], sym->start, vaddr))
			return false;
	return s->is_whole;
}

static const struct symtab *find_symbol(const struct symbols *s, uint64_t vaddr, struct symbol *out)
{
	for (size_t i = 0; i < N_TABLES; i++)
		if (s->tables[i] && symtab_find(s->tables[i], vaddr, out) &&
		    (out->is_sized || reaches(s, i, out, vaddr)))
			return s->tables[i];
	return NULL;
}

/* A symbol's name without its version, in buf when it had one. */
static const char *cut_version(const char *name, char *buf)
{
	const char *at = strchr(name, '@');

	if (!at || at == name || at - name >= MAX_NAME)
		return name;
	memcpy(buf, name, (size_t)(at - name));
	buf[at - name] = 0;
	return buf;
}

/* The name with " (=other,other2)" behind it for functions that share its code; NULL when none do.
 */
static const char *name_folded(struct symbols *s, struct name_cache *names, const struct symtab *t,
			       const struct symbol *sym, const char *name)
{
	const char *folded[MAX_FOLDED + 1], *shown[MAX_FOLDED + 1];
	size_t n = symtab_folded(t, sym, folded, MAX_FOLDED), len, n_shown = 0;

	if (!n)
		return NULL;
	folded[n++] = sym->name; /* the name may be another one: DWARF's */
	len = (size_t)snprintf(s->name, MAX_NAME, "%s", name);
	for (size_t i = 0; i < n && len < MAX_NAME - 3; i++) {
		char buf[MAX_NAME];
		const char *other = name_cache_demangle(names, cut_version(folded[i], buf));
		bool is_known = !strcmp(other, name);

		for (size_t k = 0; k < n_shown; k++)
			is_known = is_known || !strcmp(shown[k], other);
		if (is_known || other == buf)
			continue;
		len += (size_t)snprintf(s->name + len, MAX_NAME - len, "%s%s",
					n_shown ? "," : " (=", other);
		shown[n_shown++] = other;
	}
	if (!n_shown || len >= MAX_NAME - 1)
		return NULL;
	strcpy(s->name + len, ")");
	return s->name;
}

static void name_stub(struct symbols *s, struct name_cache *names, uint64_t vaddr,
		      struct name_line *line)
{
	uint64_t start, size;
	const char *target = s->plt ? plt_find(s->plt, vaddr, &start, &size) : NULL;

	if (!target || snprintf(s->cut_name, MAX_NAME, "%s@plt", target) >= MAX_NAME ||
	    snprintf(s->name, MAX_NAME, "%s@plt", name_cache_demangle(names, target)) >= MAX_NAME)
		return;
	line->system_name = s->cut_name;
	line->name = s->name;
}

static bool is_mangled(struct name_cache *names, const char *name)
{
	return strcmp(name_cache_demangle(names, name), name) != 0;
}

/* A lambda's call has no linkage name in DWARF and its class none at all: the symbol says whose it
 * is.
 */
static bool says_more(struct name_cache *names, const struct symbol *sym,
		      const struct name_line *line, char *buf)
{
	const char *own = line->system_name;

	return own && !strncmp(own, "operator", 8) && !is_mangled(names, own) &&
	       is_mangled(names, cut_version(sym->name, buf));
}

/* Names the physical function by the symbol tables, where DWARF has not, and its folded fellows. */
static bool add_symbol(struct symbols *s, struct name_cache *names, uint64_t vaddr,
		       struct name_line *line, uint16_t *flags)
{
	struct symbol sym;
	const struct symtab *t = find_symbol(s, vaddr, &sym);
	const char *folded;

	if (!t && !line->name)
		name_stub(s, names, vaddr, line);
	if (t && (!line->name || says_more(names, &sym, line, s->cut_name))) {
		line->system_name = cut_version(sym.name, s->cut_name);
		line->name = name_cache_demangle(names, line->system_name);
	}
	folded = t ? name_folded(s, names, t, &sym, line->name) : NULL;
	if (folded) {
		line->name = folded;
		*flags |= LOCATION_FOLDED;
	}
	return line->name;
}

static size_t add_dwarf(struct symbols *s, struct name_cache *names, uint64_t vaddr,
			struct name_line *out, size_t max)
{
	struct dwarf_frame frames[MAX_INLINE_DEPTH];
	size_t n = dwarf_find(s->main.dwarf, vaddr, frames,
			      max < MAX_INLINE_DEPTH ? max : MAX_INLINE_DEPTH);

	for (size_t i = 0; i < n; i++) {
		const struct dwarf_frame *f = &frames[i];
		const char *name =
			f->linkage_name ? name_cache_demangle(names, f->linkage_name) : NULL;

		/* A linkage name that is not mangled says less than the qualified name. */
		if (!name || !strcmp(name, f->linkage_name))
			name = f->name;
		out[i] =
			(struct name_line){ .name = name	? name
						    : i + 1 < n ? "[inlined]"
								: NULL,
					    .system_name = f->linkage_name ? f->linkage_name : name,
					    .filename = f->file,
					    .start_line = f->decl_line,
					    .line = f->line,
					    .column = f->column };
	}
	return n;
}

size_t symbols_find(struct symbols *s, struct name_cache *names, uint64_t vaddr,
		    struct name_line *out, size_t max, uint16_t *flags)
{
	size_t n = 0;

	if (!max)
		return 0;
	if (s->main.dwarf) {
		/* Not when little would come of it: what stays may be over the cap by itself. */
		if (s->memory_cap && symbols_memory(s) > s->memory_cap &&
		    dwarf_droppable(s->main.dwarf) > s->memory_cap / 8)
			dwarf_flush(s->main.dwarf);
		n = add_dwarf(s, names, vaddr, out, max);
	}
	if (!n)
		out[n++] = (struct name_line){ 0 };
	return add_symbol(s, names, vaddr, &out[n - 1], flags) ? n : n - 1;
}

bool symbols_function(struct symbols *s, uint64_t vaddr, uint64_t *start, uint64_t *size)
{
	struct function_range r;
	struct symbol sym;

	if (find_symbol(s, vaddr, &sym))
		r = (struct function_range){ sym.start, sym.size };
	else if (!function_range_find(&s->ranges, vaddr, &r))
		return false;
	*start = r.start;
	*size = r.size;
	return true;
}

const char *symbols_source(const struct symbols *s)
{
	return s->source;
}

bool symbols_is_spent(const struct symbols *s)
{
	return s->is_spent || (s->main.dwarf && dwarf_is_spent(s->main.dwarf)) ||
	       (s->alt.dwarf && dwarf_is_spent(s->alt.dwarf));
}

bool symbols_is_short(const struct symbols *s)
{
	return s->is_short;
}

bool symbols_is_cut(const struct symbols *s)
{
	return s->alt_file.map && filemap_is_cut(s->alt_file.map);
}

size_t symbols_memory(const struct symbols *s)
{
	size_t n = sizeof(*s) + unpacked_memory(&s->main) + unpacked_memory(&s->alt) +
		   s->minidebug_len;

	for (size_t i = 0; i < N_TABLES; i++)
		n += s->tables[i] ? symtab_memory(s->tables[i]) : 0;
	n += s->plt ? plt_memory(s->plt) : 0;
	return n;
}
