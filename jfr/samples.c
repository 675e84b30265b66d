// SPDX-License-Identifier: Apache-2.0
#include "jfr/samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/intern.h"
#include "core/profile.h"
#include "core/profile_merge.h"
#include "jfr/chunk.h"
#include "jfr/names.h"
#include "jfr/sample_rows.h"
#include "jfr/spans.h"
#include "jfr/stack_ids.h"

#define N_CACHED_LABELS 256
#define MAX_ROWS (64 * 1024) /* 5 MB; then they are made anew */
#define OPEN_BLOCK 2048
#define N_OPEN_BLOCKS 64 /* 5 MB; then the spans are those that are known by now */
#define MAX_LABELS 16
#define MAX_COMMON 4

/* Labels that many samples have in common are put together once. */
struct cached_labels {
	struct moment_refs refs; /* without the stack */
	uint32_t labels;	 /* 0: free */
};

#define MAX_USED 3 /* values of one event: itself, a number and a size */

/* What an event is worth, of which it is not known yet in which span it was. */
struct open_sample {
	uint32_t row;
	uint32_t used; /* columns, a bit each: values has only these */
	int64_t time_ns;
	int64_t values[MAX_USED];
};

struct samples {
	struct profile *p;
	uint32_t used; /* columns that something came for */
	struct sample_rows rows;
	struct open_sample *open[N_OPEN_BLOCKS]; /* of OPEN_BLOCK each; kept from chunk to chunk */
	size_t n_open;
	struct spans *spans; /* that say in which span these are; borrowed */
	struct cached_labels labels_made[N_CACHED_LABELS];
	struct label common[MAX_COMMON];
	size_t n_common;
	struct stack_ids stacks;
	uint64_t counts[N_SAMPLE_COUNTS];
	uint32_t thread_key, tid_key, java_tid_key, state_key, class_key, mode_key;
	uint32_t trace_key, span_key, tag_key, root_key, operation_key;
};

static void set_types(struct profile *p)
{
	struct profile_header *h = profile_header(p);

	for (unsigned int i = 0; i < N_COLUMNS; i++) {
		const char *type, *unit;

		event_column_type((enum event_column)i, &type, &unit);
		h->sample_types[i] =
			(struct value_type){ profile_string(p, type), profile_string(p, unit) };
	}
	h->n_sample_types = N_COLUMNS;
}

struct samples *samples_new(struct profile *p)
{
	struct samples *s = calloc(1, sizeof(*s));

	_Static_assert(N_COLUMNS <= MAX_VALUES, "a profile has a sample type for each column");
	if (!s)
		return NULL;
	s->p = s->stacks.p = p;
	set_types(p);
	s->thread_key = profile_string(p, "thread");
	s->tid_key = profile_string(p, "tid");
	s->java_tid_key = profile_string(p, "java_tid");
	s->state_key = profile_string(p, "state");
	s->class_key = profile_string(p, "class");
	s->mode_key = profile_string(p, "mode");
	s->operation_key = profile_string(p, "operation");
	s->root_key = profile_string(p, "local_root_span_id");
	s->trace_key = profile_string(p, "trace_id");
	s->span_key = profile_string(p, "span_id");
	s->tag_key = profile_string(p, "tag");
	return s;
}

void samples_free(struct samples *s)
{
	if (!s)
		return;
	sample_rows_deinit(&s->rows);
	for (size_t i = 0; i < N_OPEN_BLOCKS; i++)
		free(s->open[i]);
	stack_ids_deinit(&s->stacks);
	free(s);
}

/* What is remembered of a chunk. */
static void forget(struct samples *s)
{
	sample_rows_clear(&s->rows);
	memset(s->labels_made, 0, sizeof(s->labels_made));
	s->n_open = 0;
	s->spans = NULL;
}

void samples_keep_hidden(struct samples *s)
{
	s->stacks.keeps_hidden = true;
}

static void add_text(struct samples *s, struct label *labels, size_t *n, uint32_t key,
		     const char *text)
{
	if (*text)
		labels[(*n)++] = (struct label){ .key = key, .str = profile_string(s->p, text) };
}

