/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event types of one metadata, found by id as fast as an event can be read, how often each was
 * seen, and what whoever reads them (struct event_visitor) needs to know about it.
 */
#ifndef JFR_EVENT_TYPES_H
#define JFR_EVENT_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jfr/metadata.h"

struct chunk;
struct event;
struct event_types;
struct layout;

/* Who looks at events. */
struct event_visitor {
	void *ctx;
	/* What its event() wants to know about a type of a new metadata; NULL: these events are
	   only counted. */
	void *(*bind)(void *ctx, struct metadata *m, const struct jfr_type *type);
	void (*unbind)(void *ctx, void *binding);
	/* Before the first and after the last event of a chunk, or of a piece of it; counts of
	   types are those of the chunk then. Either may be NULL. When the first says 1 nobody
	   wants the chunk's events. */
	int (*begin)(void *ctx, struct chunk *chunk);
	int (*end)(void *ctx, struct chunk *chunk, struct event_types *types);
	/* Metadata that the first chunk may share, or NULL; may be NULL itself. */
	struct metadata *(*known)(void *ctx);
	/* In the order of the file. 0; -EBADMSG: these bytes are no such event; another negative
	   errno ends the reading. */
	int (*event)(void *ctx, struct chunk *chunk, const struct event *e);
};

/* No two of what is counted lie side by side: they would become one vector, which is slower. */
struct event_type {
	const struct jfr_type *type;
	uint64_t count; /* since event_types_reset(), as bytes */
	void *binding;
	uint64_t bytes;
	struct layout *layout; /* made when event_type_layout() asks */
	/* What was counted elsewhere meanwhile: event_types_add_up() */
	uint64_t ahead_count;
	int8_t head_len;     /* of its events of less than 128 bytes: their size, 1, and its id */
	bool is_undescribed; /* there is no layout */
	uint64_t ahead_bytes;
};

struct event {
	struct event_type *type;
	uint64_t at; /* of its first byte, in the file */
	uint32_t size;
	const uint8_t *fields; /* behind its type id; WIRE_PADDING more bytes can be loaded */
	size_t fields_len;
};

struct event_types *event_types_new(struct metadata *m, const struct event_visitor *visitor);
void event_types_free(struct event_types *t); /* NULL is fine */
struct metadata *event_types_metadata(const struct event_types *t);
const struct event_visitor *event_types_visitor(const struct event_types *t);
/* NULL: nothing is said about this id, or it is that of a chunk's own events. */
struct event_type *event_types_find(const struct event_types *t, uint64_t id);

/* The same by the two bytes behind the size of an event, if that has one: most events have nothing
   else in their heads. A row that is no type has a head_len that no such event is longer than. */
struct event_heads {
	const uint16_t *by_bytes; /* index of a row; the first byte is the higher one */
	struct event_type *rows;
};
const struct event_heads *event_types_heads(const struct event_types *t);

size_t event_types_n(const struct event_types *t);
void event_types_reset(struct event_types *t);
void event_types_add_up(struct event_types *t);
struct event_type *event_types_at(const struct event_types *t, size_t index);
/* How all fields are read; NULL when the metadata does not say. */
const struct layout *event_type_layout(struct event_type *t);

#endif
