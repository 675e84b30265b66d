// SPDX-License-Identifier: Apache-2.0
#include "jfr/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/array.h"
#include "core/hurry.h"
#include "jfr/constants.h"
#include "jfr/identity.h"
#include "jfr/names.h"
#include "jfr/places.h"
#include "jfr/resync.h"
#include "jfr/window.h"
#include "jfr/wire.h"

struct recording {
	struct window window;
	uint64_t size; /* of the file */
	const struct event_visitor *visitor;
	struct event_types *types; /* of the newest metadata */
	struct recording_past past;
	struct seen_chunks *seen;
	struct recording_report *report;
	bool is_glance; /* events are left out */
};

void recording_past_deinit(struct recording_past *past)
{
	names_free(past->older[0]);
	names_free(past->older[1]);
	*past = (struct recording_past){ 0 };
}

static void drop_older(struct recording *r)
{
	names_free(r->past.older[0]);
	names_free(r->past.older[1]);
	r->past.older[0] = r->past.older[1] = NULL;
}

/* Its names may explain what the next one has begun before it. */
static void keep_names(struct recording *r, struct chunk *c)
{
	names_free(r->past.older[1]);
	r->past.older[1] = r->past.older[0];
	r->past.older[0] = c->names;
	names_rest(c->names);
	c->names = NULL;
	r->past.last = c->header;
}

static int use_types(struct recording *r, struct chunk *c)
{
	if (r->types && event_types_metadata(r->types) == c->metadata)
		return 0;
	event_types_free(r->types);
	r->types = event_types_new(c->metadata, r->visitor);
	return r->types ? 0 : -ENOMEM;
}

/* How much of a file is one chunk's, from the chunk's start. */
struct extent {
	uint64_t to;		 /* by its header or by what follows */
	uint64_t most;		 /* where the next one begins */
	bool has_offsets;	 /* those of its header are worth a try */
	struct seen_part before; /* what another file had of it */
	struct seen_part read;
};

/* Of the bytes before an offset: those of two copies are the same. */
static int hash_before(const struct chunk *c, uint64_t at, uint64_t *hash)
{
	uint64_t before = at > CHUNK_HEADER_LEN ? at - CHUNK_HEADER_LEN : 0;
	uint8_t bytes[FINGERPRINT_LEN];
	size_t len = before < sizeof(bytes) ? (size_t)before : sizeof(bytes), got = 0;
	int err = window_peek(c->window, c->at + at - len, bytes, len, &got);

	*hash = identity_hash(bytes, got);
	return err;
}

/* Where to begin: behind what another copy of the chunk had of it. */
static int begin_of(const struct chunk *c, const struct extent *e, uint64_t *from)
{
	uint64_t hash;
	int err;

	*from = CHUNK_HEADER_LEN;
	if (e->before.read_to <= CHUNK_HEADER_LEN || e->before.read_to > e->to)
		return 0;
	err = hash_before(c, e->before.read_to, &hash);
	if (!err && hash == e->before.hash)
		*from = e->before.read_to;
	return err;
}

static int visit_chunk(struct recording *r, struct chunk *c, struct extent *e)
{
	const struct event_visitor *v = r->visitor;
	int err = use_types(r, c), last_err;
	bool is_skipped = r->is_glance;
	uint64_t from;

	if (err)
		return err;
	if (!chunk_header_follows(&r->past.last, &c->header))
		drop_older(r);
	c->older[0] = r->past.older[0];
	c->older[1] = r->past.older[1];
	names_doubt(c->older[0]);
	names_doubt(c->older[1]);
	err = begin_of(c, e, &from);
	if (!err)
		err = v->begin ? v->begin(v->ctx, c) : 0;
	if (err == 1)
		is_skipped = true, err = 0;
	if (c->is_of_another_jvm)
		drop_older(r);
	if (!err) {
		err = is_skipped ? 0 : chunk_walk(c, r->types, from, e->to);
		last_err = v->end ? v->end(v->ctx, c, r->types) : 0;
		err = err ? err : last_err;
	}
	event_types_reset(r->types);
	last_err = recording_report_add(r->report, c);
	keep_names(r, c);
	return err ? err : last_err;
}

