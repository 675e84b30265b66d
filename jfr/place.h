/* SPDX-License-Identifier: Apache-2.0 */
/* Where an event type has a field, and what it holds: looked up once, not for each event. */
#ifndef JFR_PLACE_H
#define JFR_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "jfr/layout.h"
#include "jfr/metadata.h"

struct chunk;

struct place {
	int leaf; /* -1: there is none */
	enum jfr_value_kind kind;
	enum jfr_unit unit;
	uint64_t type; /* of a constant */
};

struct place place_find(const struct layout *l, const char *name); /* NULL: no field */
/* The first that is there, of names that end with NULL. */
struct place place_find_first(const struct layout *l, const char *const *names);

/* Is it a constant's key? */
static inline bool place_refers(const struct place *p)
{
	return p->leaf >= 0 && p->kind == VALUE_CONSTANT;
}

/* The key; 0 when it is none. */
static inline int64_t place_key(const struct place *p, const struct jfr_value *values)
{
	return place_refers(p) ? values[p->leaf].n : 0;
}

int64_t place_rounded(double real);

/* As a number; 0 when there is none. */
static inline int64_t place_number(const struct place *p, const struct jfr_value *values)
{
	if (p->leaf < 0)
		return 0;
	if (p->kind == VALUE_NUMBER || p->kind == VALUE_CONSTANT)
		return values[p->leaf].n;
	return p->kind == VALUE_REAL ? place_rounded(values[p->leaf].real) : 0;
}

/* A value in nanoseconds, by its unit. */
int64_t value_ns(const struct chunk *chunk, enum jfr_unit unit, int64_t value);
/* Is it "not known" or "for ever", which Java writes as its smallest and largest numbers? */
static inline bool value_is_no_time(int64_t value)
{
	return value == INT64_MIN || value == INT64_MAX;
}

/* A number that is there, in nanoseconds: a length or a time since 1970; `none` when it is none. */
static inline int64_t place_value_ns(const struct place *p, int64_t value,
				     const struct chunk *chunk, int64_t none)
{
	if (p->kind != VALUE_NUMBER || value_is_no_time(value))
		return none;
	return value_ns(chunk, p->unit, value);
}

/* The same; `none` also when there is none. */
static inline int64_t place_ns(const struct place *p, const struct jfr_value *values,
			       const struct chunk *chunk, int64_t none)
{
	return p->leaf < 0 ? none : place_value_ns(p, values[p->leaf].n, chunk, none);
}

#endif
