// SPDX-License-Identifier: Apache-2.0
#include "jfr/summary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/saturated.h"
#include "core/array.h"
#include "core/intern.h"
#include "jfr/chunk.h"
#include "jfr/moment_field.h"

int summary_init(struct summary *s, const struct jvm_facts *facts)
{
	*s = (struct summary){ .facts = facts };
	s->names = intern_new();
	return s->names ? 0 : -ENOMEM;
}

void summary_deinit(struct summary *s)
{
	intern_free(s->names);
	free(s->types);
}

void summary_add(struct summary *s, const char *type, uint64_t count, uint64_t bytes)
{
	uint32_t known = intern_count(s->names), id;

	if (!count)
		return;
	id = intern_add(s->names, type, strlen(type));
	if (!id || ARRAY_RESERVE(s->types, s->types_cap, id)) {
		s->err = -ENOMEM;
		return;
	}
	if (id > known)
		s->types[id - 1] = (struct type_sum){ 0 };
	s->types[id - 1].count += count;
	s->types[id - 1].bytes += bytes;
}

size_t summary_n_types(const struct summary *s)
{
	return intern_count(s->names);
}

const char *summary_type(const struct summary *s, size_t index, struct type_sum *sum)
{
	*sum = s->types[index];
	return intern_get(s->names, (uint32_t)index + 1, NULL);
}

static void end(void *ctx, struct chunk *chunk, struct event_types *types)
{
	struct summary *s = ctx;

	for (size_t i = 0; i < event_types_n(types); i++) {
		const struct event_type *t = event_types_at(types, i);

		summary_add(s, t->type->name, t->count, t->bytes);
	}
	summary_add(s, "jdk.Metadata", chunk->counts[0], chunk->sizes[0]);
	summary_add(s, "jdk.Checkpoint", chunk->counts[1], chunk->sizes[1]);
}

static struct gc_sum *gc_sum(struct summary *s, const char *name, const char *cause)
{
	struct gc_sum *g;
	size_t i;

	for (i = 0; i < s->n_gcs; i++)
		if (!strncmp(s->gcs[i].name, name, sizeof(g->name) - 1) &&
		    !strncmp(s->gcs[i].cause, cause, sizeof(g->cause) - 1))
			return &s->gcs[i];
	if (i == MAX_GC_SUMS)
		return &s->gcs[MAX_GC_SUMS - 1];
	g = &s->gcs[s->n_gcs++];
	snprintf(g->name, sizeof(g->name), "%s", name);
	snprintf(g->cause, sizeof(g->cause), "%s", cause);
	return g;
}

void summary_merge(struct summary *into, const struct summary *from)
{
	for (size_t i = 0; i < summary_n_types(from); i++) {
		struct type_sum sum;
		const char *type = summary_type(from, i, &sum);

		summary_add(into, type, sum.count, sum.bytes);
	}
	for (size_t i = 0; i < from->n_gcs; i++) {
		const struct gc_sum *more = &from->gcs[i];
		struct gc_sum *g = gc_sum(into, more->name, more->cause);

		g->count += more->count;
		g->pause_ns = add_saturated(g->pause_ns, more->pause_ns);
		g->longest_ns = more->longest_ns > g->longest_ns ? more->longest_ns : g->longest_ns;
		g->duration_ns = add_saturated(g->duration_ns, more->duration_ns);
	}
	sums_merge(&into->sums, &from->sums);
	gauges_merge(&into->gauges, &from->gauges);
	into->dropped = add_saturated(into->dropped, from->dropped);
	into->err = into->err ? into->err : from->err;
}

bool summary_is_full(const struct summary *s)
{
	return s->n_gcs == MAX_GC_SUMS || sums_are_full(&s->sums);
}

static bool is_collection(const struct event_row *row)
{
	return !strcmp(row->name, "jdk.GarbageCollection");
}

static bool is_loss(const struct event_row *row)
{
	return !strcmp(row->name, "jdk.DataLoss");
}

static void take_loss(struct summary *s, const struct moment *m)
{
	int64_t amount = moment_number(m, "amount", 0);

	s->dropped = add_saturated(s->dropped, amount > 0 ? amount : 0);
}

static void take_collection(struct summary *s, const struct moment *m)
{
	struct text_room name = { 0 }, cause = { 0 };
	struct gc_sum *g =
		gc_sum(s, moment_text(m, "name", &name), moment_text(m, "cause", &cause));
	int64_t longest = moment_time_at(m, "longestPause");

	g->count++;
	g->pause_ns = add_saturated(g->pause_ns, moment_time_at(m, "sumOfPauses"));
	g->longest_ns = longest > g->longest_ns ? longest : g->longest_ns;
	g->duration_ns = add_saturated(g->duration_ns, m->duration_ns > 0 ? m->duration_ns : 0);
	free(name.text);
	free(cause.text);
}

static int take(void *ctx, struct moment *m)
{
	struct summary *s = ctx;

	if (is_collection(m->row))
		take_collection(s, m);
	else if (is_loss(m->row))
		take_loss(s, m);
	else if (gauges_wants(m->row))
		gauges_take(&s->gauges, m);
	else
		sums_take(&s->sums, m, jvm_facts_n_cpus(s->facts));
	return 0;
}

static bool wants(void *ctx, const struct event_row *row)
{
	const struct summary *s = ctx;

	if (s->only_counts)
		return false;
	return is_collection(row) || is_loss(row) || gauges_wants(row) || sums_wants(row);
}

struct moment_sink summary_sink(struct summary *s)
{
	return (struct moment_sink){
		.ctx = s, .finds_spans = true, .wants = wants, .take = take, .end = end
	};
}