static void add_number(struct label *labels, size_t *n, uint32_t key, int64_t number)
{
	if (number)
		labels[(*n)++] = (struct label){ .key = key, .num = number };
}

static uint32_t make_labels(struct samples *s, struct moment *m)
{
	struct label labels[MAX_LABELS]; /* in the order of their keys */
	size_t n = 0;

	moment_name(m);
	if (m->thread) {
		add_text(s, labels, &n, s->thread_key, m->thread->name);
		add_number(labels, &n, s->tid_key, m->thread->os_id);
		add_number(labels, &n, s->java_tid_key, m->thread->id);
	}
	add_text(s, labels, &n, s->state_key, m->state);
	add_text(s, labels, &n, s->class_key, m->class);
	add_text(s, labels, &n, s->mode_key, m->mode);
	add_text(s, labels, &n, s->operation_key, m->operation);
	add_text(s, labels, &n, s->root_key, m->root_id);
	add_text(s, labels, &n, s->trace_key, m->trace_id);
	add_text(s, labels, &n, s->span_key, m->span_id);
	add_text(s, labels, &n, s->tag_key, m->tag);
	memcpy(labels + n, s->common, s->n_common * sizeof(*labels));
	return profile_label_set(s->p, labels, n + s->n_common);
}

static struct cached_labels *labels_place(struct samples *s, struct moment_refs *refs)
{
	refs->stack = 0;
	return &s->labels_made[hash_bytes(refs, sizeof(*refs)) % N_CACHED_LABELS];
}

static bool is_place_of(const struct cached_labels *made, const struct moment_refs *refs)
{
	return made->labels && !memcmp(&made->refs, refs, sizeof(*refs));
}

/* Ids in the event itself are told apart by nothing it refers to. */
static bool has_own_ids(const struct moment *m)
{
	return !m->refs.span && (*m->trace_id || *m->span_id || *m->root_id);
}

static uint32_t labels_of(struct samples *s, struct moment *m)
{
	struct moment_refs refs = m->refs;
	struct cached_labels *made = labels_place(s, &refs);

	if (has_own_ids(m))
		return make_labels(s, m);
	if (!is_place_of(made, &refs))
		*made = (struct cached_labels){ .refs = refs, .labels = make_labels(s, m) };
	return made->labels;
}

static uint32_t stack_of_moment(struct samples *s, const struct moment *m)
{
	if (m->stack)
		return stack_ids_of(&s->stacks, m->stack);
	return stack_ids_of_mark(&s->stacks, m->mark		   ? m->mark
					     : m->is_stack_missing ? "[unresolved stack]"
								   : "[no stack]");
}

/* How its stack ended; moment_stack() was there before. */
static enum sample_count end_of(const struct moment *m)
{
	if (m->stack && m->stack->is_partial)
		return STACKS_UNRESOLVED;
	if (m->stack)
		return m->stack->is_truncated ? STACKS_TRUNCATED : STACKS_COMPLETE;
	if (m->mark)
		return STACKS_FAILED;
	return m->is_stack_missing ? STACKS_UNRESOLVED : STACKS_NONE;
}

static void count(struct samples *s, const struct moment *m, enum sample_count end)
{
	if (m->row->rule == RULE_CPU_LOST) {
		s->counts[SAMPLES_LOST] += (uint64_t)m->values[COLUMN_SAMPLES];
		return;
	}
	s->counts[SAMPLES_TAKEN]++;
	s->counts[end]++;
}

static struct sample_row make_row(struct samples *s, struct moment *m)
{
	struct sample_row row = { .refs = m->refs };

	moment_stack(m);
	row.stack = stack_of_moment(s, m);
	row.labels = labels_of(s, m);
	row.end = (uint16_t)end_of(m);
	row.is_alone = m->mark || has_own_ids(m) || (m->stack && m->stack->is_partial);
	return row;
}

