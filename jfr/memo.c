// SPDX-License-Identifier: Apache-2.0
#include "jfr/memo.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 4096      /* a power of two */
#define MAX_SLOTS (32 * 1024) /* 1 MB: more would not stay near the CPU */

void memo_deinit(struct memo *m)
{
	free(m->slots);
	*m = (struct memo){ 0 };
}

void memo_clear(struct memo *m)
{
	if (m->n)
		memset(m->slots, 0, m->n_slots * sizeof(*m->slots));
	m->n = 0;
}

/* Where there is room, or in the place of the one that would be looked at first. */
static void put(struct memo *m, const struct memo_slot *new)
{
	size_t mask = m->n_slots - 1, first = memo_hash(&new->key), at = first;

	while (at < first + MEMO_PROBES && m->slots[at & mask].key.of)
		at++;
	if (at == first + MEMO_PROBES)
		at = first;
	m->n += !m->slots[at & mask].key.of;
	m->slots[at & mask] = *new;
}

/* 0, or what is known by now is all there will be. */
static int grow(struct memo *m)
{
	struct memo larger = { .n_slots = m->n_slots ? m->n_slots * 2 : FIRST_SLOTS };

	larger.slots = calloc(larger.n_slots, sizeof(*larger.slots));
	if (!larger.slots)
		return -1;
	for (size_t i = 0; i < m->n_slots; i++)
		if (m->slots[i].key.of)
			put(&larger, &m->slots[i]);
	free(m->slots);
	*m = larger;
	return 0;
}

void memo_add(struct memo *m, const struct memo_key *key, uint64_t value)
{
	const struct memo_slot new = { .key = *key, .value = value };

	if (2 * m->n >= m->n_slots && m->n_slots < MAX_SLOTS && grow(m))
		return;
	if (2 * m->n >= m->n_slots)
		memo_clear(m);
	put(m, &new);
}