static struct metadata *last_metadata(const struct recording *r)
{
	return r->types ? event_types_metadata(r->types) : NULL;
}

/* Metadata and constants up to `to`, by whatever way leads to them. A chunk without metadata has
   those of the one before it in this file; what the visitor knows may be another JVM's. */
static int load(struct recording *r, struct chunk *c, uint64_t to, bool has_offsets)
{
	const struct event_visitor *v = r->visitor;
	struct metadata *last = last_metadata(r), *known = last;
	int err;

	if (!known && v->known)
		known = v->known(v->ctx);
	err = has_offsets ? chunk_load(c, to, known) : -EBADMSG;

	if (err != -EBADMSG)
		return err;
	err = chunk_scan(c, to, known);
	if (err == -EBADMSG && last && chunk_header_follows(&r->past.last, &c->header))
		return chunk_assume(c, last, to);
	return err;
}

/* Does the chunk go on where its size says that it ends? */
static int grow(struct recording *r, struct chunk *c, struct extent *e)
{
	int err;

	if (e->most <= e->to || !resync_is_run(c, e->to, e->most, e->most))
		return 0;
	e->to = e->most;
	err = chunk_note(c, CHUNK_SIZE_AT, CHUNK_SIZE_AT + sizeof(c->header.size),
			 "the chunk's size ends it before its events do");
	return err ? err : load(r, c, e->to, false);
}

static int note_read(const struct chunk *c, struct extent *e)
{
	e->read.read_to = c->cut_at ? c->cut_at : e->to;
	e->read.seen_to = e->to;
	return hash_before(c, e->read.read_to, &e->read.hash);
}

static int read_part(struct recording *r, uint64_t at, const struct chunk_header *h,
		     struct extent *e)
{
	struct chunk *c = chunk_new(&r->window, at, h);
	int err = c ? load(r, c, e->to, e->has_offsets) : -ENOMEM;

	if (err == -EBADMSG && chunk_header_is_unflushed(h)) {
		r->report->n_unflushed += e->to - CHUNK_HEADER_LEN;
		err = 0;
	} else if (err == -EBADMSG) {
		err = recording_report_note(
			r->report, at, at + e->to,
			"a chunk without metadata: nothing says what its events are");
	} else if (!err) {
		err = grow(r, c, e);
		if (!err)
			err = visit_chunk(r, c, e);
		if (!err)
			err = note_read(c, e);
	}
	chunk_free(c);
	return err;
}

/* A finished chunk that is all there, but is not what its header says. */
static int note_header(struct recording *r, uint64_t at, const struct chunk_header *h)
{
	bool is_cut = h->size > r->size - at && h->size <= INT64_MAX;

	if (h->state != CHUNK_COMPLETE || chunk_header_is_open(h) || is_cut)
		return 0;
	return recording_report_note(r->report, at + CHUNK_SIZE_AT, at + CHUNK_OFFSETS_END,
				     "the header's size and offsets do not fit each other");
}

/* A finished chunk of which the file has not all. */
static int note_missing(struct recording *r, uint64_t at, const struct chunk_header *h)
{
	if (chunk_header_is_open(h) || h->size > INT64_MAX || h->size <= r->size - at)
		return 0;
	return recording_report_note(r->report, r->size, at + h->size,
				     "the file ends before the chunk does");
}

/* A part of a chunk, of which another file may have had some, or all. */
static int read_rest(struct recording *r, uint64_t at, const struct chunk_header *h,
		     struct extent *e, bool *is_known)
{
	struct seen_part *part;
	int err = seen_chunks_part(r->seen, h, &part);

