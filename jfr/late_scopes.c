// SPDX-License-Identifier: Apache-2.0
#include "jfr/late_scopes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/scoped.h"
#include "jfr/chunk.h"
#include "jfr/constants.h"
#include "jfr/jvm_facts.h"
#include "jfr/metadata.h"
#include "jfr/names.h"
#include "jfr/scope_event.h"
#include "jfr/spans.h"

#define MAX_LATE (32 * 1024) /* some 8 MB */

struct late_scope {
	struct span_scope scope; /* without its thread's key, which is another in each chunk */
	int64_t thread, os_thread;
	struct late_owner owner;
	int64_t chunk_ns; /* start of the one it is written in */
};

struct late_owner late_owner(const struct jvm_facts *facts, size_t file)
{
	if (facts->pid)
		return (struct late_owner){ .pid = facts->pid, .start_ms = facts->start_ms };
	return (struct late_owner){ .pid = -1, .start_ms = (int64_t)file };
}

void late_scopes_deinit(struct late_scopes *l)
{
	free(l->items);
	arena_deinit(&l->arena);
	span_names_deinit(&l->names);
	*l = (struct late_scopes){ 0 };
}

static struct span_ids *copy_ids(struct late_scopes *l, const struct span_ids *from)
{
	struct span_ids *ids = arena_alloc(&l->arena, sizeof(*ids));

	if (!ids)
		return NULL;
	*ids = *from;
	ids->tag = from->tag ? arena_copy(&l->arena, from->tag, strlen(from->tag)) : NULL;
	return ids->tag || !from->tag ? ids : NULL;
}

static int add(struct late_scopes *l, const struct late_scope *from)
{
	struct late_scope *late;

	if (l->n >= MAX_LATE)
		return 0;
	if (ARRAY_RESERVE(l->items, l->cap, l->n))
		return -ENOMEM;
	late = &l->items[l->n];
	*late = *from;
	late->scope.id = 0; /* a tag's key is another in each chunk */
	late->scope.ids = copy_ids(l, from->scope.ids);
	if (!late->scope.ids)
		return -ENOMEM;
	l->n++;
	return 0;
}

int late_scopes_add(struct late_scopes *l, struct late_owner owner, const struct chunk *chunk,
		    const struct java_thread *thread, const struct span_scope *scope)
{
	const struct late_scope late = {
		.scope = *scope,
		.thread = thread->id,
		.os_thread = thread->os_id,
		.owner = owner,
		.chunk_ns = chunk->header.start_ns,
	};
	int err;

	pthread_mutex_lock(&l->lock);
	err = add(l, &late);
	pthread_mutex_unlock(&l->lock);
	return err;
}

int late_scopes_add_name(struct late_scopes *l, const struct moment *m)
{
	int err;

	pthread_mutex_lock(&l->lock);
	err = scope_event_read_name(m, &l->names);
	pthread_mutex_unlock(&l->lock);
	return err;
}

static bool is_current(const struct late_scope *late, struct late_owner owner,
		       const struct chunk *chunk)
{
	return late->chunk_ns > chunk->header.start_ns &&
	       late->scope.end_ns > chunk->header.start_ns && late->owner.pid == owner.pid &&
	       late->owner.start_ms == owner.start_ms;
}

static int compare(const void *a, const void *b)
{
	const struct late_scope *x = *(const struct late_scope *const *)a;
	const struct late_scope *y = *(const struct late_scope *const *)b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->os_thread < y->os_thread ? -1 : x->os_thread > y->os_thread;
}

/* Those of the thread that a constant is. */
static int lend_to(const struct late_scope *const *current, size_t n, struct chunk *chunk,
		   uint64_t type, int64_t key, struct spans *to)
{
	const struct java_thread *thread = names_thread(chunk, type, key);
	struct late_scope wanted;
	const struct late_scope *ptr = &wanted;
	size_t low = 0, high = n;
	int err = 0;

	if (!thread)
		return 0;
	wanted.thread = thread->id;
	wanted.os_thread = thread->os_id;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (compare(&current[mid], &ptr) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < n && !err && !compare(&current[low], &ptr); low++) {
		struct span_scope scope = current[low]->scope;

		scope.thread = (uint64_t)key;
		scope.is_late = true;
		err = spans_add(to, &scope);
	}
	return err;
}

int late_scopes_lend(const struct late_scopes *l, struct late_owner owner, struct chunk *chunk,
		     struct spans *to)
{
	const struct jfr_type *type = metadata_by_name(chunk->metadata, "java.lang.Thread");
	struct pool *pool = type ? constants_pool(names_constants(chunk->names), type->id) : NULL;
	SCOPED(free) const struct late_scope **current = NULL;
	size_t n = 0;
	int err = 0;

	if (!l->n || !pool)
		return 0;
	current = malloc(l->n * sizeof(*current));
	if (!current)
		return -ENOMEM;
	for (size_t i = 0; i < l->n; i++)
		if (is_current(&l->items[i], owner, chunk))
			current[n++] = &l->items[i];
	qsort(current, n, sizeof(*current), compare);
	for (size_t i = 0; n && i < pool_size(pool) && !err; i++)
		err = lend_to(current, n, chunk, type->id, pool_key(pool, i), to);
	return err;
}
