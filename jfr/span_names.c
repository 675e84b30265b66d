// SPDX-License-Identifier: Apache-2.0
#include "jfr/span_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/intern.h"

#define MAX_SPANS (256 * 1024)	/* 6 MB */
#define MAX_TEXTS_LEN (4 << 20) /* of names that have ids in them, and so never come again */

void span_names_deinit(struct span_names *s)
{
	span_names_clear(s);
	free(s->items);
	*s = (struct span_names){ 0 };
}

void span_names_clear(struct span_names *s)
{
	intern_free(s->texts);
	s->texts = NULL;
	s->n = 0;
	s->is_sorted = true;
}

static struct named_span key_of(const char *trace_id, const char *span_id)
{
	return (struct named_span){ .ids = { hash_bytes(span_id, strlen(span_id)),
					     hash_bytes(trace_id, strlen(trace_id)) } };
}

static bool is_full(const struct span_names *s)
{
	return s->n >= MAX_SPANS || intern_memory(s->texts) >= MAX_TEXTS_LEN;
}

int span_names_add(struct span_names *s, const char *trace_id, const char *span_id,
		   const char *name)
{
	struct named_span span = key_of(trace_id, span_id);

	if (!s->texts)
		s->texts = intern_new();
	if (!s->texts)
		return -ENOMEM;
	if (is_full(s))
		return 0;
	span.name = intern_get(s->texts, intern_add(s->texts, name, strlen(name)), NULL);
	if (!span.name || ARRAY_RESERVE(s->items, s->cap, s->n))
		return -ENOMEM;
	s->items[s->n++] = span;
	s->is_sorted = false;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct named_span *x = a, *y = b;

	for (int i = 0; i < 2; i++)
		if (x->ids[i] != y->ids[i])
			return x->ids[i] < y->ids[i] ? -1 : 1;
	return 0;
}

void span_names_sort(struct span_names *s)
{
	if (!s->is_sorted && s->n)
		qsort(s->items, s->n, sizeof(*s->items), compare);
	s->is_sorted = true;
}

const char *span_names_find(const struct span_names *s, const char *trace_id, const char *span_id)
{
	struct named_span key, *found;

	if (!s->n)
		return NULL;
	key = key_of(trace_id, span_id);
	found = bsearch(&key, s->items, s->n, sizeof(key), compare);
	return found ? found->name : NULL;
}
