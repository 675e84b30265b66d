// SPDX-License-Identifier: Apache-2.0
#include "jfr/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/array.h"
#include "core/clock.h"
#include "core/hurry.h"
#include "jfr/names.h"
#include "jfr/window.h"
#include "jfr/wire.h"

#define MAX_GAP_NS ((int64_t)NS_PER_S / 10) /* between two chunks of one JVM */

struct recording {
	struct window window;
	uint64_t size; /* of the file */
	const struct event_visitor *visitor;
	struct event_types *types; /* of the newest metadata */
	struct names *older[2];
	struct chunk_header last; /* of the chunk older[0] is of */
	struct seen_chunks *seen;
	struct recording_report *report;
};

void seen_chunks_deinit(struct seen_chunks *seen)
{
	free(seen->items);
	*seen = (struct seen_chunks){ 0 };
}

void recording_report_deinit(struct recording_report *r)
{
	free(r->damages);
	*r = (struct recording_report){ 0 };
}

static int note(struct recording *r, uint64_t at, uint64_t end, const char *what)
{
	struct recording_report *report = r->report;

	if (end <= at)
		return 0;
	report->n_lost += end - at;
	if (ARRAY_RESERVE(report->damages, report->damages_cap, report->n_damages))
		return -ENOMEM;
	report->damages[report->n_damages++] =
		(struct damage){ .at = at, .len = end - at, .what = what };
	return 0;
}

/* Adds the chunk; false: it was there. */
static bool is_new(struct seen_chunks *seen, const struct chunk_header *h, int *err)
{
	for (size_t i = 0; i < seen->n; i++) {
		const struct seen_chunk *s = &seen->items[i];

		if (s->start_ns == h->start_ns && s->start_ticks == h->start_ticks &&
		    s->size == h->size)
			return false;
	}
	*err = ARRAY_RESERVE(seen->items, seen->cap, seen->n);
	if (!*err)
		seen->items[seen->n++] = (struct seen_chunk){ .start_ns = h->start_ns,
							      .start_ticks = h->start_ticks,
							      .size = h->size };
	return true;
}

static int header_at(struct recording *r, uint64_t at, struct chunk_header *h, const char **what)
{
	uint8_t bytes[CHUNK_HEADER_LEN];
	size_t len;
	int err = window_peek(&r->window, at, bytes, sizeof(bytes), &len);

	return err ? err : chunk_header_parse(bytes, len, h, what);
}

/* The next place from an offset on where a header is written, or the end of the file. */
static int find_header(struct recording *r, uint64_t from, uint64_t *at, struct chunk_header *h)
{
	const uint8_t *bytes, *hit;
	const char *what;
	size_t len;

	while (from < r->size) {
		int err = window_read(&r->window, from, CHUNK_HEADER_LEN, &bytes, &len);

		if (err)
			return err;
		if (len < CHUNK_HEADER_LEN || hurry_is_on())
			break;
		hit = memmem(bytes, len, "FLR", 4);
		if (!hit) {
			from += len - 3;
			continue;
		}
		*at = from + (uint64_t)(hit - bytes);
		*h = (struct chunk_header){ 0 };
		err = header_at(r, *at, h, &what);
		if (err != -EBADMSG)
			return err == -ENOTSUP ? 0 : err;
		from = *at + 1;
	}
	*at = r->size;
	return 0;
}

/* HotSpot ends each flush with a checkpoint that has a copy of the chunk's header, as an array of
   bytes and the last thing in it; so it shows where its chunk began, unless bytes are missing in
   between. */
static bool is_copy(struct recording *r, uint64_t at, const struct chunk_header *h, uint64_t *start)
{
	uint8_t count;
	size_t len;

	if (window_peek(&r->window, at - 1, &count, 1, &len) || !len || count != CHUNK_HEADER_LEN)
		return false;
	*start = h->size > CHUNK_HEADER_LEN && h->size <= at + CHUNK_HEADER_LEN
			 ? at + CHUNK_HEADER_LEN - h->size
			 : UINT64_MAX;
	return true;
}

