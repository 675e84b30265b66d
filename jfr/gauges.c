// SPDX-License-Identifier: Apache-2.0
#include "jfr/gauges.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/saturated.h"
#include "jfr/moment_field.h"

#define MAX_SHARE 64 /* containers have measured more than all */

static const struct {
	const char *event, *field;
	const char *when; /* only of events that are of this moment; NULL: of all */
	const char *key, *title, *unit;
} rows[N_GAUGES] = {
	{ "jdk.CPULoad", "jvmUser", NULL, "jvmUser", "CPUs: the JVM, in user space", "ppm" },
	{ "jdk.CPULoad", "jvmSystem", NULL, "jvmSystem", "CPUs: the JVM, in the kernel", "ppm" },
	{ "jdk.CPULoad", "machineTotal", NULL, "machineTotal", "CPUs: the whole machine", "ppm" },
	{ "jdk.GCHeapSummary", "heapUsed", "Before GC", "heapUsedBeforeGc",
	  "Heap in use before collections", "bytes" },
	{ "jdk.GCHeapSummary", "heapUsed", "After GC", "heapUsedAfterGc",
	  "Heap in use after collections", "bytes" },
	{ "jdk.GCHeapSummary", "heapSpace.committedSize", NULL, "heapCommitted", "Heap committed",
	  "bytes" },
	{ "jdk.MetaspaceSummary", "metaspace.used", NULL, "metaspaceUsed", "Metaspace in use",
	  "bytes" },
	{ "jdk.NativeMemoryUsageTotal", "committed", NULL, "nativeCommitted",
	  "Memory of the JVM committed", "bytes" },
	{ "jdk.ResidentSetSize", "size", NULL, "residentSet", "Resident set", "bytes" },
	{ "jdk.JavaThreadStatistics", "activeCount", NULL, "threads", "Java threads", "count" },
	{ "jdk.ClassLoadingStatistics", "loadedClassCount", NULL, "loadedClasses",
	  "Classes that were loaded", "count" },
};

bool gauges_wants(const struct event_row *row)
{
	for (size_t i = 0; i < N_GAUGES; i++)
		if (!strcmp(rows[i].event, row->name))
			return true;
	return false;
}

static bool is_when(const struct moment *m, const char *when)
{
	struct text_room room = { 0 };
	bool is = !when || !strcmp(moment_text(m, "when", &room), when);

	free(room.text);
	return is;
}

/* -1: it was not measured. Whole numbers, so that sums do not depend on their order. */
static int64_t value_of(const struct moment *m, size_t i)
{
	double share;

	if (strcmp(rows[i].unit, "ppm"))
		return moment_number(m, rows[i].field, -1);
	share = moment_real(m, rows[i].field);
	return share >= 0 && share <= MAX_SHARE ? llround(share * 1e6) : -1;
}

static void add(struct gauge *g, const struct gauge *more)
{
	g->count += more->count;
	g->sum = add_saturated(g->sum, more->sum);
	g->largest = more->largest > g->largest ? more->largest : g->largest;
}

void gauges_take(struct gauges *g, const struct moment *m)
{
	for (size_t i = 0; i < N_GAUGES; i++) {
		int64_t value;

		if (strcmp(rows[i].event, m->row->name) || !is_when(m, rows[i].when))
			continue;
		value = value_of(m, i);
		if (value >= 0)
			add(&g->items[i],
			    &(struct gauge){ .count = 1, .sum = value, .largest = value });
	}
}

void gauges_merge(struct gauges *into, const struct gauges *from)
{
	for (size_t i = 0; i < N_GAUGES; i++)
		add(&into->items[i], &from->items[i]);
}

int64_t gauge_mean(const struct gauge *g)
{
	return g->count ? (int64_t)((double)g->sum / (double)g->count) : 0;
}

const char *gauge_key(size_t index)
{
	return rows[index].key;
}

const char *gauge_title(size_t index)
{
	return rows[index].title;
}

const char *gauge_unit(size_t index)
{
	return rows[index].unit;
}
