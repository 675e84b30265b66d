// SPDX-License-Identifier: Apache-2.0
#include "jfr/constants.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/array.h"
#include "core/scoped.h"
#include "jfr/layout.h"
#include "jfr/wire.h"

#define FIRST_SLOTS 64	     /* of a pool's hash; a power of two */
#define SLOTS_OF_LINE 16     /* that are near each other */
#define MAX_POOLS 1024	     /* types that have constants; JDK 25 has 30 */
#define N_POOL_SLOTS 2048    /* of the hash of pools; a power of two above MAX_POOLS */
#define MIN_CONSTANT_LEN 1   /* a key; a type without fields has no value */
#define MAX_RESERVED 65536   /* constants, on the word of whoever counted them */
#define MAX_MEMORY (1 << 30) /* of one chunk's; a large service's have some 50 MB */

struct pool {
	uint64_t type_id;
	struct layout *layout;
	struct constant *constants; /* in the order in which they came */
	uint32_t *slots;	    /* index + 1; 0: free */
	size_t n, cap, n_slots;
	bool is_left_out;
	bool is_mixed; /* some were written in an older layout */
	struct pool_memo memo;
};

struct constants {
	struct metadata *metadata;
	const char *only; /* the name of the type of which constants are kept; NULL: of all */
	struct arena arena;
	struct pool **pools; /* they stay where they are */
	size_t n_pools, cap;
	size_t memory;		      /* of the pools, without the arena */
	uint16_t slots[N_POOL_SLOTS]; /* by type: index + 1; 0: free */
};

struct constants *constants_new(struct metadata *m)
{
	struct constants *c = calloc(1, sizeof(*c));

	if (c)
		c->metadata = metadata_ref(m);
	return c;
}

static void pool_free(struct pool *p)
{
	if (!p)
		return;
	layout_free(p->layout);
	free(p->constants);
	free(p->slots);
	free(p);
}

void constants_free(struct constants *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n_pools; i++)
		pool_free(c->pools[i]);
	free(c->pools);
	arena_deinit(&c->arena);
	metadata_unref(c->metadata);
	free(c);
}

void constants_keep_only(struct constants *c, const char *type)
{
	c->only = type;
}

const struct metadata *constants_metadata(const struct constants *c)
{
	return c->metadata;
}

/* Layouts that were made of the older one point into it. All of them change, or none. */
int constants_update(struct constants *c, struct metadata *m)
{
	SCOPED(free) struct layout **layouts = calloc(c->n_pools + 1, sizeof(*layouts));
	int err = layouts ? 0 : -ENOMEM;

	for (size_t i = 0; i < c->n_pools && !err; i++) {
		const struct jfr_type *type = metadata_by_id(m, c->pools[i]->type_id);

		err = -EBADMSG;
		layouts[i] = type ? layout_new(type, &err) : NULL;
		if (layouts[i])
			err = 0;
	}
	for (size_t i = 0; i < c->n_pools && layouts; i++) {
		layout_free(err ? layouts[i] : c->pools[i]->layout);
		if (err)
			continue;
		c->pools[i]->layout = layouts[i];
		c->pools[i]->is_mixed = true;
		c->pools[i]->memo = (struct pool_memo){ 0 };
	}
	if (err)
		return err;
	metadata_ref(m);
	metadata_unref(c->metadata);
	c->metadata = m;
	return 0;
}

size_t constants_memory(const struct constants *c)
{
	return sizeof(*c) + c->arena.memory + c->memory;
}

size_t constants_count(const struct constants *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_pools; i++)
		n += c->pools[i]->n;
	return n;
}

