// SPDX-License-Identifier: Apache-2.0
#include "jfr/resync.h"

#include <errno.h>
#include <stdlib.h>

#include "core/array.h"
#include "core/clock.h"
#include "core/hurry.h"
#include "core/reader.h"
#include "core/scoped.h"
#include "jfr/chunk.h"
#include "jfr/constants.h"
#include "jfr/layout.h"
#include "jfr/window.h"
#include "jfr/wire.h"

#define RUN 4			  /* events that follow each other are no accident */
#define MAX_SIZE (1 << 20)	  /* of an event that is believed behind damage */
#define MAX_EVENT_SIZE (64 << 10) /* the same of one that is no metadata and no checkpoint */
#define OWN_HEAD_LEN (6 * WIRE_VARINT_MAX) /* up to a number that says something */
#define MIN_METADATA_LEN 64		   /* of an event that is believed to be metadata */
#define MAX_AWAY_S (24 * 3600)		   /* of an event's time from the chunk's */
#define WORK_RATIO 8   /* bytes that may be looked at for each byte of a chunk */
#define SMALL_RATIO 64 /* of a small one */
#define MAX_SMALL_WORK (512 << 20)

bool resync_is_time(const struct chunk *c, int64_t ticks)
{
	__int128 away = (__int128)ticks - c->header.start_ticks;
	__int128 limit = (__int128)MAX_AWAY_S * (__int128)c->header.ticks_per_s;
	__int128 length = (__int128)c->header.duration_ns * (__int128)c->header.ticks_per_s /
			  (__int128)NS_PER_S;

	return away >= -limit && away <= limit + length;
}

static bool is_typed_event(struct chunk *c, const struct layout *l, struct reader *r)
{
	size_t n = layout_n_leaves(l);
	SCOPED(free) struct jfr_value *values = malloc((n + 1) * sizeof(*values));

	if (!values || !n || layout_read(l, r, values) || !reader_at_end(r))
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct jfr_field *f = layout_leaf(l, i)->field;

		if (f && f->unit == JFR_TIMESTAMP_TICKS && !f->is_constant && !f->is_array)
			return resync_is_time(c, values[i].n);
	}
	return true;
}

/* One that can be read to its end. */
static bool is_checkpoint(struct chunk *c, struct reader *r)
{
	struct reader ahead = *r;
	struct constants *constants;
	bool is_sound;

	if (!resync_is_time(c, (int64_t)wire_varint(&ahead, "start time")) || reader_error(&ahead))
		return false;
	constants = constants_new(c->metadata);
	is_sound = constants && !constants_add(constants, r) && reader_at_end(r);
	constants_free(constants);
	return is_sound;
}

static bool is_metadata(struct chunk *c, struct reader *r)
{
	size_t len = reader_left(r) + reader_offset(r);
	const char *what;
	uint64_t where;
	struct metadata *m;
	int err;

	if (len < MIN_METADATA_LEN || !resync_is_time(c, (int64_t)wire_varint(r, "start time")) ||
	    reader_error(r))
		return false;
	m = metadata_parse(r->start, len, &err, &what, &where);
	metadata_unref(m);
	return m;
}

static bool is_event(struct chunk *c, uint64_t type_id, struct reader *r)
{
	struct event_type *type;
	const struct layout *l;

	if (type_id == TYPE_METADATA)
		return is_metadata(c, r);
	if (type_id == TYPE_CONSTANTS)
		return is_checkpoint(c, r);
	type = event_types_find(c->plain, type_id);
	l = type ? event_type_layout(type) : NULL;
	return l && is_typed_event(c, l, r);
}

static bool make_types(struct chunk *c)
{
	static const struct event_visitor nobody;

	if (c->plain && event_types_metadata(c->plain) != c->metadata) {
		event_types_free(c->plain);
		c->plain = NULL;
	}
	if (!c->plain && c->metadata)
		c->plain = event_types_new(c->metadata, &nobody);
	return c->plain;
}

/* Before much is read: what comes first in metadata and in checkpoints cannot be anything. */
static bool may_be_own(struct chunk *c, uint64_t at, uint64_t size, uint64_t type)
{
	const uint8_t *bytes;
	struct reader r;
	uint64_t number;
	size_t len;

	if (window_read(c->window, c->at + at, OWN_HEAD_LEN, &bytes, &len))
		return false;
	reader_init(&r, bytes, len < size ? len : size);
	wire_skip_varint(&r, "event size");
	wire_skip_varint(&r, "event type");
	if (!resync_is_time(c, (int64_t)wire_varint(&r, "start time")))
		return false;
	wire_skip_varint(&r, "duration");
	number = wire_varint(&r, "delta, or metadata id");
	if (type == TYPE_CONSTANTS)
		return !reader_error(&r) && (!number || -number <= at - CHUNK_HEADER_LEN);
	number = wire_varint(&r, "number of strings");
	return !reader_error(&r) && number && number < size;
}

