// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/name_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/intern.h"
#include "core/profile.h"
#include "symbolizer/demangle.h"
#include "symbolizer/object.h"

#define MAX_NAME (16 * 1024)

struct slot {
	uint64_t vaddr;
	uint32_t object; /* 0: free */
	uint32_t lines;	 /* id of an interned array of struct line; 0 for none */
	uint16_t flags;
};

struct name_cache {
	struct intern *strings, *functions, *lines;
	uint32_t *demangled;   /* by string id: the id of the name for people; 0 is not known */
	uint32_t *profile_ids; /* by function id: its id in the profile; 0 is not there yet */
	uint32_t n_demangled, n_profile_ids;
	uint64_t profile_serial;
	struct slot *slots; /* open addressing, a power of two */
	size_t n_slots, n_used;
};

static int make_tables(struct name_cache *c)
{
	c->strings = intern_new();
	c->functions = intern_new();
	c->lines = intern_new();
	return c->strings && c->functions && c->lines ? 0 : -ENOMEM;
}

static void free_tables(struct name_cache *c)
{
	intern_free(c->strings);
	intern_free(c->functions);
	intern_free(c->lines);
	free(c->demangled);
	free(c->profile_ids);
	free(c->slots);
	*c = (struct name_cache){ 0 };
}

struct name_cache *name_cache_new(void)
{
	struct name_cache *c = calloc(1, sizeof(*c));

	if (c && make_tables(c) < 0) {
		name_cache_free(c);
		return NULL;
	}
	return c;
}

void name_cache_free(struct name_cache *c)
{
	if (!c)
		return;
	free_tables(c);
	free(c);
}

void name_cache_flush(struct name_cache *c)
{
	struct name_cache fresh = { 0 };

	if (make_tables(&fresh) < 0) {
		free_tables(&fresh);
		return;
	}
	free_tables(c);
	*c = fresh;
}

size_t name_cache_memory(const struct name_cache *c)
{
	return sizeof(*c) + intern_memory(c->strings) + intern_memory(c->functions) +
	       intern_memory(c->lines) + c->n_slots * sizeof(*c->slots) +
	       (c->n_demangled + c->n_profile_ids) * sizeof(uint32_t);
}

static uint64_t hash_of(uint32_t object, uint64_t vaddr)
{
	uint64_t h = (vaddr ^ (uint64_t)object << 40) * UINT64_C(0x9e3779b97f4a7c15);

	return h ^ h >> 32;
}

/* The slot of this address, or the free one where it belongs. There is always a free one. */
static struct slot *slot_of(const struct name_cache *c, uint32_t object, uint64_t vaddr)
{
	for (uint64_t i = hash_of(object, vaddr);; i++) {
		struct slot *s = &c->slots[i & (c->n_slots - 1)];

		if (!s->object || (s->object == object && s->vaddr == vaddr))
			return s;
	}
}

static int grow_slots(struct name_cache *c)
{
	struct name_cache larger = { .n_slots = c->n_slots ? c->n_slots * 2 : 1024 };

	if (c->n_used + 1 <= c->n_slots / 4 * 3)
		return 0;
	larger.slots = calloc(larger.n_slots, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < c->n_slots; i++)
		if (c->slots[i].object)
			*slot_of(&larger, c->slots[i].object, c->slots[i].vaddr) = c->slots[i];
	free(c->slots);
	c->slots = larger.slots;
	c->n_slots = larger.n_slots;
	return 0;
}

/* Makes room for index id in an array that is zero where nobody has written. */
static int grow_ids(uint32_t **ids, uint32_t *n, uint32_t id)
{
	uint32_t cap = *n ? *n : 256;
	uint32_t *larger;

	if (id < *n)
		return 0;
	while (cap <= id)
		cap = cap > UINT32_MAX / 2 ? UINT32_MAX : cap * 2;
	larger = realloc(*ids, cap * sizeof(**ids));
	if (!larger)
		return -ENOMEM;
	memset(larger + *n, 0, (cap - *n) * sizeof(*larger));
	*ids = larger;
	*n = cap;
	return 0;
}

