/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event that is looked at without being read, as most say what others said before them: in the
 * same thread the same stack in the same state. The bytes that say so are compared as they are; of
 * the rest only what it is worth is read, and when it was if somebody asks.
 */
#ifndef JFR_MOMENT_LOOK_H
#define JFR_MOMENT_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "jfr/event_types.h"
#include "jfr/field_ends.h"
#include "jfr/memo.h"

struct chunk;
struct moment;
struct moment_reader;
struct settings;

#define LOOK_FIELDS_MAX 16
#define LOOK_WEIGHED_MAX 10

/* How the events of a type are looked at: fields by their number. */
struct look_plan {
	uint8_t n_fields; /* 0: they are to be read */
	bool is_idle;	  /* they are worth nothing, whatever they say */
	bool has_keys;
	uint8_t first_key, last_key; /* between them is all that names depend on */
	uint32_t bytes;		     /* fields of one byte that are no varints, a bit each */
	uint8_t weighed[LOOK_WEIGHED_MAX], n_weighed; /* that the weight depends on */
};

struct moment_look {
	/* Events for which this is the same refer to the same. One event may say in other bytes
	   what another says. */
	struct memo_key key;
	uint8_t ends[LOOK_FIELDS_MAX]; /* of the fields */
};

const struct look_plan *moment_look_plan(const struct moment_reader *r);
/* What it is worth, in m, of which nothing else is valid. state: that moments have which look the
   same. */
void moment_look_weigh(struct moment_reader *r, struct chunk *chunk, const struct event *e,
		       const struct moment_look *look, const char *state,
		       const struct settings *settings, struct moment *m);
int64_t moment_look_time(const struct moment_reader *r, const struct chunk *chunk,
			 const struct event *e, const struct moment_look *look);

static inline unsigned int moment_look_start(const struct moment_look *look, unsigned int field)
{
	return field ? look->ends[field - 1] : 0;
}

/* Finds where fields end; false: an event that is to be read, or is damaged. */
static inline bool moment_look_ends(const struct look_plan *plan, const struct event *e,
				    struct moment_look *look)
{
	size_t len = e->fields_len;
	uint64_t mask;

	if (!plan->n_fields || len - 1 >= FIELD_ENDS_LEN_MAX)
		return false;
	mask = field_ends_mask(e->fields, len);
	if (!(mask >> (len - 1)) || field_ends_have_nine(mask, len))
		return false;
	for (unsigned int i = 0; i < plan->n_fields; i++, mask &= mask - 1) {
		if (!mask)
			return false;
		look->ends[i] = (uint8_t)(__builtin_ctzll(mask) + 1);
	}
	for (uint32_t bytes = plan->bytes; bytes; bytes &= bytes - 1) {
		unsigned int i = (unsigned int)__builtin_ctz(bytes);

		if (look->ends[i] - moment_look_start(look, i) != 1)
			return false;
	}
	return !mask;
}

/* How it looks, once its ends are found; false: it has too much of it. */
static inline bool moment_look_key(const struct look_plan *plan, const struct event *e,
				   struct moment_look *look)
{
	unsigned int start = moment_look_start(look, plan->first_key);
	unsigned int len = look->ends[plan->last_key] - start;

	look->key.words[0] = look->key.words[1] = 0;
	if (plan->has_keys && len > sizeof(look->key.words))
		return false;
	if (plan->has_keys)
		field_ends_words(e->fields + start, len, look->key.words);
	look->key.of = plan;
	return true;
}

#endif
