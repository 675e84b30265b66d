// SPDX-License-Identifier: Apache-2.0
#include "bpf/waits.h"

#include <stdlib.h>

#include "core/profile.h"

/* Threads that wait at a time, a power of two: those of a process have numbers in a row, mostly, so
   they find each a place of their own. Memory that is not used is not there. */
#define N_PLACES 16384

struct waits {
	struct explained_sample places[N_PLACES]; /* by tid; id 0: none */
};

struct waits *waits_new(void)
{
	return calloc(1, sizeof(struct waits));
}

void waits_free(struct waits *ws)
{
	free(ws);
}

static struct explained_sample *place_of(struct waits *ws, uint32_t tid)
{
	return &ws->places[tid & (N_PLACES - 1)];
}

static void add(struct profile *p, const struct explained_sample *s, uint64_t weight)
{
	int64_t values[MAX_VALUES] = { 1, (int64_t)weight };

	profile_add(p, s->stack, s->labels, s->time_ns, values);
}

bool waits_add(struct waits *ws, struct profile *p, const struct explained_sample *s)
{
	struct explained_sample *place;
	bool is_free;

	if (s->weight) {
		add(p, s, s->weight);
		return true;
	}
	/* A thread waits for one thing at a time: what it waited for before is over, even if nobody
	   heard of it. */
	place = place_of(ws, s->tid);
	is_free = !place->id || place->tid == s->tid;
	*place = *s;
	return is_free;
}

void waits_end(struct waits *ws, struct profile *p, const struct wire_weight *weight)
{
	struct explained_sample *place = place_of(ws, weight->tid);

	if (!weight->sample_id || place->id != weight->sample_id)
		return;
	add(p, place, weight->weight);
	place->id = 0;
}
