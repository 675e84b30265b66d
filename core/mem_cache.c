// SPDX-License-Identifier: Apache-2.0
#include "core/mem_cache.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"

/* No mapping begins or ends inside of one, so it can be read as a whole or not at all. */
#define PAGE 4096
#define FIRST_SLOTS 64
#define BLOCK 4	   /* pages that are read ahead, aligned; a power of two */
#define AT_ONCE 64 /* pages that are asked for together */
#define FEW 1024   /* pages that are read again rather than forgotten */
#define MAX_ASKED 16384

struct page {
	uint64_t number;
	size_t slot;  /* where it is in slots */
	int err;      /* of the read; 0: the bytes are there */
	bool is_used; /* somebody asked for it, not only for what lies beside it */
	uint8_t bytes[PAGE];
};

struct cache_mem {
	struct mem m;
	struct mem *under;
	struct page **slots; /* open addressing by page number */
	size_t n_slots;	     /* a power of two, at least 2 * n */
	/* The first n are in slots, the rest is kept for later ones. */
	struct page **pages;
	size_t n, n_pages, cap_pages;
	size_t max;
	uint64_t reads_left;
	struct page *last;
	bool reads_ahead;
	uint64_t *wanted; /* page numbers, some twice or there already */
	size_t n_wanted, cap_wanted;
	uint64_t *expected; /* page numbers */
	size_t n_expected;
	uint64_t *asked; /* page numbers, some more than once */
	size_t n_asked, cap_asked;
	uint8_t block[BLOCK * PAGE];
};

/* In time that goes by the pages it holds, not by those it once held. */
void mem_cache_forget(struct mem *cache)
{
	struct cache_mem *c = (struct cache_mem *)cache;

	for (size_t i = 0; i < c->n; i++)
		c->slots[c->pages[i]->slot] = NULL;
	c->n = 0;
	c->last = NULL;
}

uint64_t mem_cache_reads_left(const struct mem *cache)
{
	return ((const struct cache_mem *)cache)->reads_left;
}