/* Is the metadata where the header says? Then a chunk begins with it, whatever stands before. */
static bool leads_to_metadata(struct recording *r, uint64_t at, const struct chunk_header *h)
{
	uint8_t head[2 * WIRE_VARINT_MAX];
	struct reader in;
	size_t len;

	if (h->metadata_at < CHUNK_HEADER_LEN || h->metadata_at >= r->size - at ||
	    window_peek(&r->window, at + h->metadata_at, head, sizeof(head), &len))
		return false;
	reader_init(&in, head, len);
	wire_skip_varint(&in, "event size");
	return !wire_varint(&in, "event type") && !reader_error(&in);
}

/* The next place from an offset on where a chunk begins, or the end of the file. Copies of headers
   whose chunk began elsewhere, or where bytes are missing in between, are none. */
static int find_chunk(struct recording *r, uint64_t from, uint64_t *at, struct chunk_header *h)
{
	uint64_t copy_of;
	int err;

	do {
		err = find_header(r, from, at, h);
		from = *at + 1;
	} while (!err && *at < r->size && is_copy(r, *at, h, &copy_of) &&
		 !leads_to_metadata(r, *at, h));
	return err;
}

static bool is_near(__int128 a, __int128 b)
{
	return a - b <= (__int128)MAX_GAP_NS && b - a <= (__int128)MAX_GAP_NS;
}

/* Do two chunks follow each other as those of one JVM do? */
static bool is_successor(const struct chunk_header *a, const struct chunk_header *b)
{
	return !a->is_final && a->ticks_per_s == b->ticks_per_s &&
	       is_near((__int128)a->start_ns + a->duration_ns, b->start_ns) &&
	       is_near(chunk_header_time_ns(a, b->start_ticks), b->start_ns);
}

static void drop_older(struct recording *r)
{
	names_free(r->older[0]);
	names_free(r->older[1]);
	r->older[0] = r->older[1] = NULL;
}

/* Its names may explain what the next one has begun before it. */
static void keep_names(struct recording *r, struct chunk *c)
{
	names_free(r->older[1]);
	r->older[1] = r->older[0];
	r->older[0] = c->names;
	c->names = NULL;
	r->last = c->header;
}

static int use_types(struct recording *r, struct chunk *c)
{
	if (r->types && event_types_metadata(r->types) == c->metadata)
		return 0;
	event_types_free(r->types);
	r->types = event_types_new(c->metadata, r->visitor);
	return r->types ? 0 : -ENOMEM;
}

static int report_chunk(struct recording *r, const struct chunk *c)
{
	struct recording_report *report = r->report;
	const struct chunk_header *h = &c->header;
	int64_t end = h->start_ns;
	int err = 0;

	if (h->duration_ns <= INT64_MAX && end <= INT64_MAX - (int64_t)h->duration_ns)
		end += (int64_t)h->duration_ns;
	if (!report->n_chunks || h->start_ns < report->start_ns)
		report->start_ns = h->start_ns;
	if (!report->n_chunks || end > report->end_ns)
		report->end_ns = end;
	report->n_chunks++;
	report->n_unknown += c->n_unknown;
	for (size_t i = 0; i < 2; i++) {
		report->counts[i] += c->counts[i];
		report->sizes[i] += c->sizes[i];
	}
	for (size_t i = 0; i < c->n_damages && !err; i++)
		err = note(r, c->damages[i].at, c->damages[i].at + c->damages[i].len,
			   c->damages[i].what);
	return err;
}

static int visit_chunk(struct recording *r, struct chunk *c, uint64_t to)
{
	const struct event_visitor *v = r->visitor;
	int err = use_types(r, c), end_err = 0;

	if (err)
		return err;
	if (!is_successor(&r->last, &c->header))
		drop_older(r);
	c->older[0] = r->older[0];
	c->older[1] = r->older[1];
	err = v->begin ? v->begin(v->ctx, c) : 0;
	if (!err) {
		err = chunk_walk(c, r->types, CHUNK_HEADER_LEN, to);
		end_err = v->end ? v->end(v->ctx, c, r->types) : 0;
	}
	event_types_reset(r->types);
	if (!err)
		err = end_err;
	if (!err)
		err = report_chunk(r, c);
	keep_names(r, c);
	return err;
}

