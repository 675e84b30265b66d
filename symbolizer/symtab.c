// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/symtab.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/hurry.h"
#include "core/reader.h"

#define MAX_SYMBOLS (16 * 1024 * 1024)
#define MAX_ADDRESS ((UINT64_C(1) << 56) - 1)
#define MAX_FUNCTIONS (2 * 1024 * 1024)
#define MAX_COMPARED                                                                              \
	256 /* bytes of a name that choose between aliases: a file can hold millions of long ones \
	     */
#define MAX_SHOWN 4096	   /* bytes in which names that are shown side by side have to differ */
#define MAX_NESTING 64	   /* how far back an enclosing function is looked for */
#define MAX_NAME (2 << 20) /* longer ones are none: a name is gone through at each lookup */

enum rank { /* of a binding; lower is better */
	    RANK_GLOBAL,
	    RANK_WEAK,
	    RANK_LOCAL,
	    RANK_MASK = 3,
	    RANK_LABEL = 4, /* STT_NOTYPE */
	    RANK_UNSIZED = 8,
};

struct entry {
	uint64_t addr : 56, rank : 8;
	uint32_t size; /* as worked out */
	uint32_t name; /* offset in the string table */
};

struct symtab {
	struct entry *entries;
	size_t n, cap;
	struct elf_room *room; /* of the entries */
	const char *strings;
	size_t strings_len;
	bool has_versions; /* the library defines symbol versions */
	bool is_whole;
};

struct table { /* where a symbol table lies in its file */
	const struct elf_file *ef;
	const void *symbols, *strings;
	size_t symbols_len, strings_len;
	/* The section of the last symbol: most are of one. */
	uint16_t shndx;
	bool has_section;
	struct elf_section section;
};

struct raw_symbol {
	uint32_t name;
	uint8_t info;
	uint16_t shndx;
	uint64_t value, size;
};

static bool table_find(const struct elf_file *ef, const char *section, struct table *t)
{
	struct elf_section s, strings;
	const char *last;
	size_t tail;

	*t = (struct table){ .ef = ef };
	if (!elf_file_section(ef, section, &s) || (s.flags & SHF_COMPRESSED) ||
	    !elf_file_section_at(ef, s.link, &strings))
		return false;
	if (!elf_file_raw(ef, &s, &t->symbols, &t->symbols_len) ||
	    !elf_file_raw(ef, &strings, &t->strings, &t->strings_len))
		return false;
	/* A string that does not end inside the table is cut off with its symbol. */
	tail = t->strings_len < MAX_NAME ? t->strings_len : MAX_NAME;
	last = memrchr((const char *)t->strings + t->strings_len - tail, 0, tail);
	t->strings_len = last ? (size_t)(last - (const char *)t->strings) + 1 : 0;
	return t->strings_len && t->symbols_len / sizeof(Elf64_Sym) <= MAX_SYMBOLS;
}

static struct raw_symbol read_symbol(struct reader *r)
{
	struct raw_symbol s;

	s.name = reader_u32(r, "symbol name");
	s.info = reader_u8(r, "symbol info");
	reader_u8(r, "symbol visibility");
	s.shndx = reader_u16(r, "symbol section");
	s.value = reader_u64(r, "symbol value");
	s.size = reader_u64(r, "symbol size");
	return s;
}

/* A symbol's section, or NULL. */
static const struct elf_section *section_of(struct table *t, uint16_t shndx)
{
	if (!t->has_section || t->shndx != shndx) {
		t->has_section = elf_file_section_at(t->ef, shndx, &t->section);
		t->shndx = shndx;
	}
	return t->has_section ? &t->section : NULL;
}

static bool is_code(struct table *t, uint16_t shndx)
{
	const struct elf_section *s = section_of(t, shndx);

	return s && s->flags & SHF_EXECINSTR;
}

