// SPDX-License-Identifier: Apache-2.0
#include "jfr/event_types.h"

#include <stdlib.h>

#include "jfr/layout.h"

struct event_types {
	struct metadata *metadata;
	const struct event_visitor *visitor;
	struct event_type *rows; /* by id; heads.rows has one more before them, which is none */
	size_t n;
	struct event_heads heads;
};

static void bind_all(struct event_types *t)
{
	const struct event_visitor *v = t->visitor;

	for (size_t i = 0; i < metadata_n_types(t->metadata); i++) {
		const struct jfr_type *type = metadata_type(t->metadata, i);
		struct event_type *row;

		if (!type->is_event)
			continue;
		row = &t->rows[t->n++];
		row->type = type;
		row->binding = v->bind ? v->bind(v->ctx, t->metadata, type) : NULL;
		row->head_len = type->id < 1 << 7 ? 2 : 3;
	}
}

struct event_types *event_types_new(struct metadata *m, const struct event_visitor *visitor)
{
	struct event_types *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->heads.rows = calloc(metadata_n_types(m) + 1, sizeof(*t->rows));
	if (!t->heads.rows) {
		free(t);
		return NULL;
	}
	t->heads.by_bytes = metadata_heads(m);
	t->heads.rows->head_len = INT8_MAX;
	t->rows = t->heads.rows + 1;
	t->metadata = metadata_ref(m);
	t->visitor = visitor;
	bind_all(t);
	return t;
}

void event_types_free(struct event_types *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++) {
		if (t->rows[i].binding && t->visitor->unbind)
			t->visitor->unbind(t->visitor->ctx, t->rows[i].binding);
		layout_free(t->rows[i].layout);
	}
	free(t->heads.rows);
	metadata_unref(t->metadata);
	free(t);
}

struct metadata *event_types_metadata(const struct event_types *t)
{
	return t->metadata;
}

const struct event_visitor *event_types_visitor(const struct event_types *t)
{
	return t->visitor;
}

struct event_type *event_types_find(const struct event_types *t, uint64_t id)
{
	size_t low = 0, high = t->n;

	if (id < N_OWN_TYPES)
		return NULL;
	if (id <= METADATA_HEAD_ID_MAX && t->heads.by_bytes[metadata_head(id)])
		return &t->heads.rows[t->heads.by_bytes[metadata_head(id)]];
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (t->rows[mid].type->id <= id)
			low = mid + 1;
		else
			high = mid;
	}
	return low && t->rows[low - 1].type->id == id ? &t->rows[low - 1] : NULL;
}

const struct event_heads *event_types_heads(const struct event_types *t)
{
	return &t->heads;
}

size_t event_types_n(const struct event_types *t)
{
	return t->n;
}

struct event_type *event_types_at(const struct event_types *t, size_t index)
{
	return index < t->n ? &t->rows[index] : NULL;
}

void event_types_reset(struct event_types *t)
{
	event_types_add_up(t);
	for (size_t i = 0; i < t->n; i++)
		t->rows[i].count = t->rows[i].bytes = 0;
}

void event_types_add_up(struct event_types *t)
{
	for (size_t i = 0; i < t->n; i++) {
		struct event_type *row = &t->rows[i];

		row->count += row->ahead_count;
		row->bytes += row->ahead_bytes;
		row->ahead_count = row->ahead_bytes = 0;
	}
}

const struct layout *event_type_layout(struct event_type *t)
{
	int err;

	if (!t->layout && !t->is_undescribed) {
		t->layout = layout_new(t->type, &err);
		t->is_undescribed = !t->layout;
	}
	return t->layout;
}
