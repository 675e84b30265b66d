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
#include "jfr/layout.h"
#include "jfr/memo.h"
#include "jfr/settings.h"
#include "jfr/worth.h"

struct chunk;
struct moment_reader;

#define LOOK_FIELDS_MAX 16
#define LOOK_LEN_MAX 62 /* bytes */
#define LOOK_WEIGHED_MAX 10
#define LOOK_SHAPES_BITS 4
#define LOOK_SHAPES (1 << LOOK_SHAPES_BITS)

/* A field by its number. */
struct look_field {
	uint8_t index;
	struct layout_width width;
};

/* Where the fields of events begin, by where the varints in their bytes end. */
struct look_shape {
	uint64_t ends; /* a bit for each byte that ends one */
	uint8_t len;   /* of all bytes; 0: there is no such shape */
	/* Of the fields, and of what is behind the last one. There are more than a plan has. */
	uint8_t starts[LOOK_FIELDS_MAX + 1];
};

/* How the events of a type are looked at. */
struct look_plan {
	uint8_t n_fields; /* 0: they are to be read */
	bool has_keys;
	uint8_t first_key, last_key; /* between them is all that names depend on */
	uint32_t bytes;		     /* fields of one byte that are no varints, a bit each */
	enum event_column
		object_column; /* of what is worth one object of so many bytes as its only
				  weighed field says; COLUMN_SAMPLES: it is not so simple */
	bool is_of_tlab;       /* it is worth nothing where ObjectAllocationSample is on */
	bool is_wall, has_samples, has_time_span; /* of samples by wall clock */
	struct look_field samples, time_span;
	bool is_by_state;  /* the weight depends on the state, too, */
	uint8_t n_weighed; /* and on these: */
	struct look_field weighed[LOOK_WEIGHED_MAX];
	bool has_start;
	struct look_field start; /* the time */
	/* Those that were seen last: few types have more than some ten. */
	struct look_shape shapes[LOOK_SHAPES];
};

struct moment_look {
	/* Events for which this is the same refer to the same. One event may say in other bytes
	   what another says. */
	struct memo_key key;
	const struct look_shape *shape; /* of the plan, until another event is looked at */
};

struct look_plan *moment_look_plan(struct moment_reader *r);
/* The shape of bytes with such ends that was not among those of the plan, but is now; NULL: they
   are to be read, or are damaged. */
const struct look_shape *moment_look_shape(struct look_plan *plan, uint64_t ends, size_t len);
/* What it is worth; false: it is no sample. Where the plan says is_by_state, the state is that of
   moments that look the same. */
bool moment_look_weigh(struct moment_reader *r, struct chunk *chunk, const struct event *e,
		       const struct moment_look *look, const struct settings *settings,
		       const char *state, struct worth *out);

static inline struct look_shape *look_shape_slot(struct look_plan *plan, uint64_t ends)
{
	return &plan->shapes[ends * UINT64_C(0x9e3779b97f4a7c15) >> (64 - LOOK_SHAPES_BITS)];
}

/* Finds where fields begin; false: an event that is to be read, or is damaged. */
static inline bool moment_look_starts(struct look_plan *plan, const struct event *e,
				      struct moment_look *look)
{
	size_t len = e->fields_len;
	uint64_t ends;

	_Static_assert(LOOK_LEN_MAX < FIELD_ENDS_LEN_MAX, "a bit is left behind the last end");
	if (!plan->n_fields || len - 1 >= LOOK_LEN_MAX)
		return false;
	ends = field_ends_mask(e->fields, len);
	look->shape = look_shape_slot(plan, ends);
	if (look->shape->ends != ends || look->shape->len != len)
		look->shape = moment_look_shape(plan, ends, len);
	return look->shape;
}

/* How it looks, once its shape is found; false: it has too much of it. */
static inline bool moment_look_key(const struct look_plan *plan, const struct event *e,
				   struct moment_look *look)
{
	unsigned int start = look->shape->starts[plan->first_key];
	unsigned int len = look->shape->starts[plan->last_key + 1] - start;

	look->key.words[0] = look->key.words[1] = 0;
	if (plan->has_keys && len > sizeof(look->key.words))
		return false;
	if (plan->has_keys)
		field_ends_words(e->fields + start, len, look->key.words);
	look->key.of = plan;
	return true;
}

/* Where it ends is known, and it has no nine bytes. */
static inline int64_t look_number(const struct look_field *f, const struct event *e,
				  const struct moment_look *look)
{
	const uint8_t *starts = &look->shape->starts[f->index];
	uint64_t all = wire_load(e->fields + starts[0]);
	unsigned int unused = 64 - 8 * (unsigned int)(starts[1] - starts[0]);

	return layout_narrowed(f->width, wire_pack(all << unused >> unused));
}

/* As moment_start(). */
static inline int64_t moment_look_start(const struct look_plan *plan, const struct event *e,
					const struct moment_look *look)
{
	return plan->has_start ? look_number(&plan->start, e, look) : 0;
}

/* What moment_look_weigh() says of the plans with an object_column: most that is sampled. */
static inline bool moment_look_object(const struct look_plan *plan, const struct event *e,
				      const struct moment_look *look,
				      const struct settings *settings, struct worth *out)
{
	if (plan->is_of_tlab && settings->has_allocation_sample)
		return false;
	*out = worth_of_object(plan->object_column, look_number(&plan->weighed[0], e, look));
	return true;
}

#endif
