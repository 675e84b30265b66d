// SPDX-License-Identifier: Apache-2.0
#include "jfr/scope_event.h"

#include <stdlib.h>
#include <string.h>

#include "core/saturated.h"
#include "jfr/chunk.h"
#include "jfr/constants.h"
#include "jfr/metadata.h"
#include "jfr/moment.h"
#include "jfr/moment_field.h"
#include "jfr/names.h"
#include "jfr/span_names.h"
#include "jfr/spans.h"

#define MAX_KEPT_ROOM (64 << 10) /* for the next name: few are longer than a line */

#define SPAN_OF_ASYNC_PROFILER "profiler.Span" /* it has a tag and no ids */

#define SCOPE_OF_OPENTELEMETRY "io.opentelemetry.context.Scope" /* its ids are 0 in no span */

static const char *const scope_types[] = {
	SCOPE_OF_OPENTELEMETRY,
	"datadog.Timeline", /* where its agent samples with the JVM's own profiler */
	"datadog.Scope",    /* older ones */
	SPAN_OF_ASYNC_PROFILER,
};

#define N_SCOPE_TYPES (sizeof(scope_types) / sizeof(*scope_types))

bool scope_event_is(const char *type)
{
	for (size_t i = 0; i < N_SCOPE_TYPES; i++)
		if (!strcmp(type, scope_types[i]))
			return true;
	return false;
}

bool scope_event_names(const char *type)
{
	return !strcmp(type, "io.opentelemetry.trace.Span");
}

/* async-profiler describes its spans always; few programs have any, which then are called
   something. */
static bool has_strings(const struct metadata *m, struct constants *c)
{
	const struct jfr_type *strings = metadata_by_name(m, "java.lang.String");
	struct pool *pool = strings && c ? constants_pool(c, strings->id) : NULL;

	return pool && pool_size(pool) > (pool_find(pool, 0) != NULL);
}

bool scope_events_in(const struct metadata *m, struct constants *c)
{
	for (size_t i = 0; i < N_SCOPE_TYPES; i++)
		if (metadata_by_name(m, scope_types[i]) &&
		    (strcmp(scope_types[i], SPAN_OF_ASYNC_PROFILER) || has_strings(m, c)))
			return true;
	return false;
}

/* However its strings are written, names in ASCII are these bytes. */
bool scope_events_in_bytes(const void *bytes, size_t len)
{
	for (size_t i = 0; i < N_SCOPE_TYPES; i++)
		if (memmem(bytes, len, scope_types[i], strlen(scope_types[i])))
			return true;
	return false;
}

/* The tag of a span that has no ids. Spans of one tag are one: no sample is told apart by them. */
static void read_tag(const struct moment *m, struct span_scope *scope)
{
	int64_t key = moment_key(m, "tag");
	struct text_room room = { 0 };
	const char *tag = moment_text(m, "tag", &room);

	if (room.text) /* it is in the event itself */
		tag = names_keep(m->chunk->names, tag, strlen(tag));
	scope->ids->tag = tag && *tag ? tag : NULL;
	scope->id = key > 0 ? -key : 0;
	free(room.text);
}

bool scope_event_read(const struct moment *m, struct span_scope *scope, struct span_ids *ids)
{
	*ids = (struct span_ids){ .tag = NULL };
	*scope = (struct span_scope){ .start_ns = m->time_ns, .ids = ids };
	if (!m->refs.thread || m->duration_ns < 0)
		return false;
	if (!*m->span_id)
		read_tag(m, scope);
	if (!*m->span_id && !ids->tag && strcmp(m->type->name, SCOPE_OF_OPENTELEMETRY))
		return false;
	scope->thread = (uint64_t)m->refs.thread;
	scope->end_ns = add_saturated(m->time_ns, m->duration_ns);
	memcpy(ids->trace_id, m->trace_id, sizeof(ids->trace_id));
	memcpy(ids->span_id, m->span_id, sizeof(ids->span_id));
	return true;
}

int scope_event_read_name(const struct moment *m, struct span_names *names)
{
	const char *name = moment_operation_name(m, &names->room);
	int err = *m->span_id && *name ? span_names_add(names, m->trace_id, m->span_id, name) : 0;

	if (names->room.cap > MAX_KEPT_ROOM) {
		free(names->room.text);
		names->room = (struct text_room){ 0 };
	}
	return err;
}
