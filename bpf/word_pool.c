// SPDX-License-Identifier: Apache-2.0
#include "bpf/word_pool.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"

#define GRANULE 8u /* words; keeps ranges aligned and the list of holes short */

struct range {
	uint32_t first, n;
};

struct waiting {
	struct range range;
	uint64_t time_ns;
};

struct word_pool {
	struct range *holes; /* sorted, no two touch */
	size_t n_holes, cap_holes;
	struct waiting *waiting; /* oldest first */
	size_t n_waiting, cap_waiting;
	uint32_t n_words, n_free;
};

static uint32_t round_up(uint32_t n)
{
	return (n + GRANULE - 1) / GRANULE * GRANULE;
}

struct word_pool *word_pool_new(uint32_t n_words)
{
	struct word_pool *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->cap_holes = 16;
	p->holes = calloc(p->cap_holes, sizeof(*p->holes));
	if (!p->holes) {
		free(p);
		return NULL;
	}
	p->n_words = n_words;
	if (n_words >= 2 * GRANULE) {
		p->n_free = n_words / GRANULE * GRANULE - GRANULE;
		p->holes[p->n_holes++] = (struct range){ GRANULE, p->n_free };
	}
	return p;
}

void word_pool_free(struct word_pool *p)
{
	if (!p)
		return;
	free(p->holes);
	free(p->waiting);
	free(p);
}

uint32_t word_pool_get(struct word_pool *p, uint32_t n_words)
{
	uint32_t n = round_up(n_words), first;

	if (!n || n < n_words)
		return 0;
	for (size_t i = 0; i < p->n_holes; i++) {
		struct range *hole = &p->holes[i];

		if (hole->n < n)
			continue;
		first = hole->first;
		hole->first += n;
		hole->n -= n;
		p->n_free -= n;
		if (!hole->n) {
			p->n_holes--;
			memmove(hole, hole + 1, (p->n_holes - i) * sizeof(*hole));
		}
		return first;
	}
	return 0;
}

/* Joins hole i with the next one if they touch. */
static void join(struct word_pool *p, size_t i)
{
	struct range *hole = &p->holes[i];

	if (i + 1 >= p->n_holes || hole[0].first + hole[0].n != hole[1].first)
		return;
	hole[0].n += hole[1].n;
	p->n_holes--;
	memmove(&hole[1], &hole[2], (p->n_holes - i - 1) * sizeof(*hole));
}

/* Without memory for the list the range is lost to use, which is safe. */
static void add_hole(struct word_pool *p, struct range r)
{
	size_t i = 0;

	if (ARRAY_RESERVE(p->holes, p->cap_holes, p->n_holes) < 0)
		return;
	while (i < p->n_holes && p->holes[i].first < r.first)
		i++;
	memmove(&p->holes[i + 1], &p->holes[i], (p->n_holes - i) * sizeof(*p->holes));
	p->holes[i] = r;
	p->n_holes++;
	p->n_free += r.n;
	join(p, i);
	if (i > 0)
		join(p, i - 1);
}

void word_pool_put(struct word_pool *p, uint32_t first, uint32_t n_words, uint64_t now_ns)
{
	if (ARRAY_RESERVE(p->waiting, p->cap_waiting, p->n_waiting) < 0)
		return;
	p->waiting[p->n_waiting++] = (struct waiting){ { first, round_up(n_words) }, now_ns };
}

void word_pool_settle(struct word_pool *p, uint64_t now_ns)
{
	size_t n = 0;

	while (n < p->n_waiting && p->waiting[n].time_ns + WORD_POOL_GRACE_NS <= now_ns)
		add_hole(p, p->waiting[n++].range);
	if (!n)
		return;
	p->n_waiting -= n;
	memmove(p->waiting, p->waiting + n, p->n_waiting * sizeof(*p->waiting));
}

uint32_t word_pool_used(const struct word_pool *p)
{
	return p->n_words - p->n_free;
}
