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
#include "jfr/layout.h"
#include "jfr/window.h"
#include "jfr/wire.h"

#define RUN 4		       /* events that follow each other are no accident */
#define MAX_SIZE (1 << 20)     /* of an event that is believed behind damage */
#define MAX_AWAY_S (24 * 3600) /* of an event's time from the chunk's */
#define MIN_WORK (64 << 20)    /* bytes that may be looked at for one chunk, at least */
#define MAX_WORK_RATIO 8       /* and per byte of the chunk */

static bool is_time(const struct chunk *c, int64_t ticks)
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
			return is_time(c, values[i].n);
	}
	return true;
}

static bool is_event(struct chunk *c, uint64_t type_id, struct reader *r)
{
	struct event_type *type;
	const struct layout *l;

	if (type_id <= 1) /* metadata and checkpoints begin with their time */
		return is_time(c, (int64_t)wire_varint(r, "start time")) && !reader_error(r);
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

bool resync_is_event(struct chunk *c, uint64_t at, uint64_t to, uint64_t *size)
{
	const uint8_t *bytes;
	struct reader r;
	uint64_t type;
	size_t len;

	if (!make_types(c) || chunk_head(c, at, to, size, &type) || *size > MAX_SIZE)
		return false;
	if (window_read(c->window, c->at + at, *size, &bytes, &len) || len < *size)
		return false;
	reader_init(&r, bytes, *size);
	wire_skip_varint(&r, "event size");
	wire_skip_varint(&r, "event type");
	c->n_unchecked += *size;
	return is_event(c, type, &r);
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

bool resync_is_run(struct chunk *c, uint64_t at, uint64_t limit, bool is_marked)
{
	int n = 0;

	while (n < RUN && at < limit) {
		uint64_t size;

		if (!resync_is_event(c, at, limit, &size))
			return false;
		at += size;
		n++;
	}
	return n == RUN || (n && at == limit && (is_marked || n > 1));
}

int resync(struct chunk *c, uint64_t *at, uint64_t to)
{
	uint64_t from = *at, limit = next_mark(c, from + 1, to);
	uint64_t most = MAX_WORK_RATIO * (to < UINT64_MAX / MAX_WORK_RATIO ? to : 0);
	uint64_t pos = from + 1;

	if (most < MIN_WORK)
		most = MIN_WORK;
	while (pos < limit && !resync_is_run(c, pos, limit, limit < to)) {
		pos++;
		c->n_unchecked++;
		if (c->n_unchecked > most || hurry_is_on())
			pos = limit;
	}
	*at = pos < limit ? pos : limit;
	return chunk_note(c, from, *at, *at == to ? "cut off" : "no event");
}
