// SPDX-License-Identifier: Apache-2.0
#include "core/intern.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define BLOCK_SIZE (64 * 1024)
#define FIRST_SLOTS 1024 /* a power of two */

struct block {
	struct block *next;
	size_t size, used;
	uint64_t bytes[];
};

struct entry {
	const void *bytes;
	uint32_t len;
};

/* Half of the hash is kept here: what has another is passed over without a look at its entry. */
struct slot {
	uint32_t id; /* 0: free */
	uint32_t hash;
};

struct intern {
	struct block *blocks;
	struct entry *entries; /* entry of id i is entries[i - 1] */
	uint32_t n, cap;
	struct slot *slots; /* open addressing, power of two */
	uint32_t n_slots;
	size_t memory;
};

static atomic_uint_least64_t hash_seed; /* 0: none yet */

static void seed_hash(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = (uint64_t)(uintptr_t)&hash_seed ^ UINT64_C(0x2545f4914f6cdd1d);
	atomic_store_explicit(&hash_seed, seed | 1, memory_order_relaxed);
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	__uint128_t product = (__uint128_t)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The last 16 bytes, or all where there are fewer, some of them twice: loads of one length each. */
static void last_two(const uint8_t *bytes, size_t len, uint64_t *two)
{
	uint32_t words[2] = { 0, 0 };

	if (len >= 2 * sizeof(*two)) {
		memcpy(two, bytes + len - 2 * sizeof(*two), 2 * sizeof(*two));
	} else if (len >= sizeof(*two)) {
		memcpy(&two[0], bytes, sizeof(*two));
		memcpy(&two[1], bytes + len - sizeof(*two), sizeof(*two));
	} else {
		if (len >= sizeof(*words)) {
			memcpy(&words[0], bytes, sizeof(*words));
			memcpy(&words[1], bytes + len - sizeof(*words), sizeof(*words));
		} else if (len) {
			words[0] = (uint32_t)bytes[0] << 16 | (uint32_t)bytes[len / 2] << 8 |
				   bytes[len - 1];
		}
		two[0] = words[0];
		two[1] = words[1];
	}
}

uint64_t hash_bytes(const void *bytes, size_t len)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
	const uint8_t *p = bytes;
	uint64_t seed = atomic_load_explicit(&hash_seed, memory_order_relaxed), h, two[2];
	size_t left = len;

	if (!seed) {
		pthread_once(&once, seed_hash);
		seed = atomic_load_explicit(&hash_seed, memory_order_relaxed);
	}
	h = (seed << 32 | seed >> 32) ^ len * odd;
	for (; left > sizeof(two); p += sizeof(two), left -= sizeof(two)) {
		memcpy(two, p, sizeof(two));
		h = mix(two[0] ^ seed, two[1] ^ h);
	}
	last_two(bytes, len, two);
	return mix(mix(two[0] ^ seed, two[1] ^ h), odd ^ seed << 1);
}

struct intern *intern_new(void)
{
	return calloc(1, sizeof(struct intern));
}

void intern_free(struct intern *in)
{
	if (!in)
		return;
	while (in->blocks) {
		struct block *next = in->blocks->next;

		free(in->blocks);
		in->blocks = next;
	}
	free(in->entries);
	free(in->slots);
	free(in);
}

static void *block_take(struct intern *in, size_t len)
{
	size_t room = (len + 8) & ~(size_t)7; /* at least one byte more, for the NUL */
	struct block *b = in->blocks;

	if (!b || room > b->size - b->used) {
		size_t size = room > BLOCK_SIZE / 4 ? room : BLOCK_SIZE;

		b = malloc(sizeof(*b) + size);
		if (!b)
			return NULL;
		b->size = size;
		b->used = 0;
		in->memory += sizeof(*b) + size;
		/* A block made for one large entry goes behind the one being filled. */
		if (in->blocks && size != BLOCK_SIZE) {
			b->next = in->blocks->next;
			in->blocks->next = b;
		} else {
			b->next = in->blocks;
			in->blocks = b;
		}
	}
	b->used += room;
	return (char *)b->bytes + b->used - room;
}

static struct slot *slot_of(const struct intern *in, const void *bytes, size_t len, uint32_t hash)
{
	uint32_t i = hash & (in->n_slots - 1);

	for (;; i = (i + 1) & (in->n_slots - 1)) {
		struct slot *slot = &in->slots[i];
		const struct entry *e;

		if (!slot->id)
			return slot;
		if (slot->hash != hash)
			continue;
		e = &in->entries[slot->id - 1];
		if (e->len == len && (!len || !memcmp(e->bytes, bytes, len)))
			return slot;
	}
}

static void fill_slots(struct slot *slots, uint32_t n_slots, const struct intern *from)
{
	for (uint32_t k = 0; k < from->n_slots; k++) {
		uint32_t i = from->slots[k].hash & (n_slots - 1);

		if (!from->slots[k].id)
			continue;
		while (slots[i].id)
			i = (i + 1) & (n_slots - 1);
		slots[i] = from->slots[k];
	}
}

static int grow(struct intern *in)
{
	uint32_t n_slots = in->n_slots ? in->n_slots * 2 : FIRST_SLOTS;
	struct entry *entries;
	struct slot *slots;

	if (!n_slots) /* more than 2^31 ids */
		return -1;
	slots = calloc(n_slots, sizeof(*slots));
	entries = realloc(in->entries, n_slots / 2 * sizeof(*entries));
	if (entries)
		in->entries = entries;
	if (!slots || !entries) {
		free(slots);
		return -1;
	}
	fill_slots(slots, n_slots, in);
	in->memory += (n_slots - in->n_slots) * sizeof(*slots) +
		      (n_slots / 2 - in->cap) * sizeof(*entries);
	free(in->slots);
	in->slots = slots;
	in->n_slots = n_slots;
	in->cap = n_slots / 2;
	return 0;
}

uint32_t intern_find(const struct intern *in, const void *bytes, size_t len)
{
	return in->n_slots ? slot_of(in, bytes, len, (uint32_t)hash_bytes(bytes, len))->id : 0;
}

uint32_t intern_add(struct intern *in, const void *bytes, size_t len)
{
	uint32_t hash = (uint32_t)hash_bytes(bytes, len);
	struct slot *slot;
	char *copy;

	if (len > UINT32_MAX - 16)
		return 0;
	if (in->n == in->cap) {
		uint32_t id = intern_find(in, bytes, len);

		if (id)
			return id;
		if (grow(in) < 0)
			return 0;
	}
	slot = slot_of(in, bytes, len, hash);
	if (slot->id)
		return slot->id;
	copy = block_take(in, len);
	if (!copy)
		return 0;
	if (len)
		memcpy(copy, bytes, len);
	copy[len] = 0;
	in->entries[in->n++] = (struct entry){ copy, (uint32_t)len };
	*slot = (struct slot){ in->n, hash };
	return in->n;
}

const void *intern_get(const struct intern *in, uint32_t id, size_t *len)
{
	const struct entry *e = id && id <= in->n ? &in->entries[id - 1] : NULL;

	if (len)
		*len = e ? e->len : 0;
	return e ? e->bytes : NULL;
}

uint32_t intern_count(const struct intern *in)
{
	return in->n;
}

size_t intern_memory(const struct intern *in)
{
	return in->memory + sizeof(*in);
}
