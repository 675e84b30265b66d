/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protocol buffers' wire format (protobuf.dev/programming-guides/encoding): a writer of messages
 * into growing buffers, and the next field of a message we do not trust.
 *
 * No memory is a sticky error of the writer: nothing more is added, protobuf_error() says so. Zero
 * numbers and empty strings are left out, as proto3 wants it.
 */
#ifndef EXPORTER_PROTOBUF_H
#define EXPORTER_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/reader.h"

struct protobuf {
	uint8_t *bytes;
	size_t len, cap;
	int err;
};

void protobuf_init(struct protobuf *pb);
void protobuf_deinit(struct protobuf *pb);
/* Empties it; keeps the memory and the error. */
void protobuf_clear(struct protobuf *pb);
int protobuf_error(const struct protobuf *pb); /* 0 or -ENOMEM */

void protobuf_put_uint(struct protobuf *pb, uint32_t field, uint64_t value);
void protobuf_put_int(struct protobuf *pb, uint32_t field, int64_t value);
/* Also when there are none of them: an entry of a string table, an empty message. */
void protobuf_put_bytes(struct protobuf *pb, uint32_t field, const void *bytes, size_t len);
void protobuf_put_message(struct protobuf *pb, uint32_t field, const struct protobuf *message);
void protobuf_put_packed(struct protobuf *pb, uint32_t field, const uint64_t *values, size_t n);

struct protobuf_field {
	uint32_t number;
	bool is_bytes; /* else a number: varint, fixed32 or fixed64 */
	uint64_t value;
	struct reader body; /* of bytes */
};

/* False at the end and after an error. */
bool protobuf_next(struct reader *r, struct protobuf_field *f);

#endif
