// SPDX-License-Identifier: Apache-2.0
#include "jfr/place.h"

#include <math.h>

#include "core/saturated.h"
#include "jfr/chunk.h"

struct place place_find(const struct layout *l, const char *name)
{
	int i = name ? layout_find(l, name) : -1;
	const struct jfr_leaf *leaf = i < 0 ? NULL : layout_leaf(l, (size_t)i);
	struct place p = { .leaf = i };

	if (!leaf)
		return p;
	p.kind = leaf->kind;
	p.unit = leaf->field ? leaf->field->unit : JFR_NO_UNIT;
	p.type = leaf->field ? leaf->field->type_id : 0;
	return p;
}

struct place place_find_first(const struct layout *l, const char *const *names)
{
	struct place p = { .leaf = -1 };

	for (; *names && p.leaf < 0; names++)
		p = place_find(l, *names);
	return p;
}

int64_t place_rounded(double real)
{
	return real >= -9e18 && real <= 9e18 ? llround(real) : 0;
}

int64_t value_ns(const struct chunk *chunk, enum jfr_unit unit, int64_t value)
{
	switch (unit) {
	case JFR_TIMESTAMP_TICKS:
		return chunk_header_time_ns(&chunk->header, value);
	case JFR_TIMESPAN_TICKS:
		return chunk_header_duration_ns(&chunk->header, value);
	case JFR_TIMESTAMP_MS:
	case JFR_TIMESPAN_MS:
		return mul_saturated(value, 1000000);
	case JFR_TIMESPAN_US:
		return mul_saturated(value, 1000);
	case JFR_TIMESPAN_S:
		return mul_saturated(value, 1000000000);
	default:
		return value;
	}
}
