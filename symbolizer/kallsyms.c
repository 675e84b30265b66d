// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/kallsyms.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/scoped.h"

#define MAX_SYMBOLS (4 << 20)
#define MAX_MODULES 4096
#define MAX_NAME 1024 /* the kernel's KSYM_NAME_LEN is 512 */
/* Modules and BPF programs say where they begin only; nobody writes a longer function. */
#define MAX_FUNCTION (1 << 20)

static const char *const landmarks[] = {
#define X(id, name) name,
	LANDMARKS(X)
#undef X
};

struct symbol {
	uint64_t addr;
	uint32_t name;	 /* offset in the arena */
	uint16_t module; /* 0: the kernel proper */
	uint8_t rank;	 /* of a name among those of one address; lower is better */
};

struct kallsyms {
	struct symbol *symbols;
	size_t n, cap;
	char *arena;
	size_t len, arena_cap;
	uint32_t modules[MAX_MODULES]; /* names, offsets in the arena */
	size_t n_modules;
	uint64_t landmarks[N_LANDMARKS];
	bool has_address; /* not every address is hidden as 0 */
};

static int arena_add(struct kallsyms *k, const char *s, size_t len, uint32_t *at)
{
	if (len + 1 > k->arena_cap - k->len) {
		size_t cap = k->arena_cap ? k->arena_cap * 2 : 1 << 16;
		char *arena = cap <= UINT32_MAX ? realloc(k->arena, cap) : NULL;

		if (!arena)
			return -ENOMEM;
		k->arena = arena;
		k->arena_cap = cap;
	}
	memcpy(k->arena + k->len, s, len);
	k->arena[k->len + len] = 0;
	*at = (uint32_t)k->len;
	k->len += len + 1;
	return 0;
}

/* The number of a module; its symbols follow each other, so the last ones are looked at first. */
static int module_of(struct kallsyms *k, const char *name, size_t len, uint16_t *out)
{
	for (size_t i = k->n_modules; i-- > 1;) {
		const char *known = k->arena + k->modules[i];

		if (!strncmp(known, name, len) && !known[len]) {
			*out = (uint16_t)i;
			return 0;
		}
	}
	if (k->n_modules == MAX_MODULES) {
		*out = 0;
		return 0;
	}
	*out = (uint16_t)k->n_modules;
	return arena_add(k, name, len, &k->modules[k->n_modules++]);
}

static int add_symbol(struct kallsyms *k, const struct symbol *s)
{
	if (k->n == MAX_SYMBOLS)
		return -E2BIG;
	if (ARRAY_RESERVE(k->symbols, k->cap, k->n) < 0)
		return -ENOMEM;
	k->symbols[k->n++] = *s;
	return 0;
}

/* The kernel proper's own; what is in a module has a tab behind it. */
static void note_landmark(struct kallsyms *k, const char *name, uint64_t addr)
{
	size_t len = strcspn(name, " \t\n");

	if (name[len] == '\t')
		return;
	for (size_t i = 0; i < N_LANDMARKS; i++)
		if (*name == *landmarks[i] && strlen(landmarks[i]) == len &&
		    !strncmp(name, landmarks[i], len))
			k->landmarks[i] = addr;
}

/* "ffffffff81000000 T name\t[module]"; what is no function or no such line is passed over. */
static int read_line(struct kallsyms *k, const char *line)
{
	struct symbol s = { 0 };
	const char *name, *module;
	char *end, type;
	size_t len, module_len = 0;
	int err;

	s.addr = strtoull(line, &end, 16);
	if (end == line || end[0] != ' ' || !end[1] || end[2] != ' ')
		return 0;
	type = end[1];
	name = end + 3;
	note_landmark(k, name, s.addr);
	if (!strchr("TtWw", type))
		return 0;
	k->has_address = k->has_address || s.addr;
	len = strcspn(name, " \t\n");
	if (!len || len > MAX_NAME || !s.addr)
		return 0;
	module = name + len + strspn(name + len, " \t");
	if (*module == '[')
		module_len = strcspn(++module, "]\n");
	if (module_len && (err = module_of(k, module, module_len, &s.module)) < 0)
		return err;
	len = len > UINT16_MAX ? UINT16_MAX : len;
	s.rank = (uint8_t)(strspn(name, "_") * 4 > 200 ? 200 : strspn(name, "_") * 4);
	s.rank = (uint8_t)(s.rank + (type == 'T' ? 0 : type == 't' ? 1 : 2));
	err = arena_add(k, name, len, &s.name);
	return err ? err : add_symbol(k, &s);
}

/* By address; the best name of one address last. Of equal ones that which came first. */
static int compare_symbols(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	return x->name > y->name ? -1 : x->name < y->name;
}

static void finish(struct kallsyms *k)
{
	struct symbol *symbols;
	char *arena;
	size_t n = 0;

	qsort(k->symbols, k->n, sizeof(*k->symbols), compare_symbols);
	for (size_t i = 0; i < k->n; i++)
		if (i + 1 == k->n || k->symbols[i + 1].addr != k->symbols[i].addr)
			k->symbols[n++] = k->symbols[i];
	k->n = n;
	symbols = realloc(k->symbols, k->n * sizeof(*symbols));
	if (symbols) {
		k->symbols = symbols;
		k->cap = k->n;
	}
	arena = realloc(k->arena, k->len);
	if (arena) {
		k->arena = arena;
		k->arena_cap = k->len;
	}
}

static int read_all(struct kallsyms *k, const char *path)
{
	SCOPED(fclose) FILE *f = fopen(path, "re");
	SCOPED(free) char *line = NULL;
	size_t cap = 0;
	int err = 0;

	if (!f)
		return -errno;
	err = arena_add(k, "", 0, &k->modules[0]);
	k->n_modules = 1;
	while (!err && getline(&line, &cap, f) > 0)
		err = read_line(k, line);
	if (err < 0)
		return err;
	if (!k->n)
		return k->len > 1 || !k->has_address ? -EPERM : -EBADMSG;
	return 0;
}

struct kallsyms *kallsyms_load(const char *path, int *err)
{
	struct kallsyms *k = calloc(1, sizeof(*k));

	*err = k ? read_all(k, path ? path : "/proc/kallsyms") : -ENOMEM;
	if (*err < 0) {
		kallsyms_free(k);
		return NULL;
	}
	finish(k);
	return k;
}

void kallsyms_free(struct kallsyms *k)
{
	if (!k)
		return;
	free(k->symbols);
	free(k->arena);
	free(k);
}

/* Labels at the end of a part of the kernel: nothing is behind them. */
static bool is_end(const char *name)
{
	return !strcmp(name, "_etext") || !strcmp(name, "_einittext") || !strcmp(name, "_end");
}

const char *kallsyms_find(const struct kallsyms *k, uint64_t addr, const char **module,
			  uint64_t *start)
{
	size_t lo = ARRAY_COUNT_UP_TO(k->symbols, k->n, addr, addr);
	const struct symbol *s;

	s = lo ? &k->symbols[lo - 1] : NULL;
	if (!s || addr - s->addr >= MAX_FUNCTION || is_end(k->arena + s->name))
		return NULL;
	*module = k->arena + k->modules[s->module];
	*start = s->addr;
	return k->arena + s->name;
}

uint64_t kallsyms_landmark(const struct kallsyms *k, enum landmark which)
{
	return k->landmarks[which];
}

size_t kallsyms_memory(const struct kallsyms *k)
{
	return sizeof(*k) + k->cap * sizeof(*k->symbols) + k->arena_cap;
}
