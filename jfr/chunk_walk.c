// SPDX-License-Identifier: Apache-2.0
/*
 * From event to event through a chunk: some ten are walked over for each one that somebody wants.
 * Events are visited when the part of the way they lie on was found to be sound: it ended where the
 * next checkpoint begins, or at the end of what is in memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/hurry.h"
#include "core/reader.h"
#include "core/scoped.h"
#include "jfr/chunk.h"
#include "jfr/part.h"
#include "jfr/resync.h"
#include "jfr/window.h"
#include "jfr/wire.h"

#define SOUND_RUN 64 /* events behind damage after which nothing is suspected any more */

struct walk {
	struct chunk *c;
	struct event_types *types;
	const struct event_visitor *visitor;
	uint64_t at, to;
	size_t mark; /* the first one behind `at` */
	struct part part;
};

static uint64_t next_limit(struct walk *w)
{
	const struct chunk *c = w->c;

	while (w->mark < c->n_marks && c->marks[w->mark] <= w->at)
		w->mark++;
	return w->mark < c->n_marks && c->marks[w->mark] < w->to ? c->marks[w->mark] : w->to;
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
	part_count(&w->part, e.type, type, size);
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
static int visit_wanted(struct walk *w, uint64_t went)
{
	struct part *p = &w->part;
	const struct event *e;
	int err = 0;

	for (int i = 0; i < PART_WAYS && !err; i++)
		for (e = p->wanted[i].items; e < p->wanted[i].items + p->wanted[i].n && !err; e++)
			err = visit(w, e);
	if (err == -EBADMSG) {
		w->at = e[-1].at - w->c->at;
		part_uncount(p, w->at - p->at, went);
		return walk_with_care(w, p->limit);
	}
	w->at = p->at + went;
	return err;
}

/* How far a way goes until there is no room for what is wanted, by how far it went. */
static size_t reach_of(const struct part *p, uint64_t went)
{
	size_t n = part_n_wanted(p);

	return n ? (size_t)went * PART_EXPECTED / n : WINDOW_LEN;
}

static int walk_part(struct walk *w)
{
	struct part *p = &w->part;
	uint64_t went;
	bool is_sound;
	size_t len;
	int err = window_read(w->c->window, w->c->at + w->at, WIRE_HEAD_MAX, &p->start, &len);

	if (err)
		return err;
	if (!len)
		return became_shorter(w, w->at);
	p->at = w->at;
	p->limit = next_limit(w);
	p->end = p->start + (len < p->limit - p->at ? len : p->limit - p->at);
	went = part_collect(p, &is_sound);
	p->reach = reach_of(p, went);
	if (!is_sound) {
		part_uncount(p, 0, went);
		return walk_with_care(w, p->limit);
	}
	if (!went) { /* not even one event fits into the window */
		uint64_t size, type;

		err = chunk_head(w->c, w->at, p->limit, &size, &type);
		if (err)
			return err == -EBADMSG ? walk_with_care(w, p->limit) : err;
		err = visit_alone(w, w->at, size);
		w->at += size;
		return err;
	}
	return visit_wanted(w, went);
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
	w->part.chunk = c;
	w->part.types = types;
	w->part.reach = 0;
	return w;
}

/* What the window has from *at on, which moves as far as that went. */
static int preview_window(struct walk *w, uint64_t *at)
{
	struct chunk *c = w->c;
	struct part *p = &w->part;
	uint64_t left = c->loaded_to - *at, went;
	bool is_sound;
	size_t len;
	/* The whole window, not what it happens to have of the chunk already. */
	int err = window_read(c->window, c->at + *at, left < WINDOW_LEN ? left : WINDOW_LEN,
			      &p->start, &len);

	if (err)
		return err;
	p->at = *at;
	p->limit = c->loaded_to;
	p->end = p->start + (len < left ? len : left);
	do {
		went = part_collect(p, &is_sound);
		for (size_t i = 0; i < part_n_wanted(p) && !err; i++) {
			err = visit(w, part_wanted(p, i));
			err = err == -EBADMSG ? 0 : err;
		}
		p->start += went;
		p->at += went;
	} while (part_is_full(p) && is_sound && !err && p->start < p->end);
	*at = is_sound ? p->at : p->limit;
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
	event_types_add_up(types);
	return err == -ENODATA ? 0 : err;
}
