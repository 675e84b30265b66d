// SPDX-License-Identifier: Apache-2.0
/*
 * From event to event through a chunk. The way there is one load that depends on another for each
 * event, so this is what bounds the speed: some ten events are walked over for each one that
 * somebody wants. Events are visited when the part of the way they lie on was found to be sound:
 * it ended where the next checkpoint begins, or at the end of what is in memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/hurry.h"
#include "core/reader.h"
#include "core/scoped.h"
#include "jfr/chunk.h"
#include "jfr/resync.h"
#include "jfr/window.h"
#include "jfr/wire.h"

#define HEAD_MAX (2 * WIRE_VARINT_MAX)
#define MAX_WANTED \
	256	     /* events that wait for the end of their part, with their bytes near the CPU */
#define SOUND_RUN 64 /* events behind damage after which nothing is suspected any more */

struct walk {
	struct chunk *c;
	struct event_types *types;
	const struct event_visitor *visitor;
	uint64_t at, to;
	size_t mark; /* the first one behind `at` */
	struct event wanted[MAX_WANTED];
	size_t n_wanted;
};

/* A stretch of events in the window. */
struct part {
	const uint8_t *start, *end; /* of what is in memory */
	uint64_t at;		    /* of start, in the chunk */
	uint64_t limit;		    /* no event goes beyond, in the chunk */
};

static uint64_t next_limit(struct walk *w)
{
	const struct chunk *c = w->c;

	while (w->mark < c->n_marks && c->marks[w->mark] <= w->at)
		w->mark++;
	return w->mark < c->n_marks && c->marks[w->mark] < w->to ? c->marks[w->mark] : w->to;
}

