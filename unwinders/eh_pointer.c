// SPDX-License-Identifier: Apache-2.0
#include "unwinders/eh_pointer.h"

#include <errno.h>

enum { FORMAT_ABSPTR, FORMAT_ULEB128, FORMAT_UDATA2, FORMAT_UDATA4, FORMAT_UDATA8 };
enum { FORMAT_SIGNED = 8, FORMAT_SLEB128, FORMAT_SDATA2, FORMAT_SDATA4, FORMAT_SDATA8 };
enum { BASE_NONE, BASE_PC, BASE_TEXT, BASE_DATA, BASE_FUNCTION, BASE_ALIGNED };

#define INDIRECT 0x80

static uint64_t read_value(struct reader *r, unsigned int format)
{
	const char *what = "encoded pointer";

	switch (format) {
	case FORMAT_ABSPTR:
	case FORMAT_UDATA8:
	case FORMAT_SDATA8:
	case FORMAT_SIGNED:
		return reader_u64(r, what);
	case FORMAT_ULEB128:
		return reader_uleb(r, what);
	case FORMAT_SLEB128:
		return (uint64_t)reader_sleb(r, what);
	case FORMAT_UDATA2:
		return reader_u16(r, what);
	case FORMAT_SDATA2:
		return (uint64_t)(int16_t)reader_u16(r, what);
	case FORMAT_UDATA4:
		return reader_u32(r, what);
	case FORMAT_SDATA4:
		return (uint64_t)(int32_t)reader_u32(r, what);
	}
	reader_fail(r, -EBADMSG, "pointer format");
	return 0;
}

/* A padded pointer stands at the next address that is a multiple of its size. */
static uint64_t read_aligned(struct reader *r, uint64_t here)
{
	reader_skip(r, -here & 7, "pointer padding");
	return reader_u64(r, "aligned pointer");
}

uint64_t eh_pointer_read(struct reader *r, uint8_t encoding, const struct eh_bases *bases)
{
	uint64_t here = bases->section + r->base + reader_offset(r);
	uint64_t base = 0, value;

	if (encoding & INDIRECT || encoding == EH_POINTER_OMIT) {
		reader_fail(r, -ENOTSUP, "indirect pointer");
		return 0;
	}
	switch (encoding >> 4) {
	case BASE_NONE:
		break;
	case BASE_PC:
		base = here;
		break;
	case BASE_TEXT:
	case BASE_DATA:
		base = encoding >> 4 == BASE_TEXT ? bases->text : bases->data;
		if (!base)
			reader_fail(r, -ENOTSUP, "pointer relative to an unknown base");
		break;
	case BASE_ALIGNED:
		return read_aligned(r, here);
	default:
		reader_fail(r, -ENOTSUP, "pointer base");
	}
	value = read_value(r, encoding & EH_POINTER_FORMAT);
	/* A stored zero is "none" whatever it counts from. */
	return value && !r->err ? base + value : 0;
}

void eh_pointer_skip(struct reader *r, uint8_t encoding, const struct eh_bases *bases)
{
	if (encoding == EH_POINTER_OMIT)
		return;
	if ((encoding >> 4 & 7) == BASE_ALIGNED)
		read_aligned(r, bases->section + r->base + reader_offset(r));
	else
		read_value(r, encoding & EH_POINTER_FORMAT);
}
