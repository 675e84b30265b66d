// SPDX-License-Identifier: Apache-2.0
#include "jfr/sums.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/saturated.h"
#include "jfr/chunk.h"
#include "jfr/moment_field.h"

static const struct {
	const char *event;
	enum sum_kind kind;
	const char *name; /* the field with it; "": it has none; NULL: the thread's */
} rows[] = {
	{ "jdk.GCPhasePause", SUM_PAUSE, "name" },
	{ "jdk.ExecuteVMOperation", SUM_SAFEPOINT, "operation" },
	{ "jdk.SafepointBegin", SUM_SAFEPOINT, "" },
	{ "jdk.Compilation", SUM_COMPILATION, "compiler" },
	{ "jdk.MethodTiming", SUM_METHOD, "method" },
	{ "jdk.ThreadCPULoad", SUM_THREAD, NULL },
};

bool sums_wants(const struct event_row *row)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(rows[i].event, row->name))
			return true;
	return false;
}

#define MAX_LOAD 64 /* containers have measured more than all */

/* A part of all CPUs; what is none is 0. */
static double load_at(const struct moment *m, const char *path)
{
	double load = moment_real(m, path);

	return load > 0 && load <= MAX_LOAD ? load : 0;
}

static struct named_sum *find(struct sums *s, enum sum_kind kind, const char *name)
{
	struct named_sum *items = s->items[kind], *added;
	size_t i;

	for (i = 0; i < s->n[kind]; i++)
		if (!strncmp(items[i].name, name, sizeof(items[i].name) - 1))
			return &items[i];
	if (i == MAX_SUMS)
		return &items[MAX_SUMS - 1];
	added = &items[s->n[kind]++];
	snprintf(added->name, sizeof(added->name), "%s", i < MAX_SUMS - 1 ? name : "(others)");
	return added;
}

#define LOAD_PARTS 0x1p24 /* in whole parts, so that sums do not depend on their order */

static void add(struct named_sum *sum, const struct moment *m, int64_t n_cpus)
{
	int64_t ns = m->duration_ns > 0 ? m->duration_ns : 0;
	double load =
		(load_at(m, "user") + load_at(m, "system")) * (double)(n_cpus > 0 ? n_cpus : 1);

	sum->count++;
	sum->total_ns = add_saturated(sum->total_ns, ns);
	sum->longest_ns = ns > sum->longest_ns ? ns : sum->longest_ns;
	sum->load += nearbyint(load * LOAD_PARTS) / LOAD_PARTS;
}

/* Each event has all there was since the JVM began to time it. */
static void replace(struct named_sum *sum, uint64_t count, int64_t total_ns, int64_t longest_ns)
{
	if (count < sum->count)
		return;
	sum->count = count;
	sum->total_ns = total_ns;
	sum->longest_ns = longest_ns;
}

static void take_timing(struct sums *s, const char *method, const struct moment *m)
{
	int64_t n = moment_number(m, "invocations", 0);

	if (n > 0)
		replace(find(s, SUM_METHOD, method), (uint64_t)n,
			mul_saturated(n, moment_time_at(m, "average")),
			moment_time_at(m, "maximum"));
}

void sums_merge(struct sums *into, const struct sums *from)
{
	for (unsigned int kind = 0; kind < N_SUM_KINDS; kind++)
		for (size_t i = 0; i < from->n[kind]; i++) {
			const struct named_sum *more = &from->items[kind][i];
			struct named_sum *sum = find(into, (enum sum_kind)kind, more->name);

			if (kind == SUM_METHOD) {
				replace(sum, more->count, more->total_ns, more->longest_ns);
				continue;
			}
			sum->count += more->count;
			sum->total_ns = add_saturated(sum->total_ns, more->total_ns);
			sum->longest_ns = more->longest_ns > sum->longest_ns ? more->longest_ns
									     : sum->longest_ns;
			sum->load += more->load;
		}
}

bool sums_are_full(const struct sums *s)
{
	for (unsigned int kind = 0; kind < N_SUM_KINDS; kind++)
		if (s->n[kind] == MAX_SUMS)
			return true;
	return false;
}

static const char *name_of(struct moment *m, const char *path, struct text_room *room)
{
	const struct java_thread *thread;

	if (path)
		return *path ? moment_text(m, path, room) : "(reaching a safepoint)";
	thread = moment_thread(m);
	return thread ? thread->name : "(unknown)";
}

void sums_take(struct sums *s, struct moment *m, int64_t n_cpus)
{
	struct text_room room = { 0 };
	const char *name;
	size_t i;

	for (i = 0; strcmp(rows[i].event, m->row->name); i++)
		;
	name = name_of(m, rows[i].name, &room);
	/* Operations that are not at a safepoint run beside the program. */
	if (rows[i].kind == SUM_METHOD)
		take_timing(s, name, m);
	else if (rows[i].kind != SUM_SAFEPOINT || moment_number(m, "safepoint", 1))
		add(find(s, rows[i].kind, name), m, n_cpus);
	free(room.text);
}

const char *sum_kind_key(enum sum_kind kind)
{
	static const char *const keys[N_SUM_KINDS] = {
		[SUM_PAUSE] = "gcPauses",	    [SUM_SAFEPOINT] = "safepoints",
		[SUM_COMPILATION] = "compilations", [SUM_METHOD] = "methodTimings",
		[SUM_THREAD] = "threadLoads",
	};

	return keys[kind];
}

const char *sum_kind_title(enum sum_kind kind)
{
	static const char *const titles[N_SUM_KINDS] = {
		[SUM_PAUSE] = "Pauses of garbage collections, by phase",
		[SUM_SAFEPOINT] = "Operations at safepoints",
		[SUM_COMPILATION] = "Compilations, by compiler",
		[SUM_METHOD] = "Methods, as the JVM timed them",
		[SUM_THREAD] = "Threads, as the JVM measured them",
	};

	return titles[kind];
}