/* Moves *pos behind size and type, which reads as 0, 0 where the bytes end. */
static inline uint64_t read_head(const struct part *p, const uint8_t **pos, uint64_t *type)
{
	uint64_t size;
	struct reader r;

	if (p->end - *pos >= HEAD_MAX) {
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

static inline void count(struct walk *w, struct event_type *row, uint64_t type, uint64_t size,
			 uint64_t sign)
{
	if (type < N_OWN_TYPES) {
		w->c->counts[type] += sign;
		w->c->sizes[type] += sign * size;
	} else if (row) {
		row->count += sign;
		row->bytes += sign * size;
	} else {
		w->c->n_unknown += sign;
	}
}

/* Takes back what was counted from one offset in the part up to another. */
static void uncount(struct walk *w, const struct part *p, uint64_t from, uint64_t to)
{
	while (from < to) {
		const uint8_t *pos = p->start + from;
		uint64_t type, size = read_head(p, &pos, &type);

		count(w, event_types_find(w->types, type), type, size, (uint64_t)-1);
		if (!size || size > to - from)
			return;
		from += size;
	}
}

static bool wants(struct walk *w, const struct part *p, struct event_type *row,
		  const uint8_t *start, const uint8_t *fields, uint64_t size)
{
	struct event *e = &w->wanted[w->n_wanted];

	if (size > (uint64_t)(p->end - start))
		return false;
	*e = (struct event){
		.type = row,
		.at = w->c->at + p->at + (uint64_t)(start - p->start),
		.size = (uint32_t)size,
		.fields = fields,
		.fields_len = (size_t)(start + size - fields),
	};
	w->n_wanted++;
	return true;
}

/* How far a part was walked. */
struct way {
	const uint8_t *pos;
	uint64_t left; /* of the part, in the chunk */
};

/*
 * As far as events are of types that have a description and lie whole in memory, with room for a
 * head behind them: nearly all of them.
 */
static void collect_plain(struct walk *w, const struct part *p, struct way *way)
{
	struct event_type *const *types = event_types_dense(w->types);
	const uint8_t *pos = way->pos, *end = p->end;

	while (end - pos >= HEAD_MAX) {
		const uint8_t *fields = pos;
		uint64_t size = wire_varint_here(&fields), type = wire_varint_short(&fields);
		struct event_type *row = type < DENSE_IDS ? types[type] : NULL;

		/* At least a byte of fields, and all of them in memory. */
		if (!row || size - (uint64_t)(fields - pos) - 1 >= (uint64_t)(end - fields))
			break;
		if (row->binding) {
			if (w->n_wanted == MAX_WANTED)
				break;
			wants(w, p, row, pos, fields, size);
		}
		row->count++;
		row->bytes += size;
		pos += size;
	}
	way->left -= (uint64_t)(pos - way->pos);
	way->pos = pos;
}

/* One event of any kind; false: the part ends here. */
static bool collect_other(struct walk *w, const struct part *p, struct way *way, bool *is_sound)
{
	const uint8_t *pos = way->pos, *fields = pos;
	struct event_type *row;
	uint64_t type, size;

	if (p->end - pos < HEAD_MAX && way->left > (uint64_t)(p->end - pos))
		return false; /* its head may go on behind the window */
	size = read_head(p, &fields, &type);
	*is_sound = size > (uint64_t)(fields - pos) && size <= way->left;
	if (!*is_sound)
		return false;
	row = type < N_OWN_TYPES ? NULL : event_types_find(w->types, type);
	*is_sound = row || type < N_OWN_TYPES; /* an unknown one is looked at with care */
	if (!*is_sound || (row && row->binding && !wants(w, p, row, pos, fields, size)))
		return false;
	count(w, row, type, size, 1);
	way->left -= size;
	if (size > (uint64_t)(p->end - pos))
		return false;
	way->pos += size;
	return true;
}

/*
 * Collects what is wanted of a part. Returns how far it went, which is behind the window when an
 * event that nobody wants goes on there. *is_sound: nothing speaks against what it saw.
 */
static uint64_t collect(struct walk *w, const struct part *p, bool *is_sound)
{
	struct way way = { p->start, p->limit - p->at };
	bool goes_on;

	*is_sound = true;
	do {
		collect_plain(w, p, &way);
		goes_on = way.pos < p->end && w->n_wanted < MAX_WANTED &&
			  collect_other(w, p, &way, is_sound);
	} while (goes_on);
	return p->limit - p->at - way.left;
}

static int visit(struct walk *w, const struct event *e)
{
	return w->visitor->event(w->visitor->ctx, w->c, e);
}

static int became_shorter(struct walk *w, uint64_t at)
{
	int err = chunk_note(w->c, at, w->to, "the file became shorter");

	return err ? err : -ENODATA;
}

/* An event by itself: too large for the window, or behind damage. */
static int visit_alone(struct walk *w, uint64_t at, uint64_t size)
{
	struct event e = { .at = w->c->at + at, .size = (uint32_t)size };
	const uint8_t *bytes;
	struct reader r;
	uint64_t type;
	int err = size > UINT32_MAX ? -E2BIG : chunk_event(w->c, at, size, &bytes);

	if (err == -E2BIG)
		return chunk_note(w->c, at, at + size, "an event larger than weft reads");
	if (err == -EBADMSG)
		return became_shorter(w, at);
	if (err)
		return err;
	reader_init(&r, bytes, size);
	wire_skip_varint(&r, "event size");
	type = wire_varint(&r, "event type");
	e.type = type < N_OWN_TYPES ? NULL : event_types_find(w->types, type);
	count(w, e.type, type, size, 1);
	if (!e.type || !e.type->binding)
		return 0;
	e.fields = r.pos;
	e.fields_len = reader_left(&r);
	err = visit(w, &e);
	return err == -EBADMSG ? chunk_note(w->c, at, at + size, "an event that is damaged") : err;
}

/* Is this where an event ends? */
static bool goes_on(struct walk *w, uint64_t at, uint64_t limit)
{
	return at == limit ? resync_is_end(w->c, limit, w->to)
			   : resync_is_run(w->c, at, limit, w->to);
}

/* The one event at w->at, of which it is not sure that it is one. */
static int step_with_care(struct walk *w, uint64_t limit, unsigned int *n_sound)
{
	uint64_t size, type;
	int err;

	if (resync_is_event(w->c, w->at, limit, &size)) {
		++*n_sound;
		err = visit_alone(w, w->at, size);
		w->at += size;
		return err;
	}
	*n_sound = 0;
	err = chunk_head(w->c, w->at, limit, &size, &type);
	if (err && err != -EBADMSG)
		return err;
	if (err || !goes_on(w, w->at + size, limit))
		return resync(w->c, &w->at, w->to);
	if (type >= N_OWN_TYPES && !event_types_find(w->types, type))
		w->c->n_unknown++;
	else
		err = chunk_note(w->c, w->at, w->at + size, "an event that is damaged");
	w->at += size;
	return err;
}

/* From w->at on, until a mark or many sound events say that all is well again. */
static int walk_with_care(struct walk *w, uint64_t limit)
{
	unsigned int n_sound = 0;
	int err = 0;

	while (!err && w->at < limit && n_sound < SOUND_RUN)
		err = hurry_is_on() ? -EINTR : step_with_care(w, limit, &n_sound);
	return err;
}

/* Visits what was collected. An event that is damaged is where care begins. */
static int visit_wanted(struct walk *w, const struct part *p, uint64_t went)
{
	for (size_t i = 0; i < w->n_wanted; i++) {
		const struct event *e = &w->wanted[i];
		uint64_t at = e->at - w->c->at;
		int err = visit(w, e);

		if (err != -EBADMSG && err)
			return err;
		if (err) {
			uncount(w, p, at - p->at, went);
			w->at = at;
			return walk_with_care(w, p->limit);
		}
	}
	w->at = p->at + went;
	return 0;
}

static int walk_part(struct walk *w)
{
	struct part p = { .at = w->at, .limit = next_limit(w) };
	uint64_t went;
	bool is_sound;
	size_t len;
	int err = window_read(w->c->window, w->c->at + w->at, HEAD_MAX, &p.start, &len);

	if (err)
		return err;
	if (!len)
		return became_shorter(w, w->at);
	p.end = p.start + (len < p.limit - p.at ? len : p.limit - p.at);
	w->n_wanted = 0;
	went = collect(w, &p, &is_sound);
	if (!is_sound) {
		uncount(w, &p, 0, went);
		return walk_with_care(w, p.limit);
	}
	if (!went) { /* not even one event fits into the window */
		uint64_t size, type;

		err = chunk_head(w->c, w->at, p.limit, &size, &type);
		if (err)
			return err == -EBADMSG ? walk_with_care(w, p.limit) : err;
		err = visit_alone(w, w->at, size);
		w->at += size;
		return err;
	}
	return visit_wanted(w, &p, went);
}

static struct walk *walk_new(struct chunk *c, struct event_types *types, uint64_t from, uint64_t to)
{
	struct walk *w = malloc(sizeof(*w));

	if (!w)
		return NULL;
	w->c = c;
	w->types = types;
	w->visitor = event_types_visitor(types);
	w->at = from;
	w->to = to;
	w->mark = 0;
	w->n_wanted = 0;
	return w;
}

/* What the window has from *at on, which moves as far as that went. */
static int preview_window(struct walk *w, uint64_t *at)
{
	struct chunk *c = w->c;
	struct part p = { .at = *at, .limit = c->loaded_to };
	uint64_t left = p.limit - p.at, went;
	bool is_sound;
	size_t len;
	/* The whole window, not what it happens to have of the chunk already. */
	int err = window_read(c->window, c->at + p.at, left < WINDOW_LEN ? left : WINDOW_LEN,
			      &p.start, &len);

	if (err)
		return err;
	p.end = p.start + (len < left ? len : left);
	do {
		w->n_wanted = 0;
		went = collect(w, &p, &is_sound);
		for (size_t i = 0; i < w->n_wanted && !err; i++) {
			err = visit(w, &w->wanted[i]);
			err = err == -EBADMSG ? 0 : err;
		}
		p.start += went;
		p.at += went;
	} while (w->n_wanted == MAX_WANTED && is_sound && !err && p.start < p.end);
	*at = is_sound ? p.at : p.limit;
	return err;
}

int chunk_preview(struct chunk *c, struct event_types *types, bool (*is_enough)(void *ctx),
		  void *ctx)
{
	SCOPED(free) struct walk *w = walk_new(c, types, CHUNK_HEADER_LEN, c->loaded_to);
	const struct chunk before = *c;
	uint64_t at = CHUNK_HEADER_LEN, from = 0;
	int err = 0;

	if (!w)
		return -ENOMEM;
	while (!err && at < c->loaded_to && at != from && !(from && is_enough(ctx))) {
		from = at;
		err = hurry_is_on() ? -EINTR : preview_window(w, &at);
	}
	memcpy(c->counts, before.counts, sizeof(c->counts));
	memcpy(c->sizes, before.sizes, sizeof(c->sizes));
	c->n_unknown = before.n_unknown;
	event_types_reset(types);
	return err;
}

int chunk_walk(struct chunk *c, struct event_types *types, uint64_t from, uint64_t to)
{
	SCOPED(free) struct walk *w = walk_new(c, types, from, to);
	int err = 0;

	if (!w)
		return -ENOMEM;
	while (!err && w->at < to)
		err = hurry_is_on() ? -EINTR : walk_part(w);
	return err == -ENODATA ? 0 : err;
}