/* The rank of a symbol that is a function, or -1. */
static int rank_of(struct table *t, const struct raw_symbol *s, const char *name)
{
	int type = ELF64_ST_TYPE(s->info), bind = ELF64_ST_BIND(s->info);
	int rank = bind == STB_LOCAL ? RANK_LOCAL : bind == STB_WEAK ? RANK_WEAK : RANK_GLOBAL;

	if (s->shndx == SHN_UNDEF || s->shndx == SHN_ABS || !*name || s->value > MAX_ADDRESS)
		return -1;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return rank | (s->size ? 0 : RANK_UNSIZED);
	/* $x and .L names are the assembler's own marks. */
	if (type == STT_NOTYPE && is_code(t, s->shndx) && *name != '$' && *name != '.')
		return rank | RANK_LABEL | RANK_UNSIZED;
	return -1;
}

/* Bytes from a value to the end of its section, the most a function there can have. */
static uint64_t extent_of(struct table *t, const struct raw_symbol *s)
{
	const struct elf_section *sec = section_of(t, s->shndx);
	uint64_t skip = sec ? s->value - sec->vaddr : 0;

	if (!sec || s->value < sec->vaddr || skip >= sec->size)
		return s->size;
	return sec->size - skip;
}

/* More room for entries; a quarter of what there is, as what a doubling takes more may be the
   budget's. */
static int grow(struct symtab *t)
{
	size_t more = t->cap / 4 + 256;
	struct entry *larger;

	if (!elf_room_take(t->room, more * sizeof(*larger)))
		return -E2BIG;
	larger = reallocarray(t->entries, t->cap + more, sizeof(*larger));
	if (!larger) {
		elf_room_give(t->room, more * sizeof(*larger));
		return -ENOMEM;
	}
	t->entries = larger;
	t->cap += more;
	return 0;
}

static void shrink(struct symtab *t)
{
	struct entry *exact = realloc(t->entries, t->n * sizeof(*exact));

	if (!exact)
		return;
	elf_room_give(t->room, (t->cap - t->n) * sizeof(*exact));
	t->entries = exact;
	t->cap = t->n;
}

static int add_entry(struct symtab *t, struct table *table, const struct raw_symbol *s, int rank)
{
	uint64_t extent = extent_of(table, s),
		 size = s->size && s->size < extent ? s->size : extent;
	int err;

	if (!size || t->n >= MAX_FUNCTIONS)
		return 0;
	err = t->n == t->cap ? grow(t) : 0;
	if (err < 0)
		return err;
	t->entries[t->n++] =
		(struct entry){ .addr = s->value,
				.rank = (uint8_t)rank,
				.size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size,
				.name = s->name };
	return 0;
}

static size_t leading_underscores(const char *name)
{
	size_t n = 0;

	while (n < MAX_COMPARED && name[n] == '_')
		n++;
	return n;
}