	*is_known = !err && (part->is_whole || part->is_to_come ||
			     (part->read_to && e->to <= part->seen_to));
	if (err || *is_known) {
		r->report->n_duplicates += *is_known;
		return err;
	}
	e->before = *part;
	err = read_part(r, at, h, e);
	if (!err && e->read.read_to)
		*part = e->read;
	return err;
}

/* What a chunk has that its JVM never finished, or that is cut off: up to the next chunk. */
static int read_unfinished(struct recording *r, uint64_t at, const struct chunk_header *h,
			   uint64_t *next)
{
	bool is_flushed =
		h->state != CHUNK_COMPLETE && h->size > CHUNK_HEADER_LEN && h->size <= r->size - at;
	int err = places_next_chunk(&r->window, r->size, at + CHUNK_HEADER_LEN, next);
	struct extent e = { .to = *next - at, .most = *next - at };
	bool is_cut = !is_flushed || h->size > e.to, is_known;
	uint64_t n_unflushed = is_cut ? 0 : e.to - h->size;

	if (err)
		return err;
	e.has_offsets = !is_cut || (h->state != CHUNK_COMPLETE && h->size <= e.to);
	if (!is_cut)
		e.to = e.most = h->size;
	err = read_rest(r, at, h, &e, &is_known);
	if (err || is_known)
		return err;
	r->report->n_unflushed += n_unflushed;
	r->report->n_open += h->state != CHUNK_COMPLETE || chunk_header_is_open(h);
	return is_cut ? note_missing(r, at, h) : 0;
}

/* One whose header holds together. Only its size may be wrong, which the next chunk tells. */
static int read_whole(struct recording *r, uint64_t at, const struct chunk_header *h,
		      const struct seen_part *before, uint64_t *next)
{
	struct extent e = {
		.to = h->size, .most = h->size, .has_offsets = true, .before = *before
	};
	struct chunk_header follower;
	const char *what;
	int err = 0;

	*next = at + h->size;
	if (*next < r->size && places_header(&r->window, *next, &follower, &what)) {
		err = places_next_chunk(&r->window, r->size, at + CHUNK_HEADER_LEN, next);
		e.most = *next - at;
	}
	if (!err && e.most < e.to) {
		err = recording_report_note(r->report, at + CHUNK_SIZE_AT,
					    at + CHUNK_SIZE_AT + sizeof(h->size),
					    "the chunk's size leads into the next chunk");
		e.to = e.most;
	}
	if (err)
		return err;
	/* What is left between the two is looked at next. */
	*next = at + e.to;
	return read_part(r, at, h, &e);
}

/* No header where one should be: one of which only the first bytes are wrong, or a copy of it, does
   as well. */
static int read_damaged(struct recording *r, uint64_t at, uint64_t *next, int parse_err,
			const char *what)
{
	const struct seen_part nothing = { 0 };
	struct chunk_header h;
	uint64_t start;
	int err;

	if (parse_err == -EBADMSG && places_mend_header(&r->window, r->size, at, &h)) {
		err = recording_report_note(r->report, at, at + CHUNK_HEADER_LEN, what);
		return err ? err : read_whole(r, at, &h, &nothing, next);
	}
	if (!places_copied_header(&r->window, r->size, at + 1, &start, &h)) {
		err = places_next_chunk(&r->window, r->size, at + 1, next);
		return err ? err : recording_report_note(r->report, at, *next, what);
	}
	err = recording_report_note(r->report, at, start + CHUNK_HEADER_LEN, what);
	h.state = CHUNK_COMPLETE;
	h.size = 0; /* it is not known any more */
	return err ? err : read_unfinished(r, start, &h, next);
}

