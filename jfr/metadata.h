/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the events and constants of a chunk look like: its metadata event (type id 0), as
 * jdk.jfr.internal.MetadataDescriptor writes it. Nothing about layouts is known beforehand; type
 * ids differ from one recording to the next and are looked up by name.
 *
 * All text in it is UTF-8 and owned by it. Types are in the order of their ids.
 */
#ifndef JFR_METADATA_H
#define JFR_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reader;

enum { TYPE_METADATA = 0, TYPE_CONSTANTS = 1, N_OWN_TYPES }; /* ids of a chunk's own events */

enum jfr_kind { /* how a value of a type is written */
		JFR_STRUCT,
		JFR_BOOLEAN,
		JFR_BYTE,
		JFR_SHORT,
		JFR_CHAR,
		JFR_INT,
		JFR_LONG,
		JFR_FLOAT,
		JFR_DOUBLE,
		JFR_STRING,
};

enum jfr_unit { /* by the annotations of a field */
		JFR_NO_UNIT,
		JFR_TIMESTAMP_TICKS,
		JFR_TIMESTAMP_NS, /* since 1970 */
		JFR_TIMESTAMP_MS,
		JFR_TIMESPAN_TICKS,
		JFR_TIMESPAN_NS,
		JFR_TIMESPAN_US,
		JFR_TIMESPAN_MS,
		JFR_TIMESPAN_S,
		JFR_BYTES,
		JFR_BITS,
		JFR_HERTZ,
		JFR_ADDRESS,
		JFR_PERCENTAGE, /* 1 is all */
};

struct jfr_type;

struct jfr_field {
	const char *name;
	uint64_t type_id;
	const struct jfr_type *type; /* NULL: not described */
	bool is_constant, is_array, is_unsigned, is_contextual;
	enum jfr_unit unit;
};

struct jfr_type {
	uint64_t id;
	const char *name;  /* "jdk.ExecutionSample" */
	const char *super; /* "" without */
	bool is_simple;	   /* one field that stands for the whole */
	bool is_event;
	enum jfr_kind kind;
	const struct jfr_field *fields;
	size_t n_fields;
};

struct metadata;

/* Of the bytes of a whole event, its size first. NULL and *err: -EBADMSG, -E2BIG, -ENOMEM, with
 *what and *where (an offset from the event's start). */
struct metadata *metadata_parse(const void *bytes, size_t len, int *err, const char **what,
				uint64_t *where);
struct metadata *metadata_ref(struct metadata *m);
void metadata_unref(struct metadata *m); /* NULL is fine */
/* Was it made of these bytes, but for where and when the event was written? */
bool metadata_is(const struct metadata *m, const void *bytes, size_t len);

size_t metadata_n_types(const struct metadata *m);
const struct jfr_type *metadata_type(const struct metadata *m, size_t index);
/* NULL: there is none. */
const struct jfr_type *metadata_by_id(const struct metadata *m, uint64_t id);
/* The same, one after the other: for the few that are asked for by name. Of several the last. */
const struct jfr_type *metadata_by_name(const struct metadata *m, const char *name);
/*
 * What the heads of small events say: by the two bytes behind a size that has one, the first of
 * them the higher one, which of the types of events it is, in the order of their ids, from 1 on; 0:
 * none. Most events have nothing else in their heads.
 */
const uint16_t *metadata_heads(const struct metadata *m);
#define METADATA_HEAD_ID_MAX 0x3fff /* of what is there */
/* Where an id up to that stands there. */
static inline uint16_t metadata_head(uint64_t id)
{
	return (uint16_t)(id < 1 << 7 ? id << 8 : id << 8 | 1 << 15 | id >> 7);
}

/* Its place among the fields, or -1. */
int jfr_type_field(const struct jfr_type *t, const char *name);
/* Is this a unit of time since the chunk's start or 1970? Of how long something took? */
static inline bool jfr_unit_is_timestamp(enum jfr_unit unit)
{
	return unit >= JFR_TIMESTAMP_TICKS && unit <= JFR_TIMESTAMP_MS;
}

static inline bool jfr_unit_is_timespan(enum jfr_unit unit)
{
	return unit >= JFR_TIMESPAN_TICKS && unit <= JFR_TIMESPAN_S;
}

#endif
