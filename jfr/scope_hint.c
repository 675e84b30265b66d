// SPDX-License-Identifier: Apache-2.0
#include "jfr/scope_hint.h"

#include <errno.h>
#include <stdlib.h>

#include "core/array.h"
#include "core/file_read.h"
#include "core/reader.h"
#include "jfr/chunk.h"
#include "jfr/chunk_list.h"
#include "jfr/constants.h"
#include "jfr/metadata.h"
#include "jfr/scope_event.h"
#include "jfr/wire.h"

/* What is longer is read in the common way. */
#define MAX_METADATA (16 << 20)
#define MAX_CONSTANTS (64 << 20)

/* How an event begins that is read by itself. */
struct head {
	uint64_t len;
	int64_t delta;	 /* of constants: to those before them, 0 when these are all */
	uint64_t number; /* of metadata: the same one says that nothing has changed */
};

/* Of an event that lies in its chunk. */
static int head_at(int fd, const struct listed_chunk *chunk, uint64_t at, uint64_t type,
		   struct head *head)
{
	uint8_t bytes[5 * WIRE_VARINT_MAX];
	struct reader r;
	size_t len;
	int err = file_read(fd, chunk->at + at, bytes, sizeof(bytes), &len);

	if (err)
		return err;
	reader_init(&r, bytes, len);
	head->len = wire_varint(&r, "size");
	if (wire_varint(&r, "type") != type || at >= chunk->header.size ||
	    head->len > chunk->header.size - at)
		return -EBADMSG;
	wire_skip_varint(&r, "start");
	wire_skip_varint(&r, "duration");
	head->number = wire_varint(&r, "number");
	head->delta = (int64_t)head->number;
	return reader_error(&r);
}

/* The whole event, in h->bytes. */
static int read_event(struct scope_hint *h, int fd, uint64_t at, uint64_t size)
{
	size_t len;
	int err = ARRAY_RESERVE(h->bytes, h->cap, size);

	if (!err)
		err = file_read(fd, at, h->bytes, size, &len);
	return err ? err : len == size ? 0 : -EBADMSG;
}

/* Of the checkpoint that a header leads to only the strings are kept. */
static bool has_strings(struct scope_hint *h, int fd, const struct listed_chunk *chunk)
{
	uint64_t at = chunk->header.constants_at;
	struct constants *strings;
	struct head head;
	struct reader r;
	bool has = true;

	if (head_at(fd, chunk, at, TYPE_CONSTANTS, &head) || head.delta ||
	    head.len > MAX_CONSTANTS || read_event(h, fd, chunk->at + at, head.len))
		return true;
	strings = constants_new(h->metadata);
	if (!strings)
		return true;
	constants_keep_only(strings, "java.lang.String");
	reader_init(&r, h->bytes, head.len);
	wire_skip_varint(&r, "size");
	wire_skip_varint(&r, "type");
	if (!constants_add(strings, &r))
		has = scope_events_in(h->metadata, strings);
	constants_free(strings);
	return has;
}

/* Metadata that are not those of the chunk before; false: nobody can tell what they say. */
static bool take_metadata(struct scope_hint *h, int fd, uint64_t at, const struct head *head)
{
	const char *what;
	uint64_t where;
	int err;

	metadata_unref(h->metadata);
	h->metadata = NULL;
	h->metadata_len = 0;
	if (read_event(h, fd, at, head->len))
		return false;
	if (scope_events_in_bytes(h->bytes, head->len)) {
		h->metadata = metadata_parse(h->bytes, head->len, &err, &what, &where);
		if (!h->metadata)
			return false;
	}
	h->metadata_len = head->len;
	h->metadata_number = head->number;
	return true;
}

void scope_hint_deinit(struct scope_hint *h)
{
	metadata_unref(h->metadata);
	free(h->bytes);
}

bool scope_hint_has(struct scope_hint *h, int fd, const struct listed_chunk *chunk)
{
	uint64_t at = chunk->header.metadata_at;
	struct head head;

	if (head_at(fd, chunk, at, TYPE_METADATA, &head) || head.len > MAX_METADATA)
		return true;
	if ((head.len != h->metadata_len || head.number != h->metadata_number) &&
	    !take_metadata(h, fd, chunk->at + at, &head))
		return true;
	return h->metadata && (scope_events_in(h->metadata, NULL) || has_strings(h, fd, chunk));
}