static int read_chunk(struct recording *r, uint64_t at, uint64_t *next)
{
	struct chunk_header h;
	const char *what = "unreadable";
	int err = places_header(&r->window, at, &h, &what);
	struct seen_part *part, before = { 0 };
	bool is_new;

	if (err == -EBADMSG || err == -ENOTSUP)
		return read_damaged(r, at, next, err, what);
	if (err)
		return err;
	if (!chunk_header_is_whole(&h, r->size - at)) {
		err = note_header(r, at, &h);
		return err ? err : read_unfinished(r, at, &h, next);
	}
	err = seen_chunks_part(r->seen, &h, &part);
	if (!err) {
		before = *part;
		err = seen_chunks_add(r->seen, &h, &is_new);
	}
	if (err)
		return err;
	/* With another size than one that was whole, too, it was rewritten. */
	if (before.is_whole)
		before = (struct seen_part){ 0 };
	if (is_new)
		return read_whole(r, at, &h, &before, next);
	*next = at + h.size;
	r->report->n_duplicates++;
	return 0;
}

struct recording *recording_new(int fd, const struct event_visitor *visitor,
				struct seen_chunks *seen, int *err)
{
	struct recording *r = calloc(1, sizeof(*r));
	struct stat st;

	*err = -ENOMEM;
	if (!r)
		return NULL;
	*err = fstat(fd, &st) ? -errno : window_init(&r->window, fd);
	if (*err) {
		free(r);
		return NULL;
	}
	r->size = (uint64_t)st.st_size;
	r->visitor = visitor;
	r->seen = seen;
	return r;
}

void recording_free(struct recording *r)
{
	if (!r)
		return;
	event_types_free(r->types);
	recording_past_deinit(&r->past);
	window_deinit(&r->window);
	free(r);
}

int recording_read_part(struct recording *r, uint64_t from, uint64_t to,
			struct recording_report *report)
{
	int err = 0;

	r->report = report;
	while (!err && from < r->size && from < to)
		err = hurry_is_on() ? -EINTR : read_chunk(r, from, &from);
	return err;
}

int recording_glance(struct recording *r, uint64_t from, uint64_t to,
		     struct recording_report *report)
{
	int err;

	r->is_glance = true;
	err = recording_read_part(r, from, to, report);
	r->is_glance = false;
	return err;
}

int recording_read(int fd, const struct event_visitor *visitor, struct seen_chunks *seen,
		   struct recording_report *report)
{
	struct recording_past past = { 0 };
	int err = recording_read_on(fd, visitor, seen, &past, report);

	recording_past_deinit(&past);
	return err;
}

static void move_past(struct recording_past *to, struct recording_past *from)
{
	recording_past_deinit(to);
	*to = *from;
	*from = (struct recording_past){ 0 };
}

void recording_take_past(struct recording *r, struct recording_past *past)
{
	move_past(&r->past, past);
}

void recording_give_past(struct recording *r, struct recording_past *past)
{
	move_past(past, &r->past);
}

int recording_read_on(int fd, const struct event_visitor *visitor, struct seen_chunks *seen,
		      struct recording_past *past, struct recording_report *report)
{
	int err;
	struct recording *r = recording_new(fd, visitor, seen, &err);

	if (!r)
		return err;
	recording_take_past(r, past);
	err = recording_read_part(r, 0, UINT64_MAX, report);
	recording_give_past(r, past);
	recording_free(r);
	return err;
}

int recording_rebind(struct recording *r)
{
	struct metadata *m = r->types ? event_types_metadata(r->types) : NULL;
	struct event_types *types = m ? event_types_new(m, r->visitor) : NULL;

	if (m && !types)
		return -ENOMEM;
	event_types_free(r->types);
	r->types = types;
	return 0;
}

static size_t n_constants(struct names *n)
{
	return n ? 1 + constants_count(names_constants(n)) : 0;
}

struct recording_state recording_state(const struct recording *r)
{
	return (struct recording_state){
		.last = r->past.last,
		.n_older = { n_constants(r->past.older[0]), n_constants(r->past.older[1]) },
	};
}

bool recording_state_equal(const struct recording_state *a, const struct recording_state *b)
{
	const struct chunk_header *x = &a->last, *y = &b->last;

	return x->start_ns == y->start_ns && x->start_ticks == y->start_ticks &&
	       x->size == y->size && a->n_older[0] == b->n_older[0] &&
	       a->n_older[1] == b->n_older[1];
}
