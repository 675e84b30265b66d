// SPDX-License-Identifier: Apache-2.0
#include "jfr/tail.h"

#include <errno.h>
#include <string.h>

#include "core/clock.h"
#include "core/file_read.h"
#include "core/hurry.h"
#include "core/scoped.h"
#include "jfr/content.h"
#include "jfr/places.h"
#include "jfr/window.h"

#define HEADER_TRIES 4
#define SEARCH_LEN (64 << 20) /* a tenth of a second, or a second from a slow disk */
/* Looked at again: more than there is between a chunk's beginning and its metadata. */
#define SEARCH_OVERLAP (1 << 20)

void tail_init(struct tail *t, int fd, uint64_t at)
{
	*t = (struct tail){ .fd = fd, .at = at, .exported = CHUNK_HEADER_LEN, .n_links = 1 };
}

void tail_deinit(struct tail *t)
{
	scoped_close(&t->fd);
	t->fd = -1;
}

int tail_read_header(int fd, uint64_t at, struct chunk_header *h, const char **what)
{
	uint8_t bytes[2][CHUNK_HEADER_LEN];
	size_t len[2];

	for (int i = 0; i < HEADER_TRIES; i++) {
		int err = file_read(fd, at, bytes[0], CHUNK_HEADER_LEN, &len[0]);

		if (!err)
			err = file_read(fd, at, bytes[1], CHUNK_HEADER_LEN, &len[1]);
		if (err)
			return err;
		if (len[0] != len[1] || memcmp(bytes[0], bytes[1], len[0]))
			continue;
		err = chunk_header_parse(bytes[0], len[0], h, what);
		if (err || h->state != CHUNK_CHANGING)
			return err;
	}
	*what = "its header stays as it is only while it is written";
	return -EAGAIN;
}

static enum tail_phase fail(struct tail *t, int err, const char *what)
{
	t->err = err;
	t->what = what;
	return TAIL_FAILED;
}

/* 0, or -ENODATA: too little of the chunk is there yet. */
static int find_key(struct tail *t, uint64_t body)
{
	uint8_t bytes[FINGERPRINT_LEN];
	size_t want = body < sizeof(bytes) ? (size_t)body : sizeof(bytes), len;
	int err = file_read(t->fd, t->at + CHUNK_HEADER_LEN, bytes, want, &len);

	if (err || len < want)
		return err ? err : -ENODATA;
	t->key = (struct chunk_key){
		.start_ns = (uint64_t)t->header.start_ns,
		.start_ticks = (uint64_t)t->header.start_ticks,
		.fingerprint = identity_hash(bytes, len),
	};
	t->has_key = true;
	return 0;
}

/* The piece up to an offset in the chunk. */
static enum tail_phase offer(struct tail *t, struct piece piece)
{
	int err = t->has_key ? 0 : find_key(t, piece.to - CHUNK_HEADER_LEN);

	if (err == -ENODATA)
		return TAIL_WAITS;
	if (err)
		return fail(t, err, "it cannot be read");
	piece.from = t->exported < piece.to ? t->exported : piece.to;
	if (piece.from == piece.to && !piece.is_last)
		return TAIL_WAITS;
	t->piece = piece;
	return TAIL_HAS_PIECE;
}

/* 0, -EAGAIN: there is more to search, or an error. */
static int search(struct tail *t)
{
	struct search *s = &t->search;
	uint64_t end = t->size, found;
	struct window w;
	int err = window_init(&w, t->fd);

	if (err)
		return err;
	if (end > s->from && end - s->from > SEARCH_LEN)
		end = s->from + SEARCH_LEN;
	err = places_next_chunk(&w, end, s->from, &found);
	window_deinit(&w);
	if (!err && hurry_is_on())
		err = -EINTR;
	if (err)
		return err;
	s->is_over = found < end || end == t->size;
	s->from = s->is_over ? found : end - SEARCH_OVERLAP;
	return s->is_over ? 0 : -EAGAIN;
}

static int next_chunk(struct tail *t, uint64_t *next)
{
	struct search *s = &t->search;
	int err;

	if (!s->from || s->of != t->at)
		*s = (struct search){ .of = t->at, .from = t->at + 1 };
	err = s->is_over ? 0 : search(t);
	if (!err)
		*next = s->from;
	return err;
}

/* Its writer died, or its bytes make no sense: up to the next chunk. */
static enum tail_phase offer_rest(struct tail *t, bool has_header)
{
	const struct chunk_header *h = &t->header;
	uint64_t next;
	int err = next_chunk(t, &next);
	struct piece piece = { .is_last = true };

