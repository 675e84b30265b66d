// SPDX-License-Identifier: Apache-2.0
#include "jfr/scope_search.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/reader.h"
#include "core/scoped.h"
#include "jfr/chunk_list.h"
#include "jfr/interpreter.h"
#include "jfr/late_scopes.h"
#include "jfr/recording.h"
#include "jfr/scope_event.h"
#include "jfr/wire.h"

#define MAX_METADATA (16 << 20) /* more is read in the common way */
#define MIN_CHUNKS 4		/* of a thread */

/* Do the types of a chunk have any? A JVM's last chunk knows all that it ever had. Also true when
   that cannot be told. */
static bool has_types(int fd, const struct listed_chunk *chunk)
{
	off_t at = (off_t)(chunk->at + chunk->header.metadata_at);
	uint8_t head[WIRE_VARINT_MAX];
	SCOPED(free) uint8_t *bytes = NULL;
	struct reader r;
	uint64_t len;

	if (pread(fd, head, sizeof(head), at) != sizeof(head))
		return true;
	reader_init(&r, head, sizeof(head));
	len = wire_varint(&r, "size");
	if (reader_error(&r) || len > MAX_METADATA)
		return true;
	bytes = malloc(len + !len);
	return !bytes || pread(fd, bytes, len, at) != (ssize_t)len ||
	       scope_events_in_bytes(bytes, len);
}

/* Is it worth while? */
static bool may_have(int fd, const struct chunk_list *l, bool is_only)
{
	return !l->n || (!(is_only && l->n == 1) && has_types(fd, &l->items[l->n - 1]));
}

/* Some of a file's chunks. */
struct search {
	struct interpreter interpreter;
	struct event_visitor visitor;
	struct seen_chunks seen;
	struct recording *recording;
	uint64_t first, from, to; /* the first chunk's end; where these begin and end */
	pthread_t thread;
	bool is_started;
	int err;
};

static void *search(void *ctx)
{
	struct recording_report ignored = { 0 };
	struct search *s = ctx;

	/* What it says of its JVM may stand in a file's first chunk only. */
	if (s->from)
		s->err = recording_glance(s->recording, 0, s->first, &ignored);
	if (!s->err)
		s->err = recording_read_part(s->recording, s->from, s->to, &ignored);
	recording_report_deinit(&ignored);
	return NULL;
}

static void search_init(struct search *s, int fd, size_t file, struct late_scopes *found)
{
	s->interpreter.found = found;
	s->interpreter.file = file;
	s->visitor = interpreter_visitor(&s->interpreter);
	s->recording = recording_new(fd, &s->visitor, &s->seen, &s->err);
}

static void search_deinit(struct search *s)
{
	recording_free(s->recording);
	seen_chunks_deinit(&s->seen);
	interpreter_deinit(&s->interpreter);
}

/* A file whose chunks are not known is one part. */
static void set_range(struct search *s, const struct chunk_list *l, size_t part, size_t n)
{
	s->first = l->n > 1 ? l->items[1].at : UINT64_MAX;
	s->from = part ? l->items[l->n * part / n].at : 0;
	s->to = part + 1 < n ? l->items[l->n * (part + 1) / n].at : UINT64_MAX;
}

static int search_all(struct search *parts, size_t n)
{
	int err = 0;

	for (size_t i = 1; i < n; i++)
		parts[i].is_started =
			!parts[i].err && !pthread_create(&parts[i].thread, NULL, search, &parts[i]);
	for (size_t i = 0; i < n; i++) {
		if (parts[i].is_started)
			pthread_join(parts[i].thread, NULL);
		else if (!parts[i].err)
			search(&parts[i]);
		err = err ? err : parts[i].err;
	}
	return err;
}

int scope_search(int fd, size_t file, bool is_only, size_t n_threads, struct late_scopes *found)
{
	struct chunk_list l = { 0 };
	bool may = chunk_list_read(fd, &l) || may_have(fd, &l, is_only);
	size_t n = l.n / MIN_CHUNKS < n_threads ? l.n / MIN_CHUNKS : n_threads;
	struct search *parts = may ? calloc(n + !n, sizeof(*parts)) : NULL;
	int err = may && !parts ? -ENOMEM : 0;

	n += !n;
	for (size_t i = 0; parts && i < n; i++) {
		search_init(&parts[i], fd, file, found);
		set_range(&parts[i], &l, i, n);
	}
	if (parts)
		err = search_all(parts, n);
	for (size_t i = 0; parts && i < n; i++)
		search_deinit(&parts[i]);
	free(parts);
	chunk_list_deinit(&l);
	return err;
}
