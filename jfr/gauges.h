/* SPDX-License-Identifier: Apache-2.0 */
/* What JVMs measured now and then: how busy CPUs were, how much memory was in use. */
#ifndef JFR_GAUGES_H
#define JFR_GAUGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_row;
struct moment;

#define N_GAUGES 11

struct gauge {
	uint64_t count; /* how often it was measured */
	int64_t sum, largest;
};

struct gauges { /* all zero at first */
	struct gauge items[N_GAUGES];
};

bool gauges_wants(const struct event_row *row);
void gauges_take(struct gauges *g, const struct moment *m);
/* Adds what came behind it. */
void gauges_merge(struct gauges *into, const struct gauges *from);
/* 0 without any. */
int64_t gauge_mean(const struct gauge *g);

/* Of the index-th: "jvmUser", for documents; what people call it; its unit: "bytes", "count", or
   "ppm", which are millionths of all CPUs. */
const char *gauge_key(size_t index);
const char *gauge_title(size_t index);
const char *gauge_unit(size_t index);

#endif
