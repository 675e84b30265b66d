/* SPDX-License-Identifier: Apache-2.0 */
/* What events are worth: as many values as an event has, without the columns that it has not. */
#ifndef JFR_WORTH_H
#define JFR_WORTH_H

#include <stdbool.h>
#include <stdint.h>

#include "jfr/event_row.h"

#define WORTH_MAX 3 /* itself, a number and a size */

struct worth {
	uint32_t used; /* columns, a bit each: these have values, in their order; 0: nothing */
	int64_t values[WORTH_MAX];     /* 0 behind them */
} __attribute__((packed, aligned(4))); /* as there are tens of thousands */

/* Of a column; 0 when it has none. */
static inline int64_t worth_value(const struct worth *w, enum event_column column)
{
	uint32_t below = w->used & ((1u << column) - 1);

	return w->used >> column & 1 ? w->values[__builtin_popcount(below)] : 0;
}

/* Puts them where the columns are. */
static inline void worth_spread(const struct worth *w, int64_t *columns)
{
	unsigned int n = 0;

	for (uint32_t used = w->used; used; used &= used - 1)
		columns[__builtin_ctz(used)] = w->values[n++];
}

/* One object of so many bytes, in its column and the one behind that. */
static inline struct worth worth_of_object(enum event_column column, int64_t bytes)
{
	return (struct worth){ 1u << COLUMN_SAMPLES | 3u << column,
			       { 1, 1, bytes > 0 ? bytes : 0 } };
}

/* Sums wrap as those of a profile do. */
static inline void worth_add(struct worth *sum, const struct worth *w)
{
	for (unsigned int i = 0; i < WORTH_MAX; i++)
		sum->values[i] = (int64_t)((uint64_t)sum->values[i] + (uint64_t)w->values[i]);
}

#endif