/* Longer ones are cut: a file can hold millions of names that are all in one long string. */
static uint32_t add_string(struct name_cache *c, const char *s)
{
	return s && *s ? intern_add(c->strings, s, strnlen(s, MAX_NAME)) : 0;
}

static const char *get_string(const struct name_cache *c, uint32_t id)
{
	return intern_get(c->strings, id, NULL);
}

int name_cache_add(struct name_cache *c, uint32_t object, uint64_t vaddr,
		   const struct name_line *lines, size_t n, uint16_t flags)
{
	struct line rows[MAX_INLINE_DEPTH];
	uint32_t id = 0;

	if (n > MAX_INLINE_DEPTH)
		n = MAX_INLINE_DEPTH;
	for (size_t i = 0; i < n; i++) {
		struct function f = { .name = add_string(c, lines[i].name),
				      .system_name = add_string(c, lines[i].system_name),
				      .filename = add_string(c, lines[i].filename),
				      .start_line = lines[i].start_line };

		rows[i].function = intern_add(c->functions, &f, sizeof(f));
		rows[i].line = lines[i].line;
		rows[i].column = lines[i].column;
		if (!f.name || !rows[i].function)
			return -ENOMEM;
	}
	if (n)
		id = intern_add(c->lines, rows, n * sizeof(*rows));
	if ((n && !id) || grow_slots(c) < 0)
		return -ENOMEM;
	*slot_of(c, object, vaddr) = (struct slot){ vaddr, object, id, flags };
	c->n_used++;
	return 0;
}

/* The id in p of one of our functions. */
static uint32_t profile_id(struct name_cache *c, struct profile *p, uint32_t id)
{
	const struct function *f;

	if (id < c->n_profile_ids && c->profile_ids[id])
		return c->profile_ids[id];
	f = intern_get(c->functions, id, NULL);
	if (!f || grow_ids(&c->profile_ids, &c->n_profile_ids, id) < 0)
		return 0;
	return c->profile_ids[id] = profile_function(
		       p, &(struct function){
				  .name = profile_string(p, get_string(c, f->name)),
				  .system_name = profile_string(p, get_string(c, f->system_name)),
				  .filename = profile_string(p, get_string(c, f->filename)),
				  .start_line = f->start_line });
}

bool name_cache_find(struct name_cache *c, uint32_t object, uint64_t vaddr, struct profile *p,
		     struct line *out, size_t max, size_t *n, uint16_t *flags)
{
	const struct slot *s = c->n_slots ? slot_of(c, object, vaddr) : NULL;
	const struct line *rows;
	size_t len;

	if (!s || !s->object)
		return false;
	if (c->profile_serial != profile_serial(p)) {
		if (c->n_profile_ids)
			memset(c->profile_ids, 0, c->n_profile_ids * sizeof(*c->profile_ids));
		c->profile_serial = profile_serial(p);
	}
	rows = intern_get(c->lines, s->lines, &len);
	*n = len / sizeof(*rows) < max ? len / sizeof(*rows) : max;
	for (size_t i = 0; i < *n; i++)
		out[i] = (struct line){ profile_id(c, p, rows[i].function), rows[i].line,
					rows[i].column };
	*flags = s->flags;
	return true;
}

const char *name_cache_demangle(struct name_cache *c, const char *mangled)
{
	uint32_t id = strnlen(mangled, MAX_NAME) < MAX_NAME ? add_string(c, mangled) : 0;
	char *name;

	if (!id || grow_ids(&c->demangled, &c->n_demangled, id) < 0)
		return mangled;
	if (!c->demangled[id]) {
		name = demangle(mangled);
		c->demangled[id] = name ? add_string(c, name) : id;
		free(name);
	}
	return c->demangled[id] ? get_string(c, c->demangled[id]) : mangled;
}
