// SPDX-License-Identifier: Apache-2.0
#include "jfr/chunk_header.h"

#include <errno.h>
#include <string.h>

#include "core/clock.h"
#include "core/reader.h"

#define FLAG_COMPRESSED 1 /* integers are varints */
#define FLAG_FINAL 2
#define MAX_GAP_NS ((int64_t)NS_PER_S / 10) /* between two chunks of one JVM */

static const char magic[4] = { 'F', 'L', 'R', '\0' };

bool chunk_header_sniff(const void *head, size_t len)
{
	return len >= sizeof(magic) && !memcmp(head, magic, sizeof(magic));
}

static int check_version(const struct chunk_header *h, unsigned int flags, const char **what)
{
	if (h->major == 0) {
		*what = "a recording of Oracle's JDK 7 or 8 (version 0.9), a format of its own";
		return -ENOTSUP;
	}
	if (h->major > 2) {
		*what = "a version that is newer than 2";
		return -ENOTSUP;
	}
	if (!(flags & FLAG_COMPRESSED)) {
		*what = "integers of fixed width, which no JVM writes";
		return -ENOTSUP;
	}
	return 0;
}

int chunk_header_parse(const void *bytes, size_t len, struct chunk_header *h, const char **what)
{
	struct chunk_header got = { 0 };
	struct reader r;
	const void *m;
	unsigned int flags;
	int err;

	reader_init(&r, bytes, len);
	m = reader_bytes(&r, sizeof(magic), "magic");
	if (!m || memcmp(m, magic, sizeof(magic))) {
		*what = "no chunk begins here";
		return -EBADMSG;
	}
	got.major = reader_u16_be(&r, "major");
	got.minor = reader_u16_be(&r, "minor");
	got.size = reader_u64_be(&r, "chunk size");
	got.constants_at = reader_u64_be(&r, "constant pool offset");
	got.metadata_at = reader_u64_be(&r, "metadata offset");
	got.start_ns = (int64_t)reader_u64_be(&r, "start time");
	got.duration_ns = reader_u64_be(&r, "duration");
	got.start_ticks = (int64_t)reader_u64_be(&r, "start ticks");
	got.ticks_per_s = reader_u64_be(&r, "ticks per second");
	got.state = reader_u8(&r, "state");
	reader_skip(&r, 1, "padding");
	flags = reader_u16_be(&r, "flags");
	if (reader_error(&r)) {
		*what = "the header of the chunk is cut off";
		return -EBADMSG;
	}
	err = check_version(&got, flags, what);
	if (err)
		return err;
	got.is_final = flags & FLAG_FINAL;
	got.is_frequency_guess = !got.ticks_per_s || got.ticks_per_s > INT64_MAX;
	if (got.is_frequency_guess)
		got.ticks_per_s = NS_PER_S;
	if (got.ticks_per_s > NS_PER_S)
		got.ns_per_tick = (uint64_t)(((unsigned __int128)NS_PER_S << 64) / got.ticks_per_s);
	*h = got;
	return 0;
}

static bool is_inside(uint64_t offset, uint64_t size)
{
	return offset >= CHUNK_HEADER_LEN && offset < size;
}

bool chunk_header_is_whole(const struct chunk_header *h, uint64_t available)
{
	return h->state == CHUNK_COMPLETE && h->size <= available &&
	       is_inside(h->constants_at, h->size) && is_inside(h->metadata_at, h->size);
}

bool chunk_header_is_unflushed(const struct chunk_header *h)
{
	return h->state != CHUNK_COMPLETE && h->size == CHUNK_HEADER_LEN && !h->constants_at &&
	       !h->metadata_at;
}

bool chunk_header_is_open(const struct chunk_header *h)
{
	return h->size == CHUNK_UNFINISHED_SIZE && !h->constants_at && !h->metadata_at;
}

bool chunk_header_is_silent(const struct chunk_header *h)
{
	return h->state == CHUNK_COMPLETE && !h->size && !h->constants_at && !h->metadata_at &&
	       !h->start_ns;
}

static int64_t clamp(__int128 n)
{
	return n > INT64_MAX ? INT64_MAX : n < INT64_MIN ? INT64_MIN : (int64_t)n;
}

/* The same of any clock. */
static unsigned __int128 length_ns(const struct chunk_header *h, uint64_t ticks)
{
	if (chunk_header_has_fast_clock(h))
		return chunk_header_length_ns(h, ticks);
	return (unsigned __int128)(ticks / h->ticks_per_s) * NS_PER_S +
	       (unsigned __int128)(ticks % h->ticks_per_s) * NS_PER_S / h->ticks_per_s;
}

/* The same of what may be negative, towards zero. */
static __int128 ticks_ns(const struct chunk_header *h, __int128 ticks)
{
	return ticks < 0 ? -(__int128)length_ns(h, (uint64_t)-ticks)
			 : (__int128)length_ns(h, (uint64_t)ticks);
}

int64_t chunk_header_any_time_ns(const struct chunk_header *h, int64_t ticks)
{
	return clamp(h->start_ns + ticks_ns(h, (__int128)ticks - h->start_ticks));
}

int64_t chunk_header_any_duration_ns(const struct chunk_header *h, int64_t ticks)
{
	return clamp(ticks_ns(h, ticks));
}

int64_t chunk_header_end_ns(const struct chunk_header *h)
{
	int64_t end;

	if (h->duration_ns > INT64_MAX ||
	    __builtin_add_overflow(h->start_ns, (int64_t)h->duration_ns, &end))
		return h->start_ns;
	return end;
}

static bool is_near(__int128 a, __int128 b)
{
	return a - b <= MAX_GAP_NS && b - a <= MAX_GAP_NS;
}

bool chunk_header_follows(const struct chunk_header *a, const struct chunk_header *b)
{
	return !a->is_final && a->ticks_per_s == b->ticks_per_s &&
	       is_near((__int128)a->start_ns + a->duration_ns, b->start_ns) &&
	       is_near(chunk_header_time_ns(a, b->start_ticks), b->start_ns);
}
