/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What came of bytes that a recording has over and over: of events that look the same, of frames.
 * It may forget any of them at any time, so whoever finds nothing works it out once more. Bounded
 * in memory, and in time also where somebody chose the bytes.
 */
#ifndef JFR_MEMO_H
#define JFR_MEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As much of the bytes as decides, zeros behind them, and what they are bytes of: never NULL. */
struct memo_key {
	uint64_t words[2];
	const void *of;
};

struct memo_slot {
	struct memo_key key; /* of NULL: it is free */
	uint64_t value;
};

struct memo { /* all zero at first */
	struct memo_slot *slots;
	size_t n, n_slots;
};

void memo_deinit(struct memo *m);
void memo_clear(struct memo *m);
/* Adds one that is not there. */
void memo_add(struct memo *m, const struct memo_key *key, uint64_t value);

#define MEMO_PROBES 16 /* from where a key's hash says */

static inline uint64_t memo_fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline size_t memo_hash(const struct memo_key *key)
{
	uint64_t first = (key->words[0] ^ (uintptr_t)key->of) * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)memo_fold(first ^ key->words[1], UINT64_C(0xd6e8feb86659fd93));
}

/* NULL: it is not known. Until the next one is added. */
static inline const uint64_t *memo_find(const struct memo *m, const struct memo_key *key)
{
	size_t mask = m->n_slots - 1, at = memo_hash(key), end = at + MEMO_PROBES;

	if (!m->n)
		return NULL;
	for (; at != end; at++) {
		const struct memo_slot *slot = &m->slots[at & mask];

		if (slot->key.words[0] == key->words[0] && slot->key.words[1] == key->words[1] &&
		    slot->key.of == key->of)
			return &slot->value;
		if (!slot->key.of)
			break;
	}
	return NULL;
}

#endif
