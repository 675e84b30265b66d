// SPDX-License-Identifier: Apache-2.0
#include "exporter/protobuf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

#define MAX_VARINT 10	    /* bytes of 64 bits, seven at a time */
#define MAX_FIELD 536870911 /* 2^29 - 1 */

void protobuf_init(struct protobuf *pb)
{
	*pb = (struct protobuf){ 0 };
}

void protobuf_deinit(struct protobuf *pb)
{
	free(pb->bytes);
}

void protobuf_clear(struct protobuf *pb)
{
	pb->len = 0;
}

int protobuf_error(const struct protobuf *pb)
{
	return pb->err;
}

static uint8_t *grow(struct protobuf *pb, size_t len)
{
	size_t cap = pb->cap ? pb->cap : 256;
	uint8_t *bytes;

	while (cap - pb->len < len && cap <= SIZE_MAX / 2)
		cap *= 2;
	bytes = cap - pb->len < len ? NULL : realloc(pb->bytes, cap);
	if (!bytes) {
		pb->err = -ENOMEM;
		return NULL;
	}
	pb->bytes = bytes;
	pb->cap = cap;
	return bytes + pb->len;
}

/* Room for len more bytes, or NULL. */
static inline uint8_t *reserve(struct protobuf *pb, size_t len)
{
	if (pb->err)
		return NULL;
	return len <= pb->cap - pb->len ? pb->bytes + pb->len : grow(pb, len);
}

static void put_varint(struct protobuf *pb, uint64_t value)
{
	uint8_t *at = reserve(pb, MAX_VARINT);

	if (!at)
		return;
	for (; value > 0x7f; value >>= 7)
		*at++ = (uint8_t)(value | 0x80);
	*at++ = (uint8_t)value;
	pb->len = (size_t)(at - pb->bytes);
}

static size_t varint_len(uint64_t value)
{
	size_t n = 1;

	for (; value > 0x7f; value >>= 7)
		n++;
	return n;
}

static void put_tag(struct protobuf *pb, uint32_t field, enum wire_type type)
{
	put_varint(pb, (uint64_t)field << 3 | type);
}

void protobuf_put_uint(struct protobuf *pb, uint32_t field, uint64_t value)
{
	if (!value)
		return;
	put_tag(pb, field, WIRE_VARINT);
	put_varint(pb, value);
}

void protobuf_put_int(struct protobuf *pb, uint32_t field, int64_t value)
{
	protobuf_put_uint(pb, field, (uint64_t)value);
}

void protobuf_put_bytes(struct protobuf *pb, uint32_t field, const void *bytes, size_t len)
{
	uint8_t *at;

	put_tag(pb, field, WIRE_BYTES);
	put_varint(pb, len);
	at = reserve(pb, len);
	if (!at || !len)
		return;
	memcpy(at, bytes, len);
	pb->len += len;
}

void protobuf_put_message(struct protobuf *pb, uint32_t field, const struct protobuf *message)
{
	if (message->err && !pb->err)
		pb->err = message->err;
	protobuf_put_bytes(pb, field, message->bytes, message->len);
}

void protobuf_put_packed(struct protobuf *pb, uint32_t field, const uint64_t *values, size_t n)
{
	size_t len = 0;

	if (!n)
		return;
	for (size_t i = 0; i < n; i++)
		len += varint_len(values[i]);
	put_tag(pb, field, WIRE_BYTES);
	put_varint(pb, len);
	for (size_t i = 0; i < n; i++)
		put_varint(pb, values[i]);
}

bool protobuf_next(struct reader *r, struct protobuf_field *f)
{
	uint64_t tag;

	if (reader_at_end(r))
		return false;
	tag = reader_uleb(r, "field tag");
	*f = (struct protobuf_field){ .number = (uint32_t)(tag >> 3) };
	if (!reader_error(r) && (tag >> 3 == 0 || tag >> 3 > MAX_FIELD))
		reader_fail(r, -EBADMSG, "field number");
	switch (tag & 7) {
	case WIRE_VARINT:
		f->value = reader_uleb(r, "number");
		break;
	case WIRE_FIXED64:
		f->value = reader_u64(r, "number");
		break;
	case WIRE_FIXED32:
		f->value = reader_u32(r, "number");
		break;
	case WIRE_BYTES:
		f->is_bytes = true;
		f->body = reader_sub(r, reader_uleb(r, "length"), "field");
		break;
	default:
		reader_fail(r, -EBADMSG, "wire type");
	}
	return !reader_error(r);
}
