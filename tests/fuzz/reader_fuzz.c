// SPDX-License-Identifier: Apache-2.0
/* The reader: the first half of the input says which reads to do, on the second half. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_one(struct reader *r, uint8_t op, uint64_t arg)
{
	const char *s;

	switch (op % 12) {
	case 0:
		reader_u8(r, "u8");
		break;
	case 1:
		reader_u16_be(r, "u16");
		break;
	case 2:
		reader_u32(r, "u32");
		break;
	case 3:
		reader_u64_be(r, "u64");
		break;
	case 4:
		reader_uleb(r, "uleb");
		break;
	case 5:
		reader_sleb(r, "sleb");
		break;
	case 6:
		if (reader_count(r, arg, "count") > reader_left(r))
			abort();
		break;
	case 7:
		s = reader_string(r, "string");
		if (s && s + strlen(s) + 1 != (const char *)r->pos)
			abort();
		break;
	case 8:
		reader_skip(r, arg, "skip");
		break;
	case 9:
		reader_seek(r, arg, "seek");
		break;
	case 10:
		reader_seek(r, UINT64_MAX - arg, "far seek");
		break;
	default:
		reader_bytes(r, arg << 56, "many bytes");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n_ops = size / 2;
	struct reader r, part;

	reader_init(&r, data + n_ops, size - n_ops);
	for (size_t i = 0; i + 1 < n_ops && !reader_error(&r); i += 2) {
		if (data[i] < 200) {
			read_one(&r, data[i], data[i + 1]);
			continue;
		}
		part = reader_sub(&r, data[i + 1], "part");
		read_one(&part, data[i], data[i + 1]);
		if (part.pos > part.end || part.end > r.start + (size - n_ops))
			abort();
	}
	if (r.pos > data + size || r.pos < data + n_ops || (reader_error(&r) && !r.what))
		abort();
	return 0;
}
