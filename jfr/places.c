// SPDX-License-Identifier: Apache-2.0
#include "jfr/places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/hurry.h"
#include "core/scoped.h"
#include "jfr/chunk.h"
#include "jfr/metadata.h"
#include "jfr/window.h"
#include "jfr/wire.h"

#define MAX_METADATA (8 << 20) /* bytes of it that are tried */

int places_header(struct window *w, uint64_t at, struct chunk_header *h, const char **what)
{
	uint8_t bytes[CHUNK_HEADER_LEN];
	size_t len;
	int err = window_peek(w, at, bytes, sizeof(bytes), &len);

	return err ? err : chunk_header_parse(bytes, len, h, what);
}

static int next_header(struct window *w, uint64_t end, uint64_t from, uint64_t *at,
		       struct chunk_header *h)
{
	const uint8_t *bytes, *hit;
	const char *what;
	size_t len;

	while (from < end) {
		int err = window_read(w, from, CHUNK_HEADER_LEN, &bytes, &len);

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
		err = places_header(w, *at, h, &what);
		if (err != -EBADMSG)
			return err == -ENOTSUP ? 0 : err;
		from = *at + 1;
	}
	*at = end;
	return 0;
}

/* The copy is an array of bytes and the last thing in its checkpoint; its size is the chunk's up to
   there. */
static bool is_copy(struct window *w, uint64_t at, const struct chunk_header *h, uint64_t *start)
{
	uint8_t count;
	size_t len;

	/* Before its first flush a chunk has none, and async-profiler's have none at all. */
	if (h->size == CHUNK_HEADER_LEN || chunk_header_is_open(h))
		return false;
	if (window_peek(w, at - 1, &count, 1, &len) || !len || count != CHUNK_HEADER_LEN)
		return false;
	*start = h->size > CHUNK_HEADER_LEN && h->size <= at + CHUNK_HEADER_LEN
			 ? at + CHUNK_HEADER_LEN - h->size
			 : UINT64_MAX;
	return true;
}

static bool is_metadata(struct window *w, uint64_t at, uint64_t size)
{
	SCOPED(free) uint8_t *bytes = size > MAX_METADATA ? NULL : malloc(size);
	struct metadata *m;
	const char *what;
	uint64_t where;
	size_t len;
	int err;

	if (!bytes || window_peek(w, at, bytes, size, &len) || len < size)
		return false;
	m = metadata_parse(bytes, len, &err, &what, &where);
	metadata_unref(m);
	return m;
}

/* Is the metadata where the header says? Then a chunk begins with it, whatever stands before. */
static bool leads_to_metadata(struct window *w, uint64_t end, uint64_t at,
			      const struct chunk_header *h)
{
	uint8_t head[2 * WIRE_VARINT_MAX];
	struct reader in;
	uint64_t size;
	size_t len;

	if (h->metadata_at < CHUNK_HEADER_LEN || h->metadata_at >= end - at ||
	    window_peek(w, at + h->metadata_at, head, sizeof(head), &len))
		return false;
	reader_init(&in, head, len);
	size = wire_varint(&in, "event size");
	if (wire_varint(&in, "event type") != TYPE_METADATA || reader_error(&in))
		return false;
	return is_metadata(w, at + h->metadata_at, size);
}

int places_next_chunk(struct window *w, uint64_t end, uint64_t from, uint64_t *at)
{
	struct chunk_header h;
	uint64_t copy_of;
	int err;

	do {
		err = next_header(w, end, from, at, &h);
		from = *at + 1;
	} while (!err && *at < end && is_copy(w, *at, &h, &copy_of) &&
		 !leads_to_metadata(w, end, *at, &h));
	return err;
}

bool places_copied_header(struct window *w, uint64_t end, uint64_t from, uint64_t *at,
			  struct chunk_header *h)
{
	struct chunk_header copy;
	uint64_t copy_at;

	if (next_header(w, end, from, &copy_at, &copy) || copy_at >= end ||
	    !is_copy(w, copy_at, &copy, at) || *at < from - 1 || *at > copy_at ||
	    !leads_to_metadata(w, end, *at, &copy))
		return false;
	*h = copy;
	return true;
}

bool places_mend_header(struct window *w, uint64_t end, uint64_t at, struct chunk_header *h)
{
	static const uint8_t magic_and_version[] = { 'F', 'L', 'R', 0, 0, 2, 0, 1 };
	uint8_t bytes[CHUNK_HEADER_LEN];
	struct chunk_header mended;
	struct chunk *c;
	const char *what;
	size_t len;
	int err;

	if (window_peek(w, at, bytes, sizeof(bytes), &len) || len < sizeof(bytes))
		return false;
	memcpy(bytes, magic_and_version, sizeof(magic_and_version));
	bytes[CHUNK_HEADER_LEN - 1] |= 1; /* numbers are varints */
	if (chunk_header_parse(bytes, len, &mended, &what) ||
	    !chunk_header_is_whole(&mended, end - at))
		return false;
	c = chunk_new(w, at, &mended);
	err = c ? chunk_load(c, mended.size, NULL) : -ENOMEM;
	chunk_free(c);
	if (!err)
		*h = mended;
	return !err;
}
