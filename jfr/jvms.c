// SPDX-License-Identifier: Apache-2.0
#include "jfr/jvms.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/clock.h"
#include "jfr/chunk.h"
#include "jfr/metadata.h"
#include "jfr/names.h"

#define MAX_JVMS 64
/* Since the last one came to wait, or one was read: then one before it may have gone, for which all
   would wait. */
#define AWAITED_NS (2 * NS_PER_S)
/* Bytes, of JVMs that nobody reads; those of the last one stay anyway. */
#define MAX_IDLE_NAMES (8 << 20)

static void jvm_free(struct jvm *jvm)
{
	names_free(jvm->older[0]);
	names_free(jvm->older[1]);
	metadata_unref(jvm->metadata);
	interpreter_deinit(&jvm->interpreter);
	free(jvm->place);
	free(jvm);
}

void jvms_deinit(struct jvms *jvms)
{
	for (size_t i = 0; i < jvms->n; i++)
		jvm_free(jvms->items[i]);
	metadata_unref(jvms->common);
	free(jvms->items);
	*jvms = (struct jvms){ 0 };
}

static bool is_same(const struct chunk_header *a, const struct chunk_header *b)
{
	return a->start_ns == b->start_ns && a->start_ticks == b->start_ticks;
}

static struct jvm *find(const struct jvms *jvms, const char *place, const struct chunk_header *h)
{
	for (size_t i = 0; i < jvms->n; i++) {
		struct jvm *jvm = jvms->items[i];

		if (!jvm->n_users && !strcmp(jvm->place, place) &&
		    (chunk_header_follows(&jvm->last, h) || is_same(&jvm->last, h)))
			return jvm;
	}
	return NULL;
}

static struct jvm *add(struct jvms *jvms, const char *place)
{
	struct jvm *jvm;

	if (ARRAY_RESERVE(jvms->items, jvms->cap, jvms->n))
		return NULL;
	jvm = (struct jvm *)calloc(1, sizeof(*jvm));
	if (!jvm)
		return NULL;
	jvm->place = strdup(place);
	if (!jvm->place) {
		free(jvm);
		return NULL;
	}
	jvms->items[jvms->n++] = jvm;
	return jvm;
}

/* Those that wait may go on waiting. */
static void renew(struct jvm *jvm)
{
	if (jvm->awaited_ns)
		jvm->awaited_ns = clock_ns(CLOCK_MONOTONIC);
}

struct jvm *jvms_get(struct jvms *jvms, const char *place, const struct chunk_header *h)
{
	struct jvm *jvm = find(jvms, place, h);

	if (!jvm)
		jvm = add(jvms, place);
	if (!jvm)
		return NULL;
	renew(jvm);
	jvm->n_users++;
	jvm->used = ++jvms->n_given;
	return jvm;
}

/* Is it the chunk behind the one that is read, behind those that wait, or one of these? */
static bool is_behind(const struct jvm *jvm, const struct chunk_header *h, bool is_awaiting)
{
	if (jvm->n_users && chunk_header_follows(&jvm->reading, h))
		return true;
	return is_awaiting && h->ticks_per_s == jvm->reading.ticks_per_s &&
	       h->start_ns > jvm->reading.start_ns &&
	       (h->start_ns <= jvm->awaited.start_ns || chunk_header_follows(&jvm->awaited, h));
}

/* A chunk that is finished is read to its end some time. Of one that grows nobody knows that: what
   seems to be behind it may be another JVM's. */
static bool is_awaiting_any(const struct jvm *jvm, uint64_t now)
{
	return jvm->awaited_ns && ((jvm->n_users && jvm->reading.state == CHUNK_COMPLETE) ||
				   now - jvm->awaited_ns < AWAITED_NS);
}

bool jvms_should_wait(struct jvms *jvms, const char *place, const struct chunk_header *h)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (find(jvms, place, h))
		return false;
	for (size_t i = 0; i < jvms->n; i++) {
		struct jvm *jvm = jvms->items[i];
		bool is_awaiting = is_awaiting_any(jvm, now);

		if (strcmp(jvm->place, place) || !is_behind(jvm, h, is_awaiting))
			continue;
		if (is_awaiting && h->start_ns <= jvm->awaited.start_ns)
			return true;
		jvm->awaited = *h;
		jvm->awaited_ns = now;
		return true;
	}
	return false;
}

static size_t names_of(const struct jvm *jvm)
{
	return (jvm->older[0] ? names_memory(jvm->older[0]) : 0) +
	       (jvm->older[1] ? names_memory(jvm->older[1]) : 0);
}

static void drop_names(struct jvm *jvm)
{
	names_free(jvm->older[0]);
	names_free(jvm->older[1]);
	jvm->older[0] = jvm->older[1] = NULL;
}

/* Most of those that nobody reads have ended: what their next chunk would refer to is kept of few.
 */
static void trim_names(struct jvms *jvms, const struct jvm *last)
{
	for (;;) {
		struct jvm *oldest = NULL;
		size_t sum = 0;

		for (size_t i = 0; i < jvms->n; i++) {
			struct jvm *jvm = jvms->items[i];

			if (jvm->n_users || !names_of(jvm))
				continue;
			sum += names_of(jvm);
			if (jvm != last && (!oldest || jvm->used < oldest->used))
				oldest = jvm;
		}
		if (sum <= MAX_IDLE_NAMES || !oldest)
			return;
		drop_names(oldest);
	}
}

void jvms_put(struct jvms *jvms, struct jvm *jvm)
{
	size_t max = jvms->max ? jvms->max : MAX_JVMS, n_kept = 0, oldest = 0;

	jvm->n_users--;
	trim_names(jvms, jvm);
	for (size_t i = 0; i < jvms->n; i++) {
		if (jvms->items[i]->n_users)
			continue;
		if (!n_kept++ || jvms->items[i]->used < jvms->items[oldest]->used)
			oldest = i;
	}
	if (n_kept <= max)
		return;
	jvm_free(jvms->items[oldest]);
	jvms->items[oldest] = jvms->items[--jvms->n];
}

void jvm_keep(struct jvm *jvm, struct chunk *c)
{
	if (c->is_of_another_jvm)
		drop_names(jvm);
	names_free(jvm->older[1]);
	jvm->older[1] = jvm->older[0];
	jvm->older[0] = c->names;
	names_rest(c->names);
	c->names = NULL;
	metadata_unref(jvm->metadata);
	jvm->metadata = c->metadata ? metadata_ref(c->metadata) : NULL;
	jvm->last = c->header;
	renew(jvm);
}