static void add_values(struct samples *s, struct sample_row *row, int64_t time_ns,
		       const int64_t *values, uint32_t used)
{
	static const int64_t nothing[N_COLUMNS];

	if (!row->sample)
		row->sample = profile_add(s->p, row->stack, row->labels,
					  time_ns > 0 ? (uint64_t)time_ns : 0, nothing);
	if (row->sample)
		profile_add_more(s->p, row->sample, values, used);
}

/* The labels of a row, and those of the scope that refs are in. */
static uint32_t labels_in(struct samples *s, uint32_t base, struct moment_refs refs,
			  const struct span_scope *scope)
{
	struct cached_labels *made = labels_place(s, &refs);
	struct label labels[MAX_LABELS];
	const struct label *known;
	size_t n_known, n = 0, i;

	if (is_place_of(made, &refs))
		return made->labels;
	known = profile_get_labels(s->p, base, &n_known);
	for (i = 0; i < n_known && known[i].key < s->trace_key; i++)
		labels[n++] = known[i];
	add_text(s, labels, &n, s->trace_key, scope->trace_id);
	add_text(s, labels, &n, s->span_key, scope->span_id);
	add_text(s, labels, &n, s->tag_key, scope->tag ? scope->tag : "");
	while (i < n_known)
		labels[n++] = known[i++];
	*made = (struct cached_labels){ .refs = refs,
					.labels = profile_label_set(s->p, labels, n) };
	return made->labels;
}

/* The row of a sample that turned out to be in a scope; its own, as long as nobody else is. */
static struct sample_row *row_in(struct samples *s, struct sample_row *own,
				 const struct span_scope *scope)
{
	struct sample_row *row = NULL;

	own->refs.span = scope->id;
	if (!own->is_alone)
		row = sample_rows_find(&s->rows, &own->refs);
	if (row)
		return row;
	own->sample = 0;
	own->labels = labels_in(s, own->labels, own->refs, scope);
	row = own->is_alone ? NULL : sample_rows_add(&s->rows, own);
	return row ? row : own;
}

static const struct span_scope *scope_of(struct samples *s, const struct open_sample *o)
{
	struct sample_row *row = &s->rows.items[o->row];
	uint64_t thread = (uint64_t)row->refs.thread;

	if (row->scoped == SCOPED_UNKNOWN)
		row->scoped = spans_has(s->spans, thread) ? SCOPED_SOMETIMES : SCOPED_NEVER;
	return row->scoped == SCOPED_NEVER ? NULL : spans_find(s->spans, thread, o->time_ns);
}

static void settle_one(struct samples *s, const struct open_sample *o)
{
	const struct span_scope *scope = scope_of(s, o);
	struct sample_row *row = &s->rows.items[o->row], own;
	int64_t values[N_COLUMNS];
	unsigned int n = 0;

	for (uint32_t used = o->used; used; used &= used - 1)
		values[__builtin_ctz(used)] = o->values[n++];
	if (scope) {
		own = *row;
		row = row_in(s, &own, scope);
	}
	add_values(s, row, o->time_ns, values, o->used);
}

/* Adds the samples of which it was open in which span they were. */
static void settle(struct samples *s)
{
	if (s->n_open)
		spans_sort(s->spans);
	for (size_t i = 0; i < s->n_open; i++)
		settle_one(s, &s->open[i / OPEN_BLOCK][i % OPEN_BLOCK]);
	s->n_open = 0;
}

void samples_set_label(struct samples *s, const char *key, const char *value)
{
	uint32_t id = profile_string(s->p, key);
	size_t i;

	settle(s);
	forget(s);
	for (i = 0; i < s->n_common && s->common[i].key != id; i++)
		;
	if (i == MAX_COMMON)
		return;
	if (i == s->n_common)
		s->n_common++;
	s->common[i] = (struct label){ .key = id, .str = profile_string(s->p, value) };
}