static uint16_t *pool_slot(struct constants *c, uint64_t type_id)
{
	size_t i = (size_t)((type_id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) % N_POOL_SLOTS;

	while (c->slots[i] && c->pools[c->slots[i] - 1]->type_id != type_id)
		i = (i + 1) % N_POOL_SLOTS;
	return &c->slots[i];
}

struct pool *constants_pool(struct constants *c, uint64_t type_id)
{
	uint16_t index = *pool_slot(c, type_id);

	return index ? c->pools[index - 1] : NULL;
}

int64_t pool_key(const struct pool *pool, size_t index)
{
	return pool->constants[index].key;
}

size_t pool_size(const struct pool *pool)
{
	return pool->n;
}

const struct layout *pool_layout(const struct pool *pool)
{
	return pool->layout;
}

bool pool_is_mixed(const struct pool *pool)
{
	return pool->is_mixed;
}

struct pool_memo *pool_memo(struct pool *pool)
{
	return &pool->memo;
}

/* Most keys are numbers that were given out one after the other, and what is written together has
   keys that are near each other. As many as have their slots in one cache line stay together, and
   these lines lie anywhere: longer runs would lie upon each other, and whoever looks for a key in
   one of them would pass all of the other. */
static size_t slot_of(const struct pool *p, int64_t key)
{
	uint64_t line = (uint64_t)key / SLOTS_OF_LINE * UINT64_C(0x9e3779b97f4a7c15);
	size_t mask = p->n_slots - 1;
	size_t i = (size_t)(line >> 28 ^ (uint64_t)key % SLOTS_OF_LINE) & mask;

	while (p->slots[i] && p->constants[p->slots[i] - 1].key != key)
		i = (i + 1) & mask;
	return i;
}

struct constant *pool_find(struct pool *pool, int64_t key)
{
	uint32_t index = pool && pool->n_slots ? pool->slots[slot_of(pool, key)] : 0;

	return index ? &pool->constants[index - 1] : NULL;
}

/* So that at most half of them will be in use. */
static int grow_slots(struct pool *p, size_t n)
{
	size_t n_slots = p->n_slots ? p->n_slots : FIRST_SLOTS;
	uint32_t *slots;

	while (2 * n > n_slots)
		n_slots *= 2;
	if (n_slots == p->n_slots)
		return 0;
	slots = calloc(n_slots, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(p->slots);
	p->slots = slots;
	p->n_slots = n_slots;
	for (size_t i = 0; i < p->n; i++)
		p->slots[slot_of(p, p->constants[i].key)] = (uint32_t)i + 1;
	return 0;
}

static size_t pool_memory(const struct pool *p)
{
	return p->cap * sizeof(*p->constants) + p->n_slots * sizeof(*p->slots);
}

/* For so many more. */
static int pool_reserve(struct constants *c, struct pool *p, size_t n)
{
	size_t before = pool_memory(p);
	int err = grow_slots(p, p->n + n);

	if (!err)
		err = ARRAY_RESERVE(p->constants, p->cap, p->n + n - 1);
	c->memory += pool_memory(p) - before;
	return err;
}

static int pool_add(struct constants *c, struct pool *p, int64_t key, const uint8_t *bytes,
		    size_t len)
{
	struct constant *constant;
	size_t slot;
	int err;

	_Static_assert(ARENA_PADDING >= WIRE_PADDING, "so many bytes behind each can be loaded");
	if (p->n >= UINT32_MAX - 1 || len > UINT32_MAX || constants_memory(c) > MAX_MEMORY)
		return -E2BIG;
	err = p->n < p->cap && 2 * (p->n + 1) <= p->n_slots ? 0 : pool_reserve(c, p, 1);
	if (err)
		return err;
	slot = slot_of(p, key);
	if (p->slots[slot])
		return 0;
	constant = &p->constants[p->n];
	*constant = (struct constant){
		.key = key,
		.bytes = arena_copy(&c->arena, bytes, len),
		.len = (uint32_t)len,
	};
	if (!constant->bytes)
		return -ENOMEM;
	p->slots[slot] = (uint32_t)++p->n;
	return 0;
}

/* Copies of the chunk's header are all under one key. */
static bool is_left_out(const struct constants *c, const struct jfr_type *type)
{
	return !strcmp(type->name, "jdk.types.ChunkHeader") ||
	       (c->only && strcmp(type->name, c->only));
}

static struct pool *pool_make(struct constants *c, uint64_t type_id, int *err)
{
	const struct jfr_type *type = metadata_by_id(c->metadata, type_id);
	struct pool *p = constants_pool(c, type_id);

	*err = 0;
	if (p)
		return p;
	*err = !type ? -EBADMSG : c->n_pools >= MAX_POOLS ? -E2BIG : 0;
	if (!*err)
		*err = ARRAY_RESERVE(c->pools, c->cap, c->n_pools);
	if (*err)
		return NULL;
	p = calloc(1, sizeof(*p));
	*err = -ENOMEM;
	if (!p)
		return NULL;
	p->type_id = type_id;
	p->is_left_out = is_left_out(c, type);
	p->layout = layout_new(type, err);
	if (!p->layout) {
		pool_free(p);
		return NULL;
	}
	c->pools[c->n_pools++] = p;
	*pool_slot(c, type_id) = (uint16_t)c->n_pools;
	return p;
}

static void add_pool(struct constants *c, struct reader *r)
{
	uint64_t type_id = wire_varint(r, "type of constants");
	uint64_t n = wire_varint(r, "number of constants");
	int err = 0;
	struct pool *p;

	if (n > reader_left(r) / MIN_CONSTANT_LEN)
		reader_fail(r, -EBADMSG, "number of constants");
	if (reader_error(r) || !n)
		return;
	p = pool_make(c, type_id, &err);
	if (err)
		reader_fail(r, err, "constants of a type that is not described");
	else if (!p->is_left_out) /* without memory it fails when they come */
		pool_reserve(c, p, n < MAX_RESERVED ? n : MAX_RESERVED);
	for (uint64_t i = 0; i < n && !reader_error(r); i++) {
		int64_t key = (int64_t)wire_varint(r, "constant's key");
		const uint8_t *start = r->pos;

		layout_skip(p->layout, r);
		if (reader_error(r) || p->is_left_out)
			continue;
		err = pool_add(c, p, key, start, (size_t)(r->pos - start));
		if (err)
			reader_fail(r, err,
				    err == -E2BIG ? "more constants than weft keeps" : "constants");
	}
}

int constants_add(struct constants *c, struct reader *r)
{
	static const char *const fields[] = { "start time", "duration", "delta" };
	uint64_t n;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		wire_skip_varint(r, fields[i]);
	wire_skip_varint(r, "type of checkpoint");
	n = wire_varint(r, "number of pools");
	for (uint64_t i = 0; i < n && !reader_error(r); i++)
		add_pool(c, r);
	return reader_error(r);
}
