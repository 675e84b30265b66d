/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader over bytes we do not trust: position, end and a sticky first error with what was being
 * read and where. After an error every read answers zero and moves nothing, so a caller checks once
 * at the end. A reader borrows its bytes and never owns them.
 *
 * Integers are little endian unless the name says _be. Offsets in `where` are relative to the first
 * byte of the outermost reader (reader_sub keeps them so).
 */
#ifndef CORE_READER_H
#define CORE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reader {
	const uint8_t *start; /* of this reader; offsets given to reader_seek() count from here */
	const uint8_t *pos, *end;
	uint64_t base;	  /* offset of `start` in the outermost reader */
	const char *what; /* of the first error; NULL while there is none */
	uint64_t where;
	int err; /* 0 or the first error, a negative errno */
};

static inline void reader_init(struct reader *r, const void *data, size_t len)
{
	*r = (struct reader){ .start = data ? data : (const void *)"" };
	r->pos = r->start;
	r->end = r->start + (data ? len : 0);
}

/* 0, or the first error. -EBADMSG: the bytes ended or made no sense. */
static inline int reader_error(const struct reader *r)
{
	return r->err;
}

/* Records an error at the current position, unless there is one already. Returns the first error.
 */
int reader_fail(struct reader *r, int err, const char *what);

static inline size_t reader_left(const struct reader *r)
{
	return (size_t)(r->end - r->pos);
}

static inline size_t reader_offset(const struct reader *r) /* from `start` */
{
	return (size_t)(r->pos - r->start);
}

static inline bool reader_at_end(const struct reader *r) /* also true after an error: loops end */
{
	return r->pos == r->end;
}

uint8_t reader_u8(struct reader *r, const char *what);
uint16_t reader_u16(struct reader *r, const char *what);
uint32_t reader_u32(struct reader *r, const char *what);
uint64_t reader_u64(struct reader *r, const char *what);
uint16_t reader_u16_be(struct reader *r, const char *what);
uint32_t reader_u32_be(struct reader *r, const char *what);
uint64_t reader_u64_be(struct reader *r, const char *what);
/* LEB128 as in DWARF; more than 64 bits of value is an error. Protobuf's varint is reader_uleb().
 */
uint64_t reader_uleb(struct reader *r, const char *what);
int64_t reader_sleb(struct reader *r, const char *what);

/* A LEB128 count of things of at least min_len bytes each; a count that cannot fit is an error. */
size_t reader_count(struct reader *r, size_t min_len, const char *what);
/* Borrowed bytes, or NULL. */
const void *reader_bytes(struct reader *r, uint64_t len, const char *what);
/* A NUL-terminated string that ends inside the reader, or NULL. */
const char *reader_string(struct reader *r, const char *what);
void reader_skip(struct reader *r, uint64_t len, const char *what);
void reader_seek(struct reader *r, uint64_t offset, const char *what);
/* The next len bytes as a reader of their own, which cannot leave them; r moves behind them. An
   error inside the part stays there. */
struct reader reader_sub(struct reader *r, uint64_t len, const char *what);

#endif