static int keep_open(struct samples *s, const struct sample_row *row, const struct moment *m)
{
	struct open_sample **block = &s->open[s->n_open / OPEN_BLOCK], *o;
	unsigned int n = 0;

	if (!*block)
		*block = malloc(OPEN_BLOCK * sizeof(**block));
	if (!*block)
		return -ENOMEM;
	o = &(*block)[s->n_open++ % OPEN_BLOCK];
	o->row = (uint32_t)(row - s->rows.items);
	o->used = m->used;
	o->time_ns = m->time_ns;
	for (uint32_t used = m->used; used; used &= used - 1)
		o->values[n++] = m->values[__builtin_ctz(used)];
	s->spans = m->spans;
	return 0;
}

/* NULL: no memory. */
static struct sample_row *row_of(struct samples *s, struct moment *m, struct sample_row *own)
{
	struct sample_row *row = NULL;

	if (s->rows.n >= MAX_ROWS || s->n_open >= OPEN_BLOCK * N_OPEN_BLOCKS) {
		settle(s);
		sample_rows_clear(&s->rows);
	}
	if (!m->mark && !has_own_ids(m))
		row = sample_rows_find(&s->rows, &m->refs);
	if (row)
		return row;
	*own = make_row(s, m);
	return own->is_alone && !m->spans ? own : sample_rows_add(&s->rows, own);
}

static int take(void *ctx, struct moment *m)
{
	struct sample_row own, *row;
	struct samples *s = ctx;
	int err = 0;

	if (!m->is_sample)
		return 0;
	row = row_of(s, m, &own);
	if (!row)
		return -ENOMEM;
	s->used |= m->used;
	count(s, m, (enum sample_count)row->end);
	if (m->spans)
		err = keep_open(s, row, m);
	else
		add_values(s, row, m->time_ns, m->values, m->used);
	return err ? err : profile_error(s->p);
}

static void begin(void *ctx, struct chunk *chunk)
{
	(void)chunk;
	forget(ctx);
}

static void end(void *ctx, struct chunk *chunk, struct event_types *types)
{
	(void)chunk, (void)types;
	settle(ctx);
}

static bool wants(void *ctx, const struct event_row *row)
{
	(void)ctx;
	return row->rule != RULE_NONE;
}

struct moment_sink samples_sink(struct samples *s)
{
	return (struct moment_sink){
		.ctx = s,
		.finds_spans = true,
		.wants = wants,
		.take = take,
		.begin = begin,
		.end = end,
	};
}

int samples_merge(struct samples *into, const struct samples *from)
{
	into->used |= from->used;
	for (size_t i = 0; i < N_SAMPLE_COUNTS; i++)
		into->counts[i] += from->counts[i];
	return profile_merge(into->p, from->p);
}

/* What the profile is about: CPU time when there is any, else the first there is. */
static uint32_t main_column(uint32_t used)
{
	for (uint32_t i = COLUMN_CPU; i < N_COLUMNS; i++)
		if (used & 1u << i)
			return i;
	return COLUMN_SAMPLES;
}

void samples_finish(struct samples *s, int64_t start_ns, int64_t end_ns)
{
	static const char *const names[N_SAMPLE_COUNTS] = {
#define X(id, name, meaning) [id] = name,
		SAMPLE_COUNTS(X)
#undef X
	};
	struct profile_header *h = profile_header(s->p);
	uint32_t main = main_column(s->used);

	/* CPUTimeSample was on, but nothing came of it: what is left is cpu all the same. */
	if (!(s->used & 1u << COLUMN_CPU) && (s->used & 1u << COLUMN_CPU_EXEC))
		h->sample_types[COLUMN_CPU_EXEC] = h->sample_types[COLUMN_CPU];
	h->default_sample_type = h->sample_types[main].type;
	h->period_type = h->sample_types[main];
	h->time_ns = start_ns;
	h->duration_ns = end_ns > start_ns ? end_ns - start_ns : 0;
	for (size_t i = 0; i < N_SAMPLE_COUNTS; i++)
		if (s->counts[i])
			profile_count(s->p, names[i], s->counts[i]);
	profile_keep_types(s->p, s->used | 1u << COLUMN_SAMPLES);
}
