// SPDX-License-Identifier: Apache-2.0
#include "jfr/chunk.h"

#include <errno.h>
#include <stdlib.h>

#include "core/array.h"
#include "core/hurry.h"
#include "core/reader.h"
#include "jfr/constants.h"
#include "jfr/names.h"
#include "jfr/resync.h"
#include "jfr/window.h"
#include "jfr/wire.h"

#define MAX_MARKS (1 << 22)	/* 32 MB; a JVM writes three a second */
#define MAX_DAMAGES 1000	/* that are told apart; what comes then is added to the last */
#define MAX_REST_LEN (16 << 20) /* of a checkpoint whose end is not known */
#define FIRST_LEN 512		/* of an event that is read alone: most checkpoints */

struct chunk *chunk_new(struct window *w, uint64_t at, const struct chunk_header *h)
{
	struct chunk *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->window = w;
	c->at = at;
	c->header = *h;
	c->loaded_to = CHUNK_HEADER_LEN;
	return c;
}

void chunk_free(struct chunk *c)
{
	if (!c)
		return;
	names_free(c->names);
	event_types_free(c->plain);
	metadata_unref(c->metadata);
	free(c->marks);
	free(c->damages);
	free(c->event);
	free(c);
}

/* Constants that are looked through twice have the same damage twice. */
static bool is_noted(const struct chunk *c, uint64_t at, uint64_t len, const char *what)
{
	for (size_t i = 0; i < c->n_damages; i++) {
		const struct damage *d = &c->damages[i];

		if (d->at == at && d->len == len && d->what == what)
			return true;
	}
	return false;
}

int chunk_note(struct chunk *c, uint64_t from, uint64_t to, const char *what)
{
	struct damage *last = c->n_damages ? &c->damages[c->n_damages - 1] : NULL;
	uint64_t at = c->at + from, len = to - from;

	if (last && last->at + last->len >= at && at >= last->at) {
		if (at + len > last->at + last->len)
			last->len = at + len - last->at;
		return 0;
	}
	if (c->n_damages >= MAX_DAMAGES) {
		last->len += len;
		return 0;
	}
	if (is_noted(c, at, len, what))
		return 0;
	if (ARRAY_RESERVE(c->damages, c->damages_cap, c->n_damages))
		return -ENOMEM;
	c->damages[c->n_damages++] = (struct damage){ .at = at, .len = len, .what = what };
	return 0;
}

static int add_mark(struct chunk *c, uint64_t at)
{
	if (c->n_marks >= MAX_MARKS)
		return -E2BIG;
	if (ARRAY_RESERVE(c->marks, c->marks_cap, c->n_marks))
		return -ENOMEM;
	c->marks[c->n_marks++] = at;
	return 0;
}

int chunk_head(struct chunk *c, uint64_t at, uint64_t to, uint64_t *size, uint64_t *type)
{
	const uint8_t *bytes;
	struct reader r;
	size_t len;
	int err = window_read(c->window, c->at + at, WIRE_HEAD_MAX, &bytes, &len);

	if (err)
		return err;
	reader_init(&r, bytes, len < WIRE_HEAD_MAX ? len : WIRE_HEAD_MAX);
	*size = wire_varint(&r, "event size");
	*type = wire_varint(&r, "event type");
	if (reader_error(&r) || at >= to || *size > to - at || *size <= reader_offset(&r))
		return -EBADMSG;
	return 0;
}

static int reserve_event(struct chunk *c, uint64_t size)
{
	uint8_t *event;

	if (size <= c->event_cap)
		return 0;
	event = realloc(c->event, size + WIRE_PADDING);
	if (!event)
		return -ENOMEM;
	c->event = event;
	c->event_cap = size;
	return 0;
}

int chunk_event(struct chunk *c, uint64_t at, uint64_t size, const uint8_t **bytes)
{
	int err = size > WINDOW_MAX ? -E2BIG : reserve_event(c, size);
	size_t got;

	if (err)
		return err;
	err = window_peek(c->window, c->at + at, c->event, size, &got);
	*bytes = c->event;
	return err ? err : got < size ? -EBADMSG : 0;
}

static void skip_head(struct reader *r)
{
	wire_skip_varint(r, "event size");
	wire_skip_varint(r, "event type");
}

int chunk_event_fields(struct chunk *c, struct event *e)
{
	const uint8_t *bytes;
	struct reader r;
	int err = chunk_event(c, e->at - c->at, e->size, &bytes);

	if (err)
		return err;
	reader_init(&r, bytes, e->size);
	skip_head(&r);
	e->fields = r.pos;
	e->fields_len = reader_left(&r);
	return reader_error(&r);
}

/* The bytes of a whole event of a type, which is read by itself: most are there with their heads.
 */
