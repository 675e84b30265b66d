// SPDX-License-Identifier: Apache-2.0
#include "jfr/span_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/intern.h"
#include "core/scoped.h"

#define FIRST_SLOTS 256		/* a power of two */
#define MAX_SPANS (256 * 1024)	/* 12 MB of slots */
#define MAX_TEXTS_LEN (4 << 20) /* of names that have ids in them, and so never come again */

void span_names_deinit(struct span_names *s)
{
	intern_free(s->texts);
	free(s->slots);
	free(s->room.text);
	*s = (struct span_names){ 0 };
}

void span_names_clear(struct span_names *s)
{
	if (!s->n)
		return;
	intern_free(s->texts);
	s->texts = NULL;
	memset(s->slots, 0, s->n_slots * sizeof(*s->slots));
	s->n = 0;
}

static struct named_span key_of(const char *trace_id, const char *span_id)
{
	return (struct named_span){ .ids = { hash_bytes(span_id, strlen(span_id)),
					     hash_bytes(trace_id, strlen(trace_id)) } };
}

/* Where it is, or would be: hashes are seeded, so that nobody can choose them. */
static struct named_span *slot_of(const struct span_names *s, const struct named_span *key)
{
	size_t mask = s->n_slots - 1, at = key->ids[0] & mask;

	while (s->slots[at].name && memcmp(s->slots[at].ids, key->ids, sizeof(key->ids)))
		at = (at + 1) & mask;
	return &s->slots[at];
}

static int grow(struct span_names *s)
{
	struct span_names larger = { .n_slots = s->n_slots ? s->n_slots * 2 : FIRST_SLOTS };

	larger.slots = calloc(larger.n_slots, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_slots; i++)
		if (s->slots[i].name)
			*slot_of(&larger, &s->slots[i]) = s->slots[i];
	free(s->slots);
	s->slots = larger.slots;
	s->n_slots = larger.n_slots;
	return 0;
}

static int add(struct span_names *s, const struct named_span *span, const char *name)
{
	struct named_span *slot;
	uint32_t id;

	if (!s->texts)
		s->texts = intern_new();
	if (!s->texts)
		return -ENOMEM;
	if (s->n >= MAX_SPANS || intern_memory(s->texts) >= MAX_TEXTS_LEN)
		return 0;
	if (2 * s->n >= s->n_slots && grow(s))
		return -ENOMEM;
	id = intern_add(s->texts, name, strlen(name));
	if (!id)
		return -ENOMEM;
	slot = slot_of(s, span);
	if (!slot->name) {
		*slot = *span;
		slot->number = (uint32_t)s->n++;
	}
	slot->name = id;
	return 0;
}

int span_names_add(struct span_names *s, const char *trace_id, const char *span_id,
		   const char *name)
{
	struct named_span span = key_of(trace_id, span_id);

	return add(s, &span, name);
}

/* Slots are in another order in every run, and there may not be room for all. */
int span_names_append(struct span_names *s, const struct span_names *from)
{
	SCOPED(free) const struct named_span **in_order = calloc(from->n, sizeof(*in_order));
	int err = from->n && !in_order ? -ENOMEM : 0;

	for (size_t i = 0; i < from->n_slots && !err; i++)
		if (from->slots[i].name)
			in_order[from->slots[i].number] = &from->slots[i];
	for (size_t i = 0; i < from->n && !err; i++)
		err = add(s, in_order[i], intern_get(from->texts, in_order[i]->name, NULL));
	return err;
}

const char *span_names_find(const struct span_names *s, const char *trace_id, const char *span_id)
{
	struct named_span key;

	if (!s->n)
		return NULL;
	key = key_of(trace_id, span_id);
	return intern_get(s->texts, slot_of(s, &key)->name, NULL);
}