bool resync_is_event(struct chunk *c, uint64_t at, uint64_t to, uint64_t *size)
{
	uint64_t window_at = c->window->at, type;
	const uint8_t *bytes;
	struct reader r;
	bool is_sound;
	size_t len;

	if (!make_types(c) || chunk_head(c, at, to, size, &type) || *size > MAX_SIZE)
		return false;
	if (type < N_OWN_TYPES ? !may_be_own(c, at, *size, type)
			       : *size > MAX_EVENT_SIZE || !event_types_find(c->plain, type))
		return false;
	if (window_read(c->window, c->at + at, *size, &bytes, &len) || len < *size)
		return false;
	reader_init(&r, bytes, *size);
	wire_skip_varint(&r, "event size");
	wire_skip_varint(&r, "event type");
	is_sound = is_event(c, type, &r);
	c->n_unchecked += c->window->at == window_at ? (uint64_t)(r.pos - r.start) : *size;
	return is_sound;
}

/* The first mark from an offset on, but not beyond `to`. */
static uint64_t next_mark(const struct chunk *c, uint64_t at, uint64_t to)
{
	size_t low = 0, high = c->n_marks;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (c->marks[mid] < at)
			low = mid + 1;
		else
			high = mid;
	}
	return low < c->n_marks && c->marks[low] < to ? c->marks[low] : to;
}

bool resync_is_end(const struct chunk *c, uint64_t limit, uint64_t to)
{
	return limit < to || (c->header.size == to && chunk_header_is_whole(&c->header, to));
}

bool resync_is_run(struct chunk *c, uint64_t at, uint64_t limit, uint64_t to)
{
	int n = 0;

	while (n < RUN && at < limit) {
		uint64_t size;

		if (!resync_is_event(c, at, limit, &size))
			return false;
		at += size;
		n++;
	}
	return n == RUN || (n && at == limit && (n > 1 || resync_is_end(c, limit, to)));
}

/* How much may be looked at: a small chunk costs little however it is made, and a large one is not
   looked at over and over. */
static uint64_t most_work(uint64_t len)
{
	uint64_t least = len < MAX_SMALL_WORK / SMALL_RATIO ? SMALL_RATIO * len : MAX_SMALL_WORK;

	if (len > UINT64_MAX / WORK_RATIO)
		return UINT64_MAX;
	return WORK_RATIO * len > least ? WORK_RATIO * len : least;
}

/* The next byte that an event can begin with: its size is not 0. Where the file ends, `limit`. */
static uint64_t skip_zeros(struct chunk *c, uint64_t at, uint64_t limit)
{
	const uint8_t *bytes;
	size_t len;

	while (at < limit) {
		if (window_read(c->window, c->at + at, 1, &bytes, &len) || !len || hurry_is_on())
			return limit;
		for (size_t i = 0; i < len && at < limit; i++, at++)
			if (bytes[i])
				return at;
	}
	return limit;
}

/* The next place for which is_there() holds, or the limit. */
static uint64_t look(struct chunk *c, uint64_t at, uint64_t limit, uint64_t to,
		     bool (*is_there)(struct chunk *c, uint64_t at, uint64_t limit, uint64_t to))
{
	uint64_t most = most_work(to);

	for (;;) {
		at = skip_zeros(c, at, limit);
		if (at >= limit || is_there(c, at, limit, to))
			return at;
		at++;
		if (++c->n_unchecked > most)
			return limit;
	}
}

int resync(struct chunk *c, uint64_t *at, uint64_t to)
{
	uint64_t from = *at, limit = next_mark(c, from + 1, to);

	*at = look(c, from + 1, limit, to, resync_is_run);
	if (*at == to)
		c->cut_at = from;
	return chunk_note(c, from, *at, *at == to ? "cut off" : "no event");
}

static bool begins_metadata(struct chunk *c, uint64_t at, uint64_t limit, uint64_t to)
{
	const uint8_t *bytes;
	uint64_t size, type;
	struct reader r;
	size_t len;

	(void)to;
	if (chunk_head(c, at, limit, &size, &type) || type != TYPE_METADATA || size > MAX_SIZE)
		return false;
	if (window_read(c->window, c->at + at, size, &bytes, &len) || len < size)
		return false;
	reader_init(&r, bytes, size);
	wire_skip_varint(&r, "event size");
	wire_skip_varint(&r, "event type");
	c->n_unchecked += size;
	return is_metadata(c, &r);
}

bool resync_metadata(struct chunk *c, uint64_t to, uint64_t *at)
{
	*at = look(c, CHUNK_HEADER_LEN, to, to, begins_metadata);
	return *at < to;
}