static size_t slot_of(const struct cache_mem *c, uint64_t number)
{
	size_t i = (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (c->n_slots - 1);

	while (c->slots[i] && c->slots[i]->number != number)
		i = (i + 1) & (c->n_slots - 1);
	return i;
}

static int grow(struct cache_mem *c)
{
	struct page **slots;

	if (2 * (c->n + 1) <= c->n_slots)
		return 0;
	slots = calloc(2 * c->n_slots, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(c->slots);
	c->slots = slots;
	c->n_slots *= 2;
	for (size_t i = 0; i < c->n; i++) {
		c->pages[i]->slot = slot_of(c, c->pages[i]->number);
		c->slots[c->pages[i]->slot] = c->pages[i];
	}
	return 0;
}

/* One that is in no slot; NULL: no memory. */
static struct page *spare_page(struct cache_mem *c)
{
	if (c->n == c->n_pages) {
		if (ARRAY_RESERVE(c->pages, c->cap_pages, c->n_pages) < 0)
			return NULL;
		c->pages[c->n_pages] = malloc(sizeof(struct page));
		if (!c->pages[c->n_pages])
			return NULL;
		c->n_pages++;
	}
	return c->pages[c->n];
}

/* One in its slot, without its bytes yet; NULL: no memory. */
static struct page *add_page(struct cache_mem *c, uint64_t number)
{
	struct page *page = grow(c) ? NULL : spare_page(c);

	if (!page)
		return NULL;
	page->number = number;
	page->err = 0;
	page->is_used = false;
	page->slot = slot_of(c, number);
	c->slots[page->slot] = page;
	c->n++;
	return page;
}

/* The page with those around it. False: not all of them can be read. */
static bool read_block(struct cache_mem *c, uint64_t number)
{
	uint64_t first = number & ~(uint64_t)(BLOCK - 1);

	if (mem_read(c->under, first * PAGE, c->block, BLOCK * PAGE))
		return false;
	for (uint64_t i = 0; i < BLOCK; i++) {
		struct page *page;

		if (c->slots[slot_of(c, first + i)])
			continue;
		page = add_page(c, first + i);
		if (page)
			memcpy(page->bytes, c->block + i * PAGE, PAGE);
	}
	return true;
}

static int read_page(struct cache_mem *c, uint64_t number, struct page **out)
{
	struct page *page;

	if (!c->reads_left)
		return -E2BIG;
	if (c->n + (c->reads_ahead ? BLOCK : 1) > c->max)
		mem_cache_forget(&c->m);
	c->reads_left--;
	if (c->reads_ahead && read_block(c, number)) {
		*out = c->slots[slot_of(c, number)];
		return *out ? 0 : -ENOMEM;
	}
	page = add_page(c, number);
	if (!page)
		return -ENOMEM;
	page->err = mem_read(c->under, number * PAGE, page->bytes, PAGE);
	*out = page;
	return 0;
}

static int page_of(struct cache_mem *c, uint64_t number, struct page **out)
{
	if (!c->last || c->last->number != number) {
		struct page *page = c->slots[slot_of(c, number)];
		int err = page ? 0 : read_page(c, number, &page);

		if (err < 0)
			return err;
		c->last = page;
		if (!page->is_used && c->n_asked < MAX_ASKED &&
		    !ARRAY_RESERVE(c->asked, c->cap_asked, c->n_asked))
			c->asked[c->n_asked++] = number;
		page->is_used = true;
	}
	*out = c->last;
	return 0;
}

static int cache_read(struct mem *m, uint64_t addr, void *buf, size_t len)
{
	struct cache_mem *c = (struct cache_mem *)m;
	uint8_t *to = buf;

	if (len > UINT64_MAX - addr)
		return -EFAULT;
	while (len) {
		size_t at = addr % PAGE, part = PAGE - at < len ? PAGE - at : len;
		struct page *page;
		int err = page_of(c, addr / PAGE, &page);

		if (err < 0 || page->err < 0)
			return err < 0 ? err : page->err;
		memcpy(to, page->bytes + at, part);
		to += part;
		addr += part;
		len -= part;
	}
	return 0;
}

static void cache_free(struct mem *m)
{
	struct cache_mem *c = (struct cache_mem *)m;

	for (size_t i = 0; i < c->n_pages; i++)
		free(c->pages[i]);
	free(c->pages);
	free(c->slots);
	free(c->wanted);
	free(c->expected);
	free(c->asked);
	free(c);
}

void mem_cache_want(struct mem *cache, uint64_t addr, size_t len)
{
	struct cache_mem *c = (struct cache_mem *)cache;
	uint64_t last = len - 1 <= UINT64_MAX - addr ? addr + len - 1 : UINT64_MAX;

	for (uint64_t number = addr / PAGE; len && number <= last / PAGE; number++) {
		/* Most are those that were wanted just now. */
		if (c->n_wanted && c->wanted[c->n_wanted - 1] == number)
			continue;
		if (c->n_wanted >= c->max || ARRAY_RESERVE(c->wanted, c->cap_wanted, c->n_wanted))
			return;
		c->wanted[c->n_wanted++] = number;
	}
}

/* One that is wanted and not there gets its place; NULL: there is nothing to read. */
static struct page *begin_page(struct cache_mem *c, uint64_t number)
{
	return c->slots[slot_of(c, number)] ? NULL : add_page(c, number);
}

void mem_cache_fetch(struct mem *cache)
{
	struct cache_mem *c = (struct cache_mem *)cache;
	struct mem_place places[AT_ONCE];
	struct page *pages[AT_ONCE];

	if (c->n + c->n_wanted > c->max)
		mem_cache_forget(cache);
	for (size_t i = 0; i < c->n_wanted && c->reads_left;) {
		size_t n = 0, cost;

		for (; i < c->n_wanted && n < AT_ONCE; i++) {
			pages[n] = begin_page(c, c->wanted[i]);
			if (!pages[n])
				continue;
			places[n] =
				(struct mem_place){ c->wanted[i] * PAGE, PAGE, pages[n]->bytes, 0 };
			n++;
		}
		mem_read_many(c->under, places, n);
		for (size_t k = 0; k < n; k++)
			pages[k]->err = places[k].err;
		cost = (n + BLOCK - 1) / BLOCK;
		c->reads_left -= cost < c->reads_left ? cost : c->reads_left;
	}
	c->n_wanted = 0;
}

static void want_used(struct cache_mem *c)
{
	c->n_wanted = 0;
	for (size_t i = 0; i < c->n; i++)
		if (!c->pages[i]->err && c->pages[i]->is_used)
			mem_cache_want(&c->m, c->pages[i]->number * PAGE, 1);
}

void mem_cache_refresh(struct mem *cache)
{
	want_used((struct cache_mem *)cache);
	mem_cache_forget(cache);
	mem_cache_fetch(cache);
}

void mem_cache_renew(struct mem *cache)
{
	struct cache_mem *c = (struct cache_mem *)cache;

	want_used(c);
	if (c->n_wanted + c->n_expected > FEW)
		c->n_wanted = 0;
	else
		for (size_t i = 0; i < c->n_expected; i++)
			mem_cache_want(cache, c->expected[i] * PAGE, 1);
	mem_cache_forget(cache);
	mem_cache_fetch(cache);
}

void mem_cache_expect(struct mem *cache, const uint64_t *pages, size_t n)
{
	struct cache_mem *c = (struct cache_mem *)cache;
	uint64_t *copy = n && n <= FEW ? malloc(n * sizeof(*copy)) : NULL;

	if (!copy)
		return;
	memcpy(copy, pages, n * sizeof(*copy));
	free(c->expected);
	c->expected = copy;
	c->n_expected = n;
	mem_cache_renew(cache);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

size_t mem_cache_asked(struct mem *cache, uint64_t *pages, size_t max)
{
	struct cache_mem *c = (struct cache_mem *)cache;
	size_t n = 0;

	if (c->n_asked)
		qsort(c->asked, c->n_asked, sizeof(*c->asked), by_number);
	for (size_t i = 0; i < c->n_asked; i++) {
		if (i && c->asked[i] == c->asked[i - 1])
			continue;
		if (n == max)
			return 0;
		pages[n++] = c->asked[i];
	}
	return n;
}

void mem_cache_read_ahead(struct mem *cache, bool is_wanted)
{
	struct cache_mem *c = (struct cache_mem *)cache;

	c->reads_ahead = is_wanted && c->max >= BLOCK;
}

struct mem *mem_cache_new(struct mem *under, size_t max_bytes, uint64_t max_reads)
{
	static const struct mem_ops ops = { .read = cache_read, .free = cache_free };
	struct cache_mem *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->m.ops = &ops;
	c->under = under;
	c->reads_left = max_reads;
	c->max = max_bytes / PAGE ? max_bytes / PAGE : 1;
	c->n_slots = FIRST_SLOTS;
	c->slots = calloc(c->n_slots, sizeof(*c->slots));
	if (c->slots)
		return &c->m;
	free(c);
	return NULL;
}
