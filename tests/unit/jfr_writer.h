/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests: recordings byte by byte, also such as no JVM would write. A chunk is begun, gets its
 * metadata, checkpoints and events in any order, and is ended, which writes its header.
 */
#ifndef TESTS_UNIT_JFR_WRITER_H
#define TESTS_UNIT_JFR_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct jfr_bytes {
	uint8_t *data;
	size_t len, cap;
};

static inline void put_bytes(struct jfr_bytes *b, const void *data, size_t len)
{
	if (len > b->cap - b->len) {
		b->cap = 2 * (b->len + len);
		b->data = realloc(b->data, b->cap);
	}
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
}

static inline void put_u8(struct jfr_bytes *b, unsigned int value)
{
	uint8_t byte = (uint8_t)value;

	put_bytes(b, &byte, 1);
}

static inline void put_be(struct jfr_bytes *b, uint64_t value, unsigned int len)
{
	while (len--)
		put_u8(b, (unsigned int)(value >> 8 * len));
}

/* In at least width bytes, of which the ninth has eight bits. */
static inline void put_padded(struct jfr_bytes *b, uint64_t value, unsigned int width)
{
	for (unsigned int i = 1; i < 9; i++) {
		bool is_last = value < 0x80 && i >= width;

		put_u8(b, (unsigned int)(value & 0x7f) | (is_last ? 0 : 0x80));
		if (is_last)
			return;
		value >>= 7;
	}
	put_u8(b, (unsigned int)value);
}

static inline void put_varint(struct jfr_bytes *b, uint64_t value)
{
	put_padded(b, value, 1);
}

/* encoding: 0 to 5, as in jfr/wire.h; of 2 the key is the text's number. ASCII only. */
static inline void put_string(struct jfr_bytes *b, unsigned int encoding, const char *text)
{
	put_u8(b, encoding);
	if (encoding == 2)
		put_varint(b, strtoull(text, NULL, 10));
	if (encoding < 3)
		return;
	put_varint(b, strlen(text));
	if (encoding != 4)
		put_bytes(b, text, strlen(text));
	for (; encoding == 4 && *text; text++)
		put_varint(b, (uint8_t)*text);
}

/* Where an event begins, whose size is written last. */
static inline size_t event_begin(struct jfr_bytes *b, uint64_t type)
{
	size_t at = b->len;

	put_be(b, 0, 4);
	put_varint(b, type);
	return at;
}

static inline void event_end(struct jfr_bytes *b, size_t at)
{
	struct jfr_bytes size = { 0 };

	put_padded(&size, b->len - at, 4);
	memcpy(b->data + at, size.data, 4);
	free(size.data);
}

/* What the header says; what is 0 is filled in when the chunk ends. */
struct jfr_chunk {
	struct jfr_bytes *b;
	size_t at; /* of the chunk in b */
	uint16_t major, minor;
	uint64_t size, constants_at, metadata_at, duration_ns, ticks_per_s;
	int64_t start_ns, start_ticks;
	unsigned int state, flags;
	bool is_live; /* offsets stay 0 when nothing is there */
};

#define WRITER_START_NS INT64_C(1700000000000000000)
#define WRITER_START_TICKS INT64_C(5000000000)
#define WRITER_DURATION_NS UINT64_C(1000000000)

/* The number-th chunk of a JVM: each takes a second of as many nanoseconds as ticks. */
static inline struct jfr_chunk jfr_chunk_begin(struct jfr_bytes *b, int64_t number)
{
	struct jfr_chunk c = {
		.b = b,
		.at = b->len,
		.major = 2,
		.minor = 1,
		.start_ns = WRITER_START_NS + number * (int64_t)WRITER_DURATION_NS,
		.start_ticks = WRITER_START_TICKS + number * (int64_t)WRITER_DURATION_NS,
		.duration_ns = WRITER_DURATION_NS,
		.ticks_per_s = 1000000000,
		.flags = 1,
	};

	for (int i = 0; i < 68; i++)
		put_u8(b, 0);
	return c;
}

static inline void jfr_header(struct jfr_bytes *b, const struct jfr_chunk *c)
{
	put_bytes(b, "FLR", 4);
	put_be(b, c->major, 2);
	put_be(b, c->minor, 2);
	put_be(b, c->size, 8);
	put_be(b, c->constants_at, 8);
	put_be(b, c->metadata_at, 8);
	put_be(b, (uint64_t)c->start_ns, 8);
	put_be(b, c->duration_ns, 8);
	put_be(b, (uint64_t)c->start_ticks, 8);
	put_be(b, c->ticks_per_s, 8);
	put_u8(b, c->state);
	put_u8(b, 0);
	put_be(b, c->flags, 2);
}

static inline void jfr_chunk_end(struct jfr_chunk *c)
{
	struct jfr_bytes header = { 0 };

	if (!c->size)
		c->size = c->b->len - c->at;
	jfr_header(&header, c);
	memcpy(c->b->data + c->at, header.data, header.len);
	free(header.data);
}

