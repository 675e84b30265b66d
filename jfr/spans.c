// SPDX-License-Identifier: Apache-2.0
#include "jfr/spans.h"

#include <errno.h>
#include <stdlib.h>

#include "core/array.h"

#define MAX_LOOKED_AT \
	1024 /* scopes that began before a time: a thread has some tens open at most */

void spans_deinit(struct spans *s)
{
	free(s->items);
	arena_deinit(&s->arena);
	span_names_deinit(&s->names);
	*s = (struct spans){ 0 };
}

void spans_clear(struct spans *s)
{
	arena_deinit(&s->arena);
	span_names_clear(&s->names);
	s->later = NULL;
	s->n = 0;
}

int spans_add(struct spans *s, const struct span_scope *scope)
{
	int err = ARRAY_RESERVE(s->items, s->cap, s->n);
	struct span_ids *ids = err ? NULL : arena_alloc(&s->arena, sizeof(*ids));

	if (!ids)
		return -ENOMEM;
	*ids = *scope->ids;
	s->items[s->n++] = *scope;
	s->items[s->n - 1].ids = ids;
	if (scope->id >= 0)
		s->items[s->n - 1].id = (int64_t)s->n;
	s->is_sorted = false;
	return 0;
}

/* By thread, then by start; of those with one start the outer one first. */
static int compare(const void *a, const void *b)
{
	const struct span_scope *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->end_ns > y->end_ns ? -1 : x->end_ns < y->end_ns;
}

void spans_sort(struct spans *s)
{
	if (s->is_sorted)
		return;
	s->is_sorted = true;
	if (s->n)
		qsort(s->items, s->n, sizeof(*s->items), compare);
	for (size_t i = 0; i < s->n; i++) {
		const struct span_scope *before = i ? &s->items[i - 1] : NULL;
		struct span_scope *scope = &s->items[i];

		scope->latest_ns = scope->end_ns;
		if (before && before->thread == scope->thread && before->latest_ns > scope->end_ns)
			scope->latest_ns = before->latest_ns;
	}
}

static bool has_begun(const struct span_scope *i, uint64_t thread, int64_t time_ns)
{
	return i->thread < thread || (i->thread == thread && i->start_ns <= time_ns);
}

/* How many scopes there are up to a thread's last one that had begun at a time. Times come nearly
   in order, so it is not far behind `near`, as a rule. */
static size_t n_begun(const struct spans *s, uint64_t thread, int64_t time_ns, size_t near)
{
	size_t low = 0, high = s->n;

	if (near && near <= s->n && has_begun(&s->items[near - 1], thread, time_ns)) {
		low = near;
		for (size_t step = 1; low + step < high; step *= 2) {
			if (has_begun(&s->items[low + step], thread, time_ns))
				low += step + 1;
			else
				high = low + step;
		}
	}
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (has_begun(&s->items[mid], thread, time_ns))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool spans_has(const struct spans *s, uint64_t thread)
{
	size_t n = n_begun(s, thread, INT64_MAX, 0);

	return n && s->items[n - 1].thread == thread;
}

const struct span_scope *spans_find(struct spans *s, uint64_t thread, int64_t time_ns)
{
	size_t *near = &s->begun[thread % N_SPAN_HINTS];
	size_t n_left = *near = n_begun(s, thread, time_ns, *near);

	/* Back from the last one that had begun; those that ended lie between. */
	for (size_t n = 0; n_left && n < MAX_LOOKED_AT; n++) {
		const struct span_scope *i = &s->items[--n_left];

		if (i->thread != thread || time_ns >= i->latest_ns)
			break;
		if (time_ns < i->end_ns)
			return *i->ids->span_id || i->ids->tag ? i : NULL;
	}
	return NULL;
}

const char *spans_name(const struct spans *s, const struct span_scope *scope)
{
	struct span_ids *ids = scope->ids;

	if (!ids->name && *ids->span_id)
		ids->name = span_names_find(&s->names, ids->trace_id, ids->span_id);
	if (!ids->name && *ids->span_id && s->later)
		ids->name = span_names_find(s->later, ids->trace_id, ids->span_id);
	return ids->name;
}
