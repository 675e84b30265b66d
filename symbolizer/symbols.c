// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/profile.h"
#include "symbolizer/symtab.h"

#define MAX_FOLDED 3	/* names shown of functions that share their code with another */
#define MAX_NAME 4096

struct symbols {
	struct symtab *tables[2];	/* the first that knows an address names it */
	size_t n_tables;
	const char *source;
	char name[MAX_NAME], system_name[MAX_NAME];	/* of the last answer */
};

struct symbols *symbols_new(const struct symbols_input *in)
{
	struct symbols *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->source = "none";
	if (!symtab_new(in->elf, ".dynsym", &s->tables[1]))
		s->source = "dynsym";
	if (!symtab_new(in->elf, ".symtab", &s->tables[0]))
		s->source = "symtab";
	s->n_tables = 2;
	return s;
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_tables; i++)
		symtab_free(s->tables[i]);
	free(s);
}

static const struct symtab *find_symbol(const struct symbols *s, uint64_t vaddr, struct symbol *out)
{
	for (size_t i = 0; i < s->n_tables; i++)
		if (s->tables[i] && symtab_find(s->tables[i], vaddr, out))
			return s->tables[i];
	return NULL;
}

/* Appends " (=other,other2)" for functions that share the code; true when there are any. */
static bool add_folded(struct symbols *s, struct name_cache *names, const struct symtab *t, const struct symbol *sym)
{
	const char *folded[MAX_FOLDED];
	size_t n = symtab_folded(t, sym, folded, MAX_FOLDED), len = strlen(s->name), n_shown = 0;

	for (size_t i = 0; i < n && len < MAX_NAME - 3; i++) {
		const char *other = name_cache_demangle(names, folded[i]);

		if (!strncmp(other, s->name, len) && !other[len])
			continue;
		len += (size_t)snprintf(s->name + len, MAX_NAME - len, "%s%s", n_shown++ ? "," : " (=", other);
	}
	if (n_shown && len < MAX_NAME - 1)
		strcat(s->name, ")");
	return n_shown;
}

size_t symbols_find(struct symbols *s, struct name_cache *names, uint64_t vaddr, struct name_line *out,
		    size_t max, uint16_t *flags)
{
	struct symbol sym;
	const struct symtab *t = find_symbol(s, vaddr, &sym);

	if (!t || !max)
		return 0;
	snprintf(s->system_name, MAX_NAME, "%.*s", (int)strcspn(sym.name, "@"), sym.name);
	snprintf(s->name, MAX_NAME, "%s", name_cache_demangle(names, s->system_name));
	if (add_folded(s, names, t, &sym))
		*flags |= LOCATION_FOLDED;
	*out = (struct name_line){ .name = s->name, .system_name = s->system_name };
	return 1;
}

bool symbols_function(struct symbols *s, uint64_t vaddr, uint64_t *start, uint64_t *size)
{
	struct symbol sym;

	if (!find_symbol(s, vaddr, &sym))
		return false;
	*start = sym.start;
	*size = sym.size;
	return true;
}

const char *symbols_source(const struct symbols *s)
{
	return s->source;
}

size_t symbols_memory(const struct symbols *s)
{
	size_t n = sizeof(*s);

	for (size_t i = 0; i < s->n_tables; i++)
		n += s->tables[i] ? symtab_memory(s->tables[i]) : 0;
	return n;
}