/* A checkpoint, which has so many pools; delta leads to the one before unless `is_first`. */
static inline size_t checkpoint_begin(struct jfr_chunk *c, bool is_first, uint64_t n_pools)
{
	size_t at = event_begin(c->b, 1);
	uint64_t here = at - c->at;

	put_varint(c->b, (uint64_t)c->start_ticks);
	put_varint(c->b, 0);
	put_varint(c->b, is_first || !c->constants_at ? 0 : c->constants_at - here);
	put_u8(c->b, 0);
	put_varint(c->b, n_pools);
	c->constants_at = here;
	return at;
}

static inline void put_pool(struct jfr_bytes *b, uint64_t type, uint64_t n)
{
	put_varint(b, type);
	put_padded(b, n, 4);
}

/* The elements of metadata, in their order; depth says whose children they are. */
struct jfr_element {
	unsigned int depth;
	char name[16];
	size_t n;
	char keys[8][16], values[8][80];
};

struct jfr_types {
	struct jfr_element *items;
	size_t n;
	unsigned int encoding; /* of strings; 0: 4, as a JVM does */
};

/* keys and values, and then NULL. */
static inline void types_add(struct jfr_types *t, unsigned int depth, const char *name,
			     const char *const *attributes)
{
	struct jfr_element *e;

	t->items = reallocarray(t->items, t->n + 1, sizeof(*t->items));
	e = &t->items[t->n++];
	*e = (struct jfr_element){ .depth = depth };
	snprintf(e->name, sizeof(e->name), "%s", name);
	for (; attributes[0]; attributes += 2) {
		if (!attributes[1])
			continue;
		snprintf(e->keys[e->n], sizeof(e->keys[0]), "%s", attributes[0]);
		snprintf(e->values[e->n++], sizeof(e->values[0]), "%s", attributes[1]);
	}
}

#define TYPES_ADD(t, depth, name, ...) \
	types_add(t, depth, name, (const char *const[]){ __VA_ARGS__, NULL, NULL })

static inline void types_begin(struct jfr_types *t)
{
	TYPES_ADD(t, 0, "root", NULL);
	TYPES_ADD(t, 1, "metadata", NULL);
}

static inline void types_end(struct jfr_types *t)
{
	TYPES_ADD(t, 1, "region", "locale", "en_US", "gmtOffset", "0");
}

static inline void add_class(struct jfr_types *t, unsigned int id, const char *name,
			     const char *super)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", id);
	TYPES_ADD(t, 2, "class", "id", text, "name", name, "superType", super);
}

static inline void add_simple_class(struct jfr_types *t, unsigned int id, const char *name)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", id);
	TYPES_ADD(t, 2, "class", "id", text, "name", name, "simpleType", "true");
}

enum { FIELD_CONSTANT = 1, FIELD_ARRAY = 2 };

static inline void add_field(struct jfr_types *t, const char *name, unsigned int type, int flags)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", type);
	TYPES_ADD(t, 3, "field", "name", name, "class", text, "constantPool",
		  flags & FIELD_CONSTANT ? "true" : NULL, "dimension",
		  flags & FIELD_ARRAY ? "1" : NULL);
}

static inline void add_annotation(struct jfr_types *t, unsigned int type, const char *value)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", type);
	TYPES_ADD(t, 4, "annotation", "class", text, "value", value);
}

static inline uint64_t types_children(const struct jfr_types *t, size_t at)
{
	uint64_t n = 0;

	for (size_t i = at + 1; i < t->n && t->items[i].depth > t->items[at].depth; i++)
		n += t->items[i].depth == t->items[at].depth + 1;
	return n;
}

/* Numbers strings as they come, each occurrence by itself. */
static inline void put_elements(struct jfr_bytes *b, const struct jfr_types *t)
{
	uint64_t string = 0;

	for (size_t i = 0; i < t->n; i++) {
		put_varint(b, string++);
		put_varint(b, t->items[i].n);
		for (size_t j = 0; j < 2 * t->items[i].n; j++)
			put_varint(b, string++);
		put_varint(b, types_children(t, i));
	}
}

static inline void put_strings(struct jfr_bytes *b, const struct jfr_types *t)
{
	unsigned int encoding = t->encoding ? t->encoding : 4;
	uint64_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		n += 1 + 2 * t->items[i].n;
	put_varint(b, n);
	for (size_t i = 0; i < t->n; i++) {
		put_string(b, encoding, t->items[i].name);
		for (size_t j = 0; j < t->items[i].n; j++) {
			put_string(b, encoding, t->items[i].keys[j]);
			put_string(b, encoding, t->items[i].values[j]);
		}
	}
}

/* The whole event. */
static inline void put_metadata(struct jfr_chunk *c, const struct jfr_types *t)
{
	size_t at = event_begin(c->b, 0);

	put_varint(c->b, (uint64_t)c->start_ticks);
	put_varint(c->b, 0);
	put_varint(c->b, 1);
	put_strings(c->b, t);
	put_elements(c->b, t);
	event_end(c->b, at);
	c->metadata_at = at - c->at;
}

static inline void types_free(struct jfr_types *t)
{
	free(t->items);
	*t = (struct jfr_types){ 0 };
}

#endif
