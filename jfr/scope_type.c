// SPDX-License-Identifier: Apache-2.0
#include "jfr/scope_type.h"

#include <stddef.h>
#include <string.h>

#include "jfr/chunk.h"
#include "jfr/constants.h"
#include "jfr/metadata.h"
#include "jfr/names.h"

#define SPAN_OF_ASYNC_PROFILER "profiler.Span" /* it has a tag and no ids */

static const char *const scope_types[] = {
	"io.opentelemetry.context.Scope",
	"datadog.Timeline", /* where its agent samples with the JVM's own profiler */
	"datadog.Scope",    /* older ones */
	SPAN_OF_ASYNC_PROFILER,
};

#define N_SCOPE_TYPES (sizeof(scope_types) / sizeof(*scope_types))

bool scope_type_is(const char *type)
{
	for (size_t i = 0; i < N_SCOPE_TYPES; i++)
		if (!strcmp(type, scope_types[i]))
			return true;
	return false;
}

/* async-profiler describes its spans always; few programs have any, which then are called
   something. */
static bool has_strings(const struct chunk *c)
{
	const struct jfr_type *strings = metadata_by_name(c->metadata, "java.lang.String");
	struct pool *pool = strings ? constants_pool(names_constants(c->names), strings->id) : NULL;

	return pool && pool_size(pool) > (pool_find(pool, 0) != NULL);
}

bool scope_types_in(const struct chunk *c)
{
	for (size_t i = 0; i < N_SCOPE_TYPES; i++)
		if (metadata_by_name(c->metadata, scope_types[i]) &&
		    (strcmp(scope_types[i], SPAN_OF_ASYNC_PROFILER) || has_strings(c)))
			return true;
	return false;
}