static int event_at(struct chunk *c, uint64_t at, uint64_t to, uint64_t want_type, struct reader *r)
{
	uint64_t size, type;
	const uint8_t *bytes;
	size_t len;
	int err = reserve_event(c, FIRST_LEN);

	if (!err)
		err = window_peek(c->window, c->at + at, c->event, FIRST_LEN, &len);
	if (err)
		return err;
	reader_init(r, c->event, len);
	size = wire_varint(r, "event size");
	type = wire_varint(r, "event type");
	if (reader_error(r) || at >= to || size > to - at || size <= reader_offset(r) ||
	    type != want_type)
		return -EBADMSG;
	bytes = c->event;
	if (size > len)
		err = chunk_event(c, at, size, &bytes);
	if (err)
		return err == -E2BIG ? -EBADMSG : err;
	reader_init(r, bytes, size);
	return 0;
}

static int make_names(struct chunk *c, struct metadata *m)
{
	struct constants *constants = constants_new(m);

	c->names = constants ? names_new(constants) : NULL;
	if (c->names)
		return 0;
	constants_free(constants);
	return -ENOMEM;
}

static int use_metadata(struct chunk *c, struct metadata *m)
{
	int err = c->names ? constants_update(names_constants(c->names), m) : make_names(c, m);

	if (err)
		return err;
	names_update(c->names);
	metadata_ref(m);
	metadata_unref(c->metadata);
	c->metadata = m;
	return 0;
}

static int load_metadata(struct chunk *c, uint64_t at, uint64_t to, struct metadata *known)
{
	struct metadata *m = NULL;
	const char *what;
	struct reader r;
	uint64_t where;
	int err = event_at(c, at, to, TYPE_METADATA, &r);

	if (err)
		return err;
	if (c->metadata && metadata_is(c->metadata, r.start, reader_left(&r)))
		return 0;
	if (known && metadata_is(known, r.start, reader_left(&r)))
		m = metadata_ref(known);
	if (!m)
		m = metadata_parse(r.start, reader_left(&r), &err, &what, &where);
	if (!m)
		return err == -E2BIG ? -EBADMSG : err;
	err = use_metadata(c, m);
	metadata_unref(m);
	return err;
}

/* What a damaged checkpoint has before the damage is kept. */
static int load_constants(struct chunk *c, uint64_t at, uint64_t to, int64_t *delta)
{
	uint64_t size;
	struct reader r, ahead;
	int err = event_at(c, at, to, TYPE_CONSTANTS, &r);

	if (err)
		return err;
	size = reader_left(&r);
	skip_head(&r);
	ahead = r;
	wire_skip_varint(&ahead, "start time");
	wire_skip_varint(&ahead, "duration");
	*delta = (int64_t)wire_varint(&ahead, "delta");
	err = constants_add(names_constants(c->names), &r);
	/* The reader's own word for it may be a name of the metadata, which does not live as long.
	 */
	if (err == -EBADMSG || err == -E2BIG)
		return chunk_note(c, at + (r.where < size ? r.where : size - 1), at + size,
				  err == -E2BIG ? "more constants than weft keeps"
						: "constants that are damaged");
	return err;
}

/* Back from one checkpoint to the one before it, by their deltas; marks come out descending. Each
   ends before the next one begins, so no byte is read twice. */
static int follow_chain(struct chunk *c, uint64_t at, uint64_t from, uint64_t to)
{
	for (;;) {
		int64_t delta = 0;
		int err = load_constants(c, at, to, &delta);

		if (!err)
			err = add_mark(c, at);
		if (err)
			return err;
		if (!delta)
			return 0;
		if (delta > 0 || delta == INT64_MIN || (uint64_t)-delta > at - CHUNK_HEADER_LEN)
			return -EBADMSG;
		to = at;
		at -= (uint64_t)-delta;
		if (at < from)
			return 0;
	}
}

static void reverse(uint64_t *array, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		uint64_t t = array[i];

		array[i] = array[n - 1 - i];
		array[n - 1 - i] = t;
	}
}

int chunk_load(struct chunk *c, uint64_t to, struct metadata *known)
{
	const struct chunk_header *h = &c->header;
	size_t first = c->n_marks;
	int err;

	if (h->metadata_at < CHUNK_HEADER_LEN || h->metadata_at >= to ||
	    h->constants_at < CHUNK_HEADER_LEN || h->constants_at >= to)
		return -EBADMSG;
	err = load_metadata(c, h->metadata_at, to, known);
	if (!err && h->constants_at >= c->loaded_to)
		err = follow_chain(c, h->constants_at, c->loaded_to, to);
	if (err) {
		c->n_marks = first;
		return err == -E2BIG ? -EBADMSG : err;
	}
	reverse(c->marks + first, c->n_marks - first);
	c->loaded_to = to;
	return 0;
}

static int load_marked(struct chunk *c, uint64_t to)
{
	int64_t delta;
	int err = 0;

	for (size_t i = 0; i < c->n_marks && !err; i++)
		err = load_constants(c, c->marks[i], to, &delta);
	return err;
}

/* One event of a scan: remembers where checkpoints are, takes the metadata at once. */
static int scan_event(struct chunk *c, uint64_t at, uint64_t to, uint64_t type,
		      struct metadata *known)
{
	int err;

