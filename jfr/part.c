// SPDX-License-Identifier: Apache-2.0
#include "jfr/part.h"

#include "core/reader.h"
#include "jfr/chunk.h"
#include "jfr/wire.h"

#define SMALL_MAX INT8_MAX   /* bytes of an event whose size takes one */
#define MIN_REACH (8 * 1024) /* less is not worth to look for a place ahead */
#define SURE_RUN 16	     /* events in a row that make it likely that each begins there */
#define MAX_LOOKS 1024	     /* at possible events, for a place ahead */

/* How far a way has gone. */
struct way {
	const uint8_t *pos;
	uint64_t left; /* of the part, in the chunk */
};

/* The one from a place ahead. */
struct way_ahead {
	const uint8_t *start, *pos; /* NULL: there is none */
	bool has_ended;
};

static void add(struct part *p, struct event_type *row, uint64_t type, uint64_t size, uint64_t sign)
{
	if (type < N_OWN_TYPES) {
		p->chunk->counts[type] += sign;
		p->chunk->sizes[type] += sign * size;
	} else if (row) {
		row->count += sign;
		row->bytes += sign * size;
	} else {
		p->chunk->n_unknown += sign;
	}
}

void part_count(struct part *p, struct event_type *row, uint64_t type, uint64_t size)
{
	add(p, row, type, size, 1);
}

/* Moves *pos behind size and type, which reads as 0, 0 where the bytes end. */
static inline uint64_t read_head(const struct part *p, const uint8_t **pos, uint64_t *type)
{
	uint64_t size;
	struct reader r;

	if (p->end - *pos >= WIRE_HEAD_MAX) {
		size = wire_varint_here(pos);
		*type = wire_varint_short(pos);
		return size;
	}
	reader_init(&r, *pos, (size_t)(p->end - *pos));
	size = wire_varint(&r, "event size");
	*type = wire_varint(&r, "event type");
	*pos = r.pos;
	return reader_error(&r) ? 0 : size;
}

void part_uncount(struct part *p, uint64_t from, uint64_t to)
{
	while (from < to) {
		const uint8_t *pos = p->start + from;
		uint64_t type, size = read_head(p, &pos, &type);

		add(p, event_types_find(p->types, type), type, size, (uint64_t)-1);
		if (!size || size > to - from)
			return;
		from += size;
	}
}

bool part_is_full(const struct part *p)
{
	return p->wanted[0].n == PART_WANTED || p->wanted[1].n == PART_WANTED;
}

static inline void want(struct part *p, struct wanted_events *wanted, struct event_type *row,
			const uint8_t *start, const uint8_t *fields, uint64_t size)
{
	wanted->items[wanted->n++] = (struct event){
		.type = row,
		.at = p->chunk->at + p->at + (uint64_t)(start - p->start),
		.size = (uint32_t)size,
		.fields = fields,
		.fields_len = (size_t)(start + size - fields),
	};
}

/* What the head of an event of one byte's size says. */
static inline struct event_type *small_row(const struct event_heads *heads, const uint8_t *pos)
{
	return &heads->rows[heads->by_bytes[pos[1] << 8 | pos[2]]];
}

/* Of an event that has another size or no description; else all of it may be used, which is at
   least a byte of fields. */
static inline bool is_other(const struct event_type *row, const uint8_t *pos)
{
	return (int8_t)*pos <= row->head_len;
}

/* Where, from a place on, an event seems to begin; NULL: nowhere near. */
static const uint8_t *find_start(const struct part *p, const uint8_t *from)
{
	const struct event_heads *heads = event_types_heads(p->types);
	const uint8_t *last = p->end - SMALL_MAX;

	for (unsigned int looks = 0; from <= last && looks < MAX_LOOKS; from++) {
		const uint8_t *pos = from;
		unsigned int n = 0;

		for (; n < SURE_RUN && pos <= last && !is_other(small_row(heads, pos), pos); n++)
			pos += *pos;
		if (n == SURE_RUN)
			return pos;
		looks += n + 1;
	}
	return NULL;
}

static struct way_ahead go_ahead(const struct part *p)
{
	size_t half = (size_t)(p->end - p->start) / 2, len = half < p->reach ? half : p->reach;
	const uint8_t *start = len < MIN_REACH ? NULL : find_start(p, p->start + len);

	return (struct way_ahead){ start, start, !start };
}

/* Both ways at once, as far as events are small and lie whole in memory: nearly all are. This loop
   is what most of a recording is read by. */