/* Metadata and constants up to `to`, by whatever way leads to them. */
static int load(struct recording *r, struct chunk *c, uint64_t to, bool has_offsets)
{
	struct metadata *known = r->types ? event_types_metadata(r->types) : NULL;
	int err = has_offsets ? chunk_load(c, to, known) : -EBADMSG;

	if (err != -EBADMSG)
		return err;
	err = chunk_scan(c, to, known);
	if (err == -EBADMSG && known && is_successor(&r->last, &c->header))
		return chunk_assume(c, known, to);
	return err;
}

static int read_part(struct recording *r, uint64_t at, const struct chunk_header *h, uint64_t to,
		     bool has_offsets)
{
	struct chunk *c = chunk_new(&r->window, at, h);
	int err = c ? load(r, c, to, has_offsets) : -ENOMEM;

	if (err == -EBADMSG)
		err = note(r, at, at + to,
			   "a chunk without metadata: nothing says what its events are");
	else if (!err)
		err = visit_chunk(r, c, to);
	chunk_free(c);
	return err;
}

/* A finished chunk of which the file has not all. */
static int note_missing(struct recording *r, uint64_t at, const struct chunk_header *h)
{
	if (chunk_header_is_open(h) || h->size > INT64_MAX || h->size <= r->size - at)
		return 0;
	return note(r, r->size, at + h->size, "the file ends before the chunk does");
}

/* What a chunk has that its JVM never finished, or that is cut off: up to the next chunk. */
static int read_unfinished(struct recording *r, uint64_t at, const struct chunk_header *h,
			   uint64_t *next)
{
	bool is_flushed =
		h->state != CHUNK_COMPLETE && h->size > CHUNK_HEADER_LEN && h->size <= r->size - at;
	struct chunk_header following;
	int err = find_chunk(r, at + CHUNK_HEADER_LEN, next, &following);
	uint64_t to = *next - at;

	if (err)
		return err;
	if (h->state != CHUNK_COMPLETE || chunk_header_is_open(h))
		r->report->n_open++;
	if (!is_flushed || h->size > to) {
		err = read_part(r, at, h, to, h->state != CHUNK_COMPLETE && h->size <= to);
		return err ? err : note_missing(r, at, h);
	}
	r->report->n_unflushed += to - h->size;
	return read_part(r, at, h, h->size, true);
}

/* No header where one should be. A copy of it does as well. */
static int read_damaged(struct recording *r, uint64_t at, uint64_t *next, const char *what)
{
	struct chunk_header h;
	uint64_t start = UINT64_MAX;
	int err = find_header(r, at + 1, next, &h);

	if (!err && *next < r->size && is_copy(r, *next, &h, &start) &&
	    (start < at || start > *next || !leads_to_metadata(r, start, &h))) {
		start = UINT64_MAX;
		err = find_chunk(r, at + 1, next, &h);
	}
	if (err || *next >= r->size || start == UINT64_MAX)
		return err ? err : note(r, at, *next, what);
	err = note(r, at, start + CHUNK_HEADER_LEN, what);
	h.state = CHUNK_COMPLETE;
	h.size = 0; /* it is not known any more */
	return err ? err : read_unfinished(r, start, &h, next);
}

static int read_chunk(struct recording *r, uint64_t at, uint64_t *next)
{
	struct chunk_header h;
	const char *what = "unreadable";
	int err = header_at(r, at, &h, &what);

	if (err == -EBADMSG || err == -ENOTSUP)
		return read_damaged(r, at, next, what);
	if (err)
		return err;
	*next = r->size;
	if (!chunk_header_is_whole(&h, r->size - at))
		return read_unfinished(r, at, &h, next);
	*next = at + h.size;
	if (!is_new(r->seen, &h, &err)) {
		r->report->n_duplicates++;
		return 0;
	}
	return err ? err : read_part(r, at, &h, h.size, true);
}

int recording_read(int fd, const struct event_visitor *visitor, struct seen_chunks *seen,
		   struct recording_report *report)
{
	struct recording r = { .visitor = visitor, .seen = seen, .report = report };
	struct stat st;
	uint64_t at = 0;
	int err = fstat(fd, &st) ? -errno : window_init(&r.window, fd);

	r.size = err ? 0 : (uint64_t)st.st_size;
	while (!err && at < r.size)
		err = hurry_is_on() ? -EINTR : read_chunk(&r, at, &at);
	event_types_free(r.types);
	drop_older(&r);
	window_deinit(&r.window);
	return err;
}