	if (type == TYPE_CONSTANTS) {
		err = add_mark(c, at);
		return err == -E2BIG ? 0 : err;
	}
	if (type != TYPE_METADATA)
		return 0;
	err = load_metadata(c, at, to, known);
	return err == -EBADMSG ? 0 : err;
}

static int scan_run(struct chunk *c, uint64_t *at, uint64_t to, struct metadata *known)
{
	while (*at < to) {
		uint64_t size, type;
		int err = chunk_head(c, *at, to, &size, &type);

		if (!err)
			err = scan_event(c, *at, to, type, known);
		if (err)
			return err;
		*at += size;
		if (hurry_is_on())
			return -EINTR;
	}
	return 0;
}

/* What the header's offsets led to before they turned out to be wrong is not to be trusted. */
static void forget_names(struct chunk *c)
{
	if (c->loaded_to > CHUNK_HEADER_LEN)
		return;
	names_free(c->names);
	c->names = NULL;
	metadata_unref(c->metadata);
	c->metadata = NULL;
	c->n_damages = 0;
}

/* Metadata without which nothing can be told apart: where the header says, or anywhere. */
static int find_metadata(struct chunk *c, uint64_t to, struct metadata *known)
{
	uint64_t at = c->header.metadata_at;
	int err = at < CHUNK_HEADER_LEN || at >= to ? -EBADMSG : load_metadata(c, at, to, known);

	if (err != -EBADMSG || !resync_metadata(c, to, &at))
		return err;
	return load_metadata(c, at, to, known);
}

/* Marks all checkpoints; the walk will say what is damaged. */
static int scan(struct chunk *c, uint64_t to, struct metadata *known)
{
	size_t n_damages = c->n_damages;
	uint64_t at = CHUNK_HEADER_LEN;
	int err = 0;

	c->n_rests = 0;
	while (!err && at < to) {
		err = scan_run(c, &at, to, known);
		if (err != -EBADMSG)
			continue;
		if (c->n_rests < MAX_RESTS)
			c->rests[c->n_rests++] = at;
		err = resync(c, &at, to);
	}
	c->n_damages = n_damages;
	c->n_unchecked = 0;
	return err;
}

/* A checkpoint that is cut off, or whose size is wrong, says by itself how far it goes. */
static int load_rest(struct chunk *c, uint64_t at, uint64_t to)
{
	uint64_t len = to - at < MAX_REST_LEN ? to - at : MAX_REST_LEN;
	const uint8_t *bytes;
	struct reader r, ahead;
	int err = chunk_event(c, at, len, &bytes);

	if (err)
		return err == -EBADMSG ? 0 : err;
	reader_init(&r, bytes, len);
	wire_skip_varint(&r, "event size");
	if (wire_varint(&r, "event type") != TYPE_CONSTANTS)
		return 0;
	ahead = r;
	if (!resync_is_time(c, (int64_t)wire_varint(&ahead, "start time")) || reader_error(&ahead))
		return 0;
	err = constants_add(names_constants(c->names), &r);
	return err == -ENOMEM ? err : 0;
}

static int load_rests(struct chunk *c, uint64_t to)
{
	int err = 0;

	for (size_t i = 0; i < c->n_rests && !err; i++)
		err = load_rest(c, c->rests[i], to);
	return err;
}

static int load_all(struct chunk *c, uint64_t to, struct metadata *known)
{
	int err = scan(c, to, known);

	if (!err)
		err = load_marked(c, to);
	if (!err)
		err = load_rests(c, to);
	if (!err)
		c->loaded_to = to;
	return err;
}

int chunk_scan(struct chunk *c, uint64_t to, struct metadata *known)
{
	int err;

	forget_names(c);
	c->is_scanned = true;
	c->n_marks = 0;
	err = find_metadata(c, to, known);
	return err ? err : load_all(c, to, known);
}

static int search(struct chunk *c)
{
	uint64_t at = CHUNK_HEADER_LEN;
	int err = 0;

	while (!err && at < c->loaded_to) {
		uint64_t size, type;
		int64_t delta;

		err = hurry_is_on() ? -EINTR : chunk_head(c, at, c->loaded_to, &size, &type);
		if (!err && type == TYPE_CONSTANTS)
			err = load_constants(c, at, c->loaded_to, &delta);
		at += err ? 0 : size;
	}
	return err == -EBADMSG ? 0 : err;
}

/* Whoever asks for it holds events that lie in the window, or in the room for a single one. */
int chunk_search(struct chunk *c)
{
	struct window own, *window = c->window;
	uint8_t *event = c->event;
	size_t event_cap = c->event_cap;
	int err;

	if (c->is_scanned)
		return -ENOENT;
	c->is_scanned = true;
	err = window_init(&own, window->fd);
	if (err)
		return err;
	c->window = &own;
	c->event = NULL;
	c->event_cap = 0;
	err = search(c);
	free(c->event);
	window_deinit(&own);
	c->window = window;
	c->event = event;
	c->event_cap = event_cap;
	return err;
}

int chunk_assume(struct chunk *c, struct metadata *m, uint64_t to)
{
	int err = use_metadata(c, m);

	return err ? err : load_all(c, to, m);
}