	if (err == -EAGAIN)
		return TAIL_SEARCHES;
	if (err)
		return fail(t, err, "it cannot be read");
	piece.next = next;
	if (!has_header) {
		/* Not even its beginning: nothing of it can be read. */
		t->exported = 0;
		piece.lost = next - t->at;
		t->has_key = true;
		t->key = (struct chunk_key){ 0 };
		return offer(t, piece);
	}
	piece.to = next - t->at;
	if (h->state != CHUNK_COMPLETE && h->metadata_at && h->size <= piece.to &&
	    h->size > CHUNK_HEADER_LEN) {
		/* What comes behind the last flush was never committed. */
		piece.lost = piece.to - h->size;
		piece.to = h->size;
		piece.is_whole = true;
		t->what = "not flushed when its JVM ended";
	}
	return offer(t, piece);
}

/* By what the header says. */
static enum tail_phase look_at_chunk(struct tail *t)
{
	const struct chunk_header *h = &t->header;
	uint64_t available = t->size - t->at;

	if (chunk_header_is_whole(h, available))
		return offer(t, (struct piece){ .to = h->size,
						.is_last = true,
						.is_whole = true,
						.next = t->at + h->size });
	if (t->is_settled)
		return offer_rest(t, true);
	/* Only when its first bytes are all there: they identify it. */
	if (h->state != CHUNK_COMPLETE && h->metadata_at && h->size <= available &&
	    h->size >= CHUNK_HEADER_LEN + FINGERPRINT_LEN)
		return offer(t, (struct piece){ .to = h->size, .is_whole = true });
	return TAIL_WAITS;
}

static bool is_same_header(const struct chunk_header *a, const struct chunk_header *b)
{
	return a->size == b->size && a->state == b->state && a->start_ns == b->start_ns &&
	       a->start_ticks == b->start_ticks && a->metadata_at == b->metadata_at;
}

/* Will no recording begin here, however little there is yet? */
static bool is_foreign(const struct tail *t)
{
	uint8_t head[4];
	size_t len;

	if (t->size >= CHUNK_HEADER_LEN)
		return true;
	return !file_read(t->fd, 0, head, sizeof(head), &len) &&
	       content_sniff(head, len).kind != CONTENT_RECORDING;
}

/* There is no chunk here, or not yet, or one that nobody reads. */
static enum tail_phase look_at_no_chunk(struct tail *t, int err, const char *what)
{
	if (err == -EAGAIN || err == -EBADMSG) {
		if (err == -EBADMSG && !t->at && !t->is_settled && is_foreign(t))
			return TAIL_FOREIGN;
		t->what = what;
		return t->is_settled ? offer_rest(t, false) : TAIL_WAITS;
	}
	/* One of another version in the middle is passed over. */
	t->what = what;
	return err == -ENOTSUP && t->at ? offer_rest(t, false) : fail(t, err, what);
}

static bool has_changed(struct tail *t, const struct stat *st)
{
	int64_t mtime_ns = st->st_mtim.tv_sec * (int64_t)NS_PER_S + st->st_mtim.tv_nsec;
	bool changed = t->size != (uint64_t)st->st_size || t->mtime_ns != mtime_ns;

	if (changed)
		t->search.from = 0;
	t->size = (uint64_t)st->st_size;
	t->mtime_ns = mtime_ns;
	t->n_links = st->st_nlink;
	return changed;
}

/* Somebody began it anew, under the name and the inode that it had. */
static bool is_replaced(const struct tail *t, const struct chunk_header *h, int err)
{
	if (t->size < t->at + (t->exported > CHUNK_HEADER_LEN ? t->exported : 0))
		return true;
	return !err && t->has_key &&
	       ((uint64_t)h->start_ns != t->key.start_ns ||
		(uint64_t)h->start_ticks != t->key.start_ticks);
}

enum tail_phase tail_look(struct tail *t, uint64_t now_ns)
{
	struct chunk_header h = { 0 };
	const char *what = "";
	struct stat st;
	int err;

	if (fstat(t->fd, &st) < 0)
		return fail(t, -errno, "it cannot be read");
	if (has_changed(t, &st) || !t->grown_ns)
		t->grown_ns = now_ns;
	if (t->at && t->size == t->at)
		return TAIL_AT_END;
	err = tail_read_header(t->fd, t->at, &h, &what);
	if (is_replaced(t, &h, err))
		return TAIL_REPLACED;
	if (!t->size)
		return t->is_settled ? TAIL_AT_END : TAIL_WAITS;
	if (err)
		return look_at_no_chunk(t, err, what);
	if (!is_same_header(&h, &t->header))
		t->grown_ns = now_ns;
	t->header = h;
	if (!t->at)
		t->start_ns = (uint64_t)h.start_ns;
	return look_at_chunk(t);
}

void tail_took(struct tail *t, uint64_t to)
{
	if (to > t->exported)
		t->exported = to;
}

void tail_next_chunk(struct tail *t)
{
	t->at = t->piece.next;
	t->exported = CHUNK_HEADER_LEN;
	t->has_key = false;
	t->header = (struct chunk_header){ 0 };
	t->piece = (struct piece){ 0 };
	t->what = NULL;
}