static size_t underscores(const char *name)
{
	/* Mangled names begin with _Z or _R; those underscores say nothing. */
	if (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R'))
		return 0;
	return leading_underscores(name);
}

static int compare_names(const char *x, const char *y, int rank_x, int rank_y)
{
	size_t under_x = underscores(x), under_y = underscores(y);
	size_t len_x = strnlen(x, MAX_COMPARED), len_y = strnlen(y, MAX_COMPARED);

	if (under_x != under_y)
		return under_x < under_y ? -1 : 1;
	if (rank_x != rank_y)
		return rank_x < rank_y ? -1 : 1;
	if (len_x != len_y)
		return len_x < len_y ? -1 : 1;
	return strncmp(x, y, MAX_COMPARED);
}

/* By address; at one address the name that is shown comes last, where a lookup finds it. In a hurry
   all are equal, so that sorting ends. */
static int compare_entries(const void *a, const void *b, void *strings)
{
	const struct entry *x = a, *y = b;
	const char *names = strings;
	unsigned int kind_x = x->rank & ~(unsigned int)RANK_MASK,
		     kind_y = y->rank & ~(unsigned int)RANK_MASK;

	if (hurry_is_on())
		return 0;
	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (kind_x != kind_y)
		return kind_x > kind_y ? -1 : 1;
	/* The larger one encloses the others and goes first. */
	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return compare_names(names + y->name, names + x->name, y->rank & RANK_MASK,
			     x->rank & RANK_MASK);
}

/* qsort_r() takes as much memory again for the time it takes. */
static void sort(struct symtab *t)
{
	size_t len = t->n * sizeof(*t->entries);

	if (!elf_room_take(t->room, len)) {
		array_sort_in_place(t->entries, t->n, sizeof(*t->entries), compare_entries,
				    (void *)(uintptr_t)t->strings);
		return;
	}
	qsort_r(t->entries, t->n, sizeof(*t->entries), compare_entries,
		(void *)(uintptr_t)t->strings);
	elf_room_give(t->room, len);
}

/* Symbols without a size end where the next function begins; labels also at the next label. */
static void close_unsized(struct symtab *t)
{
	uint64_t any_above = UINT64_MAX, function_above = UINT64_MAX, function = UINT64_MAX;

	for (size_t i = t->n; i-- > 0;) {
		struct entry *e = &t->entries[i];
		uint64_t next;

		if (i + 1 < t->n && t->entries[i + 1].addr != e->addr) {
			any_above = t->entries[i + 1].addr;
			function_above = function;
		}
		if (!(e->rank & RANK_LABEL))
			function = e->addr;
		next = e->rank & RANK_LABEL ? any_above : function_above;
		if (e->rank & RANK_UNSIZED && next - e->addr < e->size)
			e->size = (uint32_t)(next - e->addr);
	}
}

static int fill(struct symtab *t, struct table *table)
{
	struct reader r;
	int err = 0;

	reader_init(&r, table->symbols, table->symbols_len);
	while (!err && reader_left(&r) >= sizeof(Elf64_Sym)) {
		struct raw_symbol s = read_symbol(&r);
		int rank;

		if (hurry_is_on())
			return -EINTR;
		if (s.name >= table->strings_len)
			continue;
		rank = rank_of(table, &s, t->strings + s.name);
		/* `strip -x` leaves no private function. */
		t->is_whole |= rank >= 0 && (rank & RANK_MASK) == RANK_LOCAL;
		if (rank >= 0)
			err = add_entry(t, table, &s, rank);
	}
	return err ? err : t->n ? 0 : -ENOENT;
}

int symtab_new(const struct elf_file *ef, const char *section, struct elf_room *room,
	       struct symtab **out)
{
	struct table table;
	struct symtab *t;
	int err;

	if (!table_find(ef, section, &table))
		return -ENOENT;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->strings = table.strings;
	t->strings_len = table.strings_len;
	t->room = room;
	t->has_versions = elf_file_section(ef, ".gnu.version_d", NULL);
	err = fill(t, &table);
	if (!err) {
		shrink(t);
		sort(t);
		err = hurry_is_on() ? -EINTR : 0;
	}
	if (err < 0) {
		symtab_free(t);
		return err;
	}
	close_unsized(t);
	*out = t;
	return 0;
}

void symtab_free(struct symtab *t)
{
	if (!t)
		return;
	elf_room_give(t->room, t->cap * sizeof(*t->entries));
	free(t->entries);
	free(t);
}

bool symtab_is_whole(const struct symtab *t)
{
	return t->is_whole;
}

size_t symtab_memory(const struct symtab *t)
{
	return t->cap * sizeof(*t->entries) + sizeof(*t);
}

/* Bytes in which its name has to end. */
static size_t bytes_of_name(const struct symtab *t, const struct entry *e)
{
	size_t left = t->strings_len - e->name;

	return left < MAX_NAME ? left : MAX_NAME;
}

/* How many entries begin at or below the address. */
static size_t entries_below(const struct symtab *t, uint64_t vaddr)
{
	size_t lo = ARRAY_COUNT_UP_TO(t->entries, t->n, addr, vaddr);

	return lo;
}

bool symtab_begins(const struct symtab *t, uint64_t after, uint64_t vaddr)
{
	size_t below = entries_below(t, vaddr);

	for (size_t i = below; i-- > 0 && below - i <= MAX_NESTING && t->entries[i].addr > after;)
		if (!(t->entries[i].rank & RANK_LABEL))
			return true;
	return false;
}

bool symtab_find(const struct symtab *t, uint64_t vaddr, struct symbol *out)
{
	size_t below = entries_below(t, vaddr);
	const struct entry *best = NULL;

	for (size_t i = below; i-- > 0 && below - i <= MAX_NESTING;) {
		const struct entry *e = &t->entries[i];

		if (vaddr - e->addr >= e->size)
			continue;
		if (!best ||
		    (best->rank & ~(unsigned int)RANK_MASK) > (e->rank & ~(unsigned int)RANK_MASK))
			best = e;
		if (!(e->rank & RANK_UNSIZED))
			break;
	}
	if (!best || !memchr(t->strings + best->name, 0, bytes_of_name(t, best)))
		return false;
	*out = (struct symbol){ .name = t->strings + best->name,
				.start = best->addr,
				.size = best->size,
				.is_sized = !(best->rank & RANK_UNSIZED),
				.index = (uint32_t)(best - t->entries) };
	return true;
}

/* One name is the other, but for underscores before it or a prefix or suffix (fopen, fopen64). */
static bool is_same_base(const char *a, const char *b)
{
	a += leading_underscores(a);
	b += leading_underscores(b);
	if (strnlen(a, MAX_COMPARED) == MAX_COMPARED || strnlen(b, MAX_COMPARED) == MAX_COMPARED)
		return false;
	return strstr(a, b) || strstr(b, a);
}

static bool is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

/* Would the two names at one address be there without folding? */
static bool is_alias(const struct symtab *t, const struct entry *a, const struct entry *b)
{
	const char *x = t->strings + a->name, *y = t->strings + b->name;

	if (!strncmp(x, y, MAX_SHOWN))
		return true;
	/* C++ templates and Rust functions are weak or local by nature and are never renamed by
	 * hand. */
	if (is_mangled(x) && is_mangled(y))
		return false;
	return t->has_versions || (a->rank & RANK_MASK) == RANK_WEAK ||
	       (b->rank & RANK_MASK) == RANK_WEAK || is_same_base(x, y);
}

size_t symtab_folded(const struct symtab *t, const struct symbol *s, const char **names, size_t max)
{
	const struct entry *shown = &t->entries[s->index];
	size_t n = 0;

	if (shown->rank & (RANK_LABEL | RANK_UNSIZED))
		return 0;
	for (size_t i = s->index; i-- > 0 && n < max && s->index - i <= MAX_NESTING;) {
		const struct entry *e = &t->entries[i];

		if (e->addr != shown->addr)
			break;
		if (e->size == shown->size && !(e->rank & (RANK_LABEL | RANK_UNSIZED)) &&
		    !is_alias(t, shown, e) && memchr(t->strings + e->name, 0, bytes_of_name(t, e)))
			names[n++] = t->strings + e->name;
	}
	return n;
}

bool symtab_by_name(const struct elf_file *ef, const char *section, const char *name,
		    uint64_t *vaddr, uint64_t *size)
{
	size_t len = strlen(name);
	struct table table;
	struct reader r;

	if (!table_find(ef, section, &table))
		return false;
	reader_init(&r, table.symbols, table.symbols_len);
	while (reader_left(&r) >= sizeof(Elf64_Sym) && !hurry_is_on()) {
		struct raw_symbol s = read_symbol(&r);
		const char *found;

		if (s.name >= table.strings_len || s.shndx == SHN_UNDEF)
			continue;
		found = (const char *)table.strings + s.name;
		if (strncmp(found, name, len) || (found[len] && found[len] != '@'))
			continue;
		*vaddr = s.value;
		*size = s.size;
		return true;
	}
	return false;
}
