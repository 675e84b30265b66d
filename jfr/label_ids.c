// SPDX-License-Identifier: Apache-2.0
#include "jfr/label_ids.h"

#include <string.h>

#include "core/intern.h"
#include "jfr/names.h"
#include "jfr/spans.h"

#define MAX_LABELS 16

void label_ids_init(struct label_ids *l, struct profile *p)
{
	l->p = p;
	l->thread_key = profile_string(p, "thread");
	l->tid_key = profile_string(p, "tid");
	l->java_tid_key = profile_string(p, "java_tid");
	l->state_key = profile_string(p, "state");
	l->class_key = profile_string(p, "class");
	l->mode_key = profile_string(p, "mode");
	l->operation_key = profile_string(p, "operation");
	l->root_key = profile_string(p, "local_root_span_id");
	l->trace_key = profile_string(p, "trace_id");
	l->span_key = profile_string(p, "span_id");
	l->name_key = profile_string(p, "span_name");
	l->tag_key = profile_string(p, "tag");
}

void label_ids_forget(struct label_ids *l)
{
	memset(l->made, 0, sizeof(l->made));
	memset(l->in_scope, 0, sizeof(l->in_scope));
	l->name = NULL;
}

void label_ids_set_common(struct label_ids *l, const char *key, const char *value)
{
	uint32_t id = profile_string(l->p, key);
	size_t i;

	for (i = 0; i < l->n_common && l->common[i].key != id; i++)
		;
	if (i == MAX_COMMON)
		return;
	if (i == l->n_common)
		l->n_common++;
	l->common[i] = (struct label){ .key = id, .str = profile_string(l->p, value) };
}

static void add_text(struct label_ids *l, struct label *labels, size_t *n, uint32_t key,
		     const char *text)
{
	if (*text)
		labels[(*n)++] = (struct label){ .key = key, .str = profile_string(l->p, text) };
}

/* The same of text whose id is remembered. */
static void add_id(struct label_ids *l, struct label *labels, size_t *n, uint32_t key,
		   const char *text, uint32_t *id)
{
	if (!*text)
		return;
	if (!*id)
		*id = profile_string(l->p, text);
	labels[(*n)++] = (struct label){ .key = key, .str = *id };
}

/* Of a span: many in a row have the same. */
static uint32_t name_id(struct label_ids *l, const char *name)
{
	if (name != l->name) {
		l->name = name;
		l->name_str = profile_string(l->p, name);
	}
	return l->name_str;
}

static void add_number(struct label *labels, size_t *n, uint32_t key, int64_t number)
{
	if (number)
		labels[(*n)++] = (struct label){ .key = key, .num = number };
}

static uint32_t make_labels(struct label_ids *l, struct moment *m)
{
	struct label labels[MAX_LABELS]; /* in the order of their keys */
	size_t n = 0;

	moment_name(m);
	if (m->thread) {
		add_text(l, labels, &n, l->thread_key, m->thread->name);
		add_number(labels, &n, l->tid_key, m->thread->os_id);
		add_number(labels, &n, l->java_tid_key, m->thread->id);
	}
	add_text(l, labels, &n, l->state_key, m->state);
	add_text(l, labels, &n, l->class_key, m->class);
	add_text(l, labels, &n, l->mode_key, m->mode);
	add_text(l, labels, &n, l->operation_key, m->operation);
	add_text(l, labels, &n, l->root_key, m->root_id);
	add_text(l, labels, &n, l->trace_key, m->trace_id);
	add_text(l, labels, &n, l->span_key, m->span_id);
	add_text(l, labels, &n, l->name_key, m->span_name);
	add_text(l, labels, &n, l->tag_key, m->tag);
	memcpy(labels + n, l->common, l->n_common * sizeof(*labels));
	return profile_label_set(l->p, labels, n + l->n_common);
}

static struct cached_labels *labels_place(struct label_ids *l, struct moment_refs *refs)
{
	refs->stack = 0;
	return &l->made[hash_bytes(refs, sizeof(*refs)) % N_CACHED_LABELS];
}

static bool is_place_of(const struct cached_labels *made, const struct moment_refs *refs)
{
	return made->labels && !memcmp(&made->refs, refs, sizeof(*refs));
}

bool label_ids_are_own(const struct moment *m)
{
	return !m->refs.span && (*m->trace_id || *m->span_id || *m->root_id);
}

uint32_t label_ids_of(struct label_ids *l, struct moment *m)
{
	struct moment_refs refs = m->refs;
	struct cached_labels *made = labels_place(l, &refs);

	if (label_ids_are_own(m))
		return make_labels(l, m);
	if (!is_place_of(made, &refs))
		*made = (struct cached_labels){ .refs = refs, .labels = make_labels(l, m) };
	return made->labels;
}

static uint32_t make_in_scope(struct label_ids *l, uint32_t base, struct span_ids *ids)
{
	struct label labels[MAX_LABELS];
	size_t n_known, n = 0, i;
	const struct label *known = profile_get_labels(l->p, base, &n_known);

	for (i = 0; i < n_known && known[i].key < l->trace_key; i++)
		labels[n++] = known[i];
	add_id(l, labels, &n, l->trace_key, ids->trace_id, &ids->trace);
	add_id(l, labels, &n, l->span_key, ids->span_id, &ids->span);
	if (ids->name)
		labels[n++] = (struct label){ .key = l->name_key, .str = name_id(l, ids->name) };
	add_text(l, labels, &n, l->tag_key, ids->tag ? ids->tag : "");
	while (i < n_known)
		labels[n++] = known[i++];
	return profile_label_set(l->p, labels, n);
}

uint32_t label_ids_in(struct label_ids *l, uint32_t base, const struct spans *spans,
		      const struct span_scope *scope)
{
	struct cached_in_scope *made = &l->in_scope[((uint64_t)scope->id + base) % N_CACHED_LABELS];

	if (made->scope != scope->id || made->base != base) {
		spans_name(spans, scope);
		*made = (struct cached_in_scope){ scope->id, base,
						  make_in_scope(l, base, scope->ids) };
	}
	return made->labels;
}
