// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_lines.h"

#include <errno.h>

#include "core/reader.h"

#define UNIT 2	     /* bytes of a code unit */
#define NO_LINE -128 /* line delta of 3.10 */
#define MAX_LINE INT32_MAX

/* What a range of code has. The running line may leave what an int holds in a damaged table only.
 */
struct range {
	int64_t end; /* its first position behind */
	int64_t line;
	bool has_line;
};

static int answer(const struct range *range, int *line)
{
	if (!range->has_line)
		return -ENOENT;
	if (range->line < 0 || range->line > MAX_LINE)
		return -EBADMSG;
	*line = (int)range->line;
	return 0;
}

/* Pairs of (bytes, lines): so far the line holds, then it changes. What follows the last pair has
 * its line. */
static int lnotab_line(struct reader *r, int64_t position, struct range *range)
{
	while (!reader_at_end(r)) {
		range->end += reader_u8(r, "address increment");
		if (range->end > position)
			return 0;
		range->line += (int8_t)reader_u8(r, "line increment");
	}
	return reader_error(r);
}

/* Pairs of (bytes, lines): the line changes, then it holds so far. */
static int linetable_next(struct reader *r, struct range *range)
{
	uint8_t len = reader_u8(r, "range length");
	int8_t delta = (int8_t)reader_u8(r, "line increment");

	range->end += len;
	range->has_line = delta != NO_LINE;
	if (range->has_line)
		range->line += delta;
	return reader_error(r);
}

/* Six bits a byte, least significant first; bit 6: more follows. Enough for any int. */
static uint32_t varint(struct reader *r)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 36; shift += 6) {
		uint8_t byte = reader_u8(r, "varint");

		value |= (uint64_t)(byte & 0x3f) << shift;
		if (!(byte & 0x40)) {
			if (value > UINT32_MAX)
				break;
			return (uint32_t)value;
		}
	}
	reader_fail(r, -EBADMSG, "varint");
	return 0;
}

static int64_t signed_varint(struct reader *r)
{
	uint32_t value = varint(r);

	return value & 1 ? -(int64_t)(value >> 1) : value >> 1;
}

/* The kinds of entry: 0 to 9 are short forms, whose columns are in the entry and one more byte. */
enum location {
	LOCATION_ONE_LINE0 = 10,
	LOCATION_ONE_LINE1,
	LOCATION_ONE_LINE2,
	LOCATION_NO_COLUMNS,
	LOCATION_LONG,
	LOCATION_NONE,
};

static int location_next(struct reader *r, struct range *range)
{
	uint8_t entry = reader_u8(r, "location");
	uint8_t kind = entry >> 3 & 15;

	if (!reader_error(r) && !(entry & 0x80))
		return reader_fail(r, -EBADMSG, "start of a location");
	range->end += ((entry & 7) + 1) * UNIT;
	range->has_line = kind != LOCATION_NONE;
	switch (kind) {
	case LOCATION_NONE:
		break;
	case LOCATION_LONG:
		range->line += signed_varint(r);
		varint(r); /* end line */
		varint(r); /* column */
		varint(r); /* end column */
		break;
	case LOCATION_NO_COLUMNS:
		range->line += signed_varint(r);
		break;
	case LOCATION_ONE_LINE0:
	case LOCATION_ONE_LINE1:
	case LOCATION_ONE_LINE2:
		range->line += kind - LOCATION_ONE_LINE0;
		reader_skip(r, 2, "columns");
		break;
	default:
		reader_skip(r, 1, "columns");
	}
	return reader_error(r);
}

int python_line(enum python_lines format, const uint8_t *table, size_t len, int first_line,
		int64_t position, int *line)
{
	struct range range = { .line = first_line, .has_line = true };
	struct reader r;
	int err = 0;

	if (position < 0)
		return answer(&range, line);
	reader_init(&r, table, len);
	if (format == PYTHON_LNOTAB) {
		err = lnotab_line(&r, position, &range);
		return err < 0 ? err : answer(&range, line);
	}
	while (range.end <= position) {
		if (reader_at_end(&r))
			return -ENOENT;
		err = format == PYTHON_LINETABLE ? linetable_next(&r, &range)
						 : location_next(&r, &range);
		if (err < 0)
			return err;
	}
	return answer(&range, line);
}