static void collect_both(struct part *p, struct way *way, struct way_ahead *ahead)
{
	const struct event_heads heads = *event_types_heads(p->types);
	const uint8_t *pos = way->pos, *to = ahead->start;
	const uint8_t *next = ahead->pos, *last = p->end - SMALL_MAX, *until = last;
	struct event_type *row, *row_ahead;

	while (pos < to && next <= until) {
		const uint64_t size = *pos, size_ahead = *next;

		row = small_row(&heads, pos);
		row_ahead = small_row(&heads, next);
		if (is_other(row, pos) || is_other(row_ahead, next))
			break;
		if (row->binding)
			want(p, &p->wanted[0], row, pos, pos + row->head_len, *pos);
		if (row_ahead->binding)
			want(p, &p->wanted[1], row_ahead, next, next + row_ahead->head_len, *next);
		if ((row->binding || row_ahead->binding) && part_is_full(p))
			until = next;
		pos += size;
		next += size_ahead;
		row->count++;
		row->bytes += size;
		row_ahead->ahead_count++;
		row_ahead->ahead_bytes += size_ahead;
	}
	ahead->has_ended = next > last || p->wanted[1].n == PART_WANTED ||
			   is_other(small_row(&heads, next), next);
	ahead->pos = next;
	way->left -= (uint64_t)(pos - way->pos);
	way->pos = pos;
}

/* The same by one way, up to a place. */
static void collect_plain(struct part *p, struct wanted_events *wanted, struct way *way,
			  const uint8_t *to)
{
	const struct event_heads heads = *event_types_heads(p->types);
	const uint8_t *pos = way->pos, *last = p->end - SMALL_MAX;

	if (to <= last)
		last = to - 1;
	while (pos <= last) {
		struct event_type *row = small_row(&heads, pos);

		if (is_other(row, pos) || (row->binding && wanted->n == PART_WANTED))
			break;
		if (row->binding)
			want(p, wanted, row, pos, pos + row->head_len, *pos);
		row->count++;
		row->bytes += *pos;
		pos += *pos;
	}
	way->left -= (uint64_t)(pos - way->pos);
	way->pos = pos;
}

/* One event of any kind; false: the part ends here. */
static bool collect_other(struct part *p, struct wanted_events *wanted, struct way *way,
			  bool *is_sound)
{
	const uint8_t *pos = way->pos, *fields = pos;
	struct event_type *row;
	uint64_t type, size;

	if (p->end - pos < WIRE_HEAD_MAX && way->left > (uint64_t)(p->end - pos))
		return false; /* its head may go on behind the window */
	size = read_head(p, &fields, &type);
	*is_sound = size > (uint64_t)(fields - pos) && size <= way->left;
	if (!*is_sound)
		return false;
	row = type < N_OWN_TYPES ? NULL : event_types_find(p->types, type);
	*is_sound = row || type < N_OWN_TYPES; /* an unknown one is looked at with care */
	if (!*is_sound)
		return false;
	if (row && row->binding) {
		if (size > (uint64_t)(p->end - pos))
			return false;
		want(p, wanted, row, pos, fields, size);
	}
	add(p, row, type, size, 1);
	way->left -= size;
	if (size > (uint64_t)(p->end - pos))
		return false;
	way->pos += size;
	return true;
}

/* What was found ahead never was. */
static void take_back(struct part *p, struct way_ahead *ahead)
{
	const struct event_heads *heads = event_types_heads(p->types);

	for (const uint8_t *pos = ahead->start; pos < ahead->pos; pos += *pos) {
		struct event_type *row = small_row(heads, pos);

		row->ahead_count--;
		row->ahead_bytes -= *pos;
	}
	p->wanted[1].n = 0;
	*ahead = (struct way_ahead){ .has_ended = true };
}

/* The first way has come to the place ahead, or beyond it; false: it was the wrong place. */
static bool join(struct part *p, struct way *way, struct way_ahead *ahead)
{
	if (way->pos != ahead->start) {
		take_back(p, ahead);
		return false;
	}
	way->left -= (uint64_t)(ahead->pos - ahead->start);
	way->pos = ahead->pos;
	*ahead = (struct way_ahead){ .has_ended = true };
	return true;
}

uint64_t part_collect(struct part *p, bool *is_sound)
{
	struct wanted_events *wanted = &p->wanted[0];
	struct way_ahead ahead = go_ahead(p);
	struct way way = { p->start, p->limit - p->at };
	bool goes_on;

	*is_sound = true;
	p->wanted[0].n = p->wanted[1].n = 0;
	do {
		if (!ahead.has_ended && !part_is_full(p))
			collect_both(p, &way, &ahead);
		if (ahead.has_ended)
			collect_plain(p, wanted, &way, ahead.start ? ahead.start : p->end);
		if (ahead.start && way.pos >= ahead.start) {
			wanted = &p->wanted[join(p, &way, &ahead)];
			goes_on = true;
			continue;
		}
		goes_on = way.pos < p->end && wanted->n < PART_WANTED &&
			  collect_other(p, wanted, &way, is_sound);
	} while (goes_on);
	if (ahead.start)
		take_back(p, &ahead);
	return p->limit - p->at - way.left;
}
