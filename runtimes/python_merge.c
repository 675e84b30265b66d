// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_merge.h"

struct output {
	const struct python_merge *m;
	struct wire_frame *frames;
	size_t n, max;
	size_t next;   /* of m->python */
	size_t anchor; /* the first one from there on, as far as it was looked for */
};

static void add(struct output *o, struct wire_frame frame)
{
	if (o->n < o->max)
		o->frames[o->n++] = frame;
}

static bool is_anchor(const struct wire_python_frame *f)
{
	return f->addr & WIRE_PYTHON_ANCHOR;
}

/* The frames of one activation, and its anchor. */
static void add_activation(struct output *o)
{
	const struct python_merge *m = o->m;

	for (; o->next < m->n_python; o->next++) {
		if (is_anchor(&m->python[o->next])) {
			o->next++;
			return;
		}
		add(o, m->frame(m->ctx, &m->python[o->next]));
	}
}

static void add_rest(struct output *o)
{
	while (o->next < o->m->n_python)
		add_activation(o);
}

/* The anchor of the activation that is next; false when it has none. */
static bool next_anchor(struct output *o, uint32_t *addr)
{
	const struct python_merge *m = o->m;

	if (o->anchor < o->next)
		o->anchor = o->next;
	while (o->anchor < m->n_python && !is_anchor(&m->python[o->anchor]))
		o->anchor++;
	if (o->anchor == m->n_python)
		return false;
	*addr = (uint32_t)m->python[o->anchor].addr;
	return true;
}

/* Addresses on one stack, of which the low halves are known: the difference is what counts. */
static bool is_below(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

/* Between where frame i begins on the stack and where its caller does. */
static bool has_anchor(const struct python_merge *m, size_t i, uint32_t anchor)
{
	uint32_t start = m->native[i].extra;

	if (is_below(anchor, start) || i + 1 == m->n_native)
		return false;
	return is_below(anchor, m->native[i + 1].extra);
}

static void merge_by_anchors(struct output *o, size_t i)
{
	const struct python_merge *m = o->m;

	for (; i < m->n_native; i++) {
		bool is_eval = false;
		uint32_t anchor;

		while (next_anchor(o, &anchor) && is_below(anchor, m->native[i].extra))
			add_activation(o); /* its frame was passed over by the native walk */
		while (next_anchor(o, &anchor) && has_anchor(m, i, anchor)) {
			add_activation(o);
			is_eval = true;
		}
		if (!is_eval || m->is_eval_shown)
			add(o, m->native[i]);
	}
}

/*
 * The innermost activation may not have its frame yet, or no more. Where both walks reached the
 * root, that shows in the numbers.
 */
static void merge_by_turns(struct output *o, size_t first)
{
	const struct python_merge *m = o->m;
	size_t n_evals = 0, n_extra;

	for (size_t i = first; i < m->n_native; i++)
		n_evals += m->is_eval(m->ctx, &m->native[i]);
	n_extra = m->is_whole && n_evals > m->n_python ? n_evals - m->n_python : 0;
	for (size_t i = first; i < m->n_native; i++) {
		bool is_eval = m->is_eval(m->ctx, &m->native[i]);

		if (is_eval && (n_extra || o->next == m->n_python)) {
			n_extra -= n_extra > 0;
			is_eval = false;
		} else if (is_eval) {
			add(o, m->frame(m->ctx, &m->python[o->next++]));
		}
		if (!is_eval || m->is_eval_shown)
			add(o, m->native[i]);
	}
}

size_t python_merge(const struct python_merge *m, struct wire_frame *out, size_t max)
{
	struct output o = { .m = m, .frames = out, .max = max };
	size_t i = 0;

	for (; i < m->n_native && m->native[i].kind == WIRE_FRAME_KERNEL; i++)
		add(&o, m->native[i]);
	if (m->has_anchors)
		merge_by_anchors(&o, i);
	else
		merge_by_turns(&o, i);
	add_rest(&o);
	return o.n;
}
