// SPDX-License-Identifier: Apache-2.0
#include "jfr/samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/profile.h"
#include "core/profile_merge.h"
#include "jfr/chunk.h"
#include "jfr/label_ids.h"
#include "jfr/memo.h"
#include "jfr/moment_look.h"
#include "jfr/names.h"
#include "jfr/sample_rows.h"
#include "jfr/spans.h"
#include "jfr/stack_ids.h"

#define MAX_ROWS (64 * 1024) /* 7 MB; then they are made anew */
#define OPEN_BLOCK 2048
#define N_OPEN_BLOCKS 64 /* 5 MB; then the spans are those that are known by now */
#define MAX_OPEN (OPEN_BLOCK * N_OPEN_BLOCKS)

/* An event of which it is not known yet in which span it was. */
struct open_sample {
	int64_t start; /* moment_start() */
	uint32_t row;
	struct worth worth;
};

/* What came of events that look the same, in one word. */
union known_sample {
	struct {
		uint32_t row;	 /* of the sample rows */
		uint16_t end;	 /* of the stack: enum sample_count */
		uint8_t is_open; /* its span says which sample it is */
	};
	uint64_t word;
};

struct samples {
	struct profile *p;
	uint32_t used; /* columns that something came for */
	struct sample_rows rows;
	struct memo known;	 /* of these rows: union known_sample */
	struct moment_look look; /* of an event that was not known; of nothing: there is none */
	struct open_sample *open[N_OPEN_BLOCKS]; /* of OPEN_BLOCK each; kept from chunk to chunk */
	size_t n_open;
	struct spans *spans;	   /* that say in which span these are; borrowed */
	const struct chunk *chunk; /* they are of; borrowed */
	struct label_ids labels;
	struct stack_ids stacks;
	uint64_t counts[N_SAMPLE_COUNTS];
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
	label_ids_init(&s->labels, p);
	return s;
}

void samples_free(struct samples *s)
{
	if (!s)
		return;
	sample_rows_deinit(&s->rows);
	memo_deinit(&s->known);
	for (size_t i = 0; i < N_OPEN_BLOCKS; i++)
		free(s->open[i]);
	stack_ids_deinit(&s->stacks);
	free(s);
}

/* Adds to the profile what was added up of a row. */
static void add_sum(struct samples *s, size_t row)
{
	struct worth *sum = &s->rows.sums[row];
	int64_t values[N_COLUMNS];

	worth_spread(sum, values);
	if (sum->used)
		profile_add_more(s->p, s->rows.items[row].sample, values, sum->used);
	sum->used = 0;
}

static void add_sums(struct samples *s)
{
	for (size_t i = 0; i < s->rows.n; i++)
		add_sum(s, i);
}

/* To a row that has its sample. They are added up here first: the rows of a chunk lie closer
   together than the samples of a profile. */
static inline void add_worth(struct samples *s, uint32_t row, const struct worth *w)
{
	struct worth *sum = &s->rows.sums[row];

	if (sum->used == w->used) {
		worth_add(sum, w);
		return;
	}
	if (sum->used)
		add_sum(s, row);
	*sum = *w;
}

static void forget_rows(struct samples *s)
{
	add_sums(s);
	sample_rows_clear(&s->rows);
	memo_clear(&s->known);
}

/* What is remembered of a chunk. */
static void forget(struct samples *s)
{
	forget_rows(s);
	label_ids_forget(&s->labels);
	s->n_open = 0;
	s->spans = NULL;
	s->chunk = NULL;
}

void samples_keep_hidden(struct samples *s)
{
	s->stacks.keeps_hidden = true;
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
		s->counts[SAMPLES_LOST] += (uint64_t)worth_value(&m->worth, COLUMN_SAMPLES);
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
	row.labels = label_ids_of(&s->labels, m);
	row.state = moment_state(m);
	row.end = (uint16_t)end_of(m);
	row.is_alone = m->mark || label_ids_are_own(m) || (m->stack && m->stack->is_partial);
	return row;
}

/* The sample of a profile; 0: no memory. */
static uint32_t sample_of(struct samples *s, uint32_t stack, uint32_t labels, int64_t time_ns)
{
	return profile_add_none(s->p, stack, labels, time_ns > 0 ? (uint64_t)time_ns : 0);
}

static void add_values(struct samples *s, uint32_t sample, const struct worth *w)
{
	int64_t values[N_COLUMNS];

	worth_spread(w, values);
	if (sample)
		profile_add_more(s->p, sample, values, w->used);
}

static void add_to_row(struct samples *s, struct sample_row *row, int64_t time_ns,
		       const struct worth *w)
{
	if (!row->sample)
		row->sample = sample_of(s, row->stack, row->labels, time_ns);
	add_values(s, row->sample, w);
}

static const struct span_scope *scope_of(struct samples *s, struct sample_row *row, int64_t time_ns)
{
	uint64_t thread = (uint64_t)row->refs.thread;

	if (row->scoped == SCOPED_UNKNOWN)
		row->scoped = spans_has(s->spans, thread) ? SCOPED_SOMETIMES : SCOPED_NEVER;
	return row->scoped == SCOPED_NEVER ? NULL : spans_find(s->spans, thread, time_ns);
}

static void settle_one(struct samples *s, const struct open_sample *o)
{
	struct sample_row *row = &s->rows.items[o->row];
	int64_t time_ns = moment_start_ns(&row->refs, s->chunk, o->start);
	const struct span_scope *scope = scope_of(s, row, time_ns);
	uint32_t labels;

	if (!scope) {
		add_to_row(s, row, time_ns, &o->worth);
		return;
	}
	labels = label_ids_in(&s->labels, row->labels, s->spans, scope);
	add_values(s, sample_of(s, row->stack, labels, time_ns), &o->worth);
}

/* Adds the samples of which it was open in which span they were. */
static void settle(struct samples *s)
{
	if (s->n_open)
		spans_sort(s->spans);
	for (size_t i = 0; i < s->n_open; i++) {
		const struct open_sample *o = &s->open[i / OPEN_BLOCK][i % OPEN_BLOCK];
		const struct sample_row *row = &s->rows.items[o->row];

		if (row->scoped == SCOPED_NEVER && row->sample)
			add_worth(s, o->row, &o->worth);
		else
			settle_one(s, o);
	}
	s->n_open = 0;
}

void samples_set_label(struct samples *s, const char *key, const char *value)
{
	settle(s);
	forget(s);
	label_ids_set_common(&s->labels, key, value);
}

/* Where the next one goes, to be filled in there: what is put together elsewhere and copied in
   wider words has to wait for the narrow ones. NULL: no memory. */
static inline struct open_sample *open_room(struct samples *s)
{
	struct open_sample **block = &s->open[s->n_open / OPEN_BLOCK];

	if (!*block)
		*block = malloc(OPEN_BLOCK * sizeof(**block));
	return *block ? &(*block)[s->n_open % OPEN_BLOCK] : NULL;
}

/* The one that lies there now. */
static inline void keep_open(struct samples *s, const struct chunk *chunk, struct spans *spans)
{
	s->n_open++;
	s->spans = spans;
	s->chunk = chunk;
}

/* NULL: no memory. */
static struct sample_row *row_of(struct samples *s, struct moment *m, struct sample_row *own)
{
	struct sample_row *row = NULL;

	if (s->rows.n >= MAX_ROWS || s->n_open >= MAX_OPEN) {
		settle(s);
		forget_rows(s);
	}
	if (!m->mark && !label_ids_are_own(m))
		row = sample_rows_find(&s->rows, &m->refs);
	if (row)
		return row;
	*own = make_row(s, m);
	return own->is_alone && !m->spans ? own : sample_rows_add(&s->rows, own);
}

/* Events that look as this one, which was not known, are known from now on. */
static void remember(struct samples *s, const struct sample_row *row, const struct moment *m)
{
	const union known_sample known = {
		.row = (uint32_t)(row - s->rows.items),
		.end = row->end,
		.is_open = m->spans != NULL,
	};

	if (s->look.key.of == moment_look_plan(m->reader) && !row->is_alone)
		memo_add(&s->known, &s->look.key, known.word);
	s->look.key.of = NULL;
}

static int keep_moment(struct samples *s, const struct sample_row *row, const struct moment *m)
{
	struct open_sample *o = open_room(s);

	if (!o)
		return -ENOMEM;
	*o = (struct open_sample){ .start = moment_start(m),
				   .row = (uint32_t)(row - s->rows.items),
				   .worth = m->worth };
	keep_open(s, m->chunk, m->spans);
	return 0;
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
	s->used |= m->worth.used;
	count(s, m, (enum sample_count)row->end);
	if (m->spans)
		err = keep_moment(s, row, m);
	else
		add_to_row(s, row, m->time_ns, &m->worth);
	remember(s, row, m);
	return err ? err : profile_error(s->p);
}

/* As take() does, of an event that looks as one that was taken. */
static int take_known(struct samples *s, union known_sample known, struct chunk *chunk,
		      const struct event *e, const struct unread *u)
{
	const struct look_plan *plan = u->plan;
	struct open_sample closed, *o = known.is_open ? open_room(s) : &closed;
	bool is_sample;

	if (!o)
		return -ENOMEM;
	if (plan->object_column != COLUMN_SAMPLES)
		is_sample = moment_look_object(plan, e, &s->look, u->settings, &o->worth);
	else
		is_sample = moment_look_weigh(
			u->reader, chunk, e, &s->look, u->settings,
			plan->is_by_state ? s->rows.items[known.row].state : NULL, &o->worth);
	if (!is_sample)
		return 0;
	s->used |= o->worth.used;
	s->counts[SAMPLES_TAKEN]++;
	s->counts[known.end]++;
	if (!known.is_open) {
		add_worth(s, known.row, &o->worth);
		return 0;
	}
	o->start = moment_look_start(plan, e, &s->look);
	o->row = known.row;
	keep_open(s, chunk, u->spans);
	return 0;
}

static int recall(void *ctx, struct chunk *chunk, const struct event *e, const struct unread *u)
{
	union known_sample known;
	struct samples *s = ctx;
	const uint64_t *word;

	s->look.key.of = NULL;
	if (!moment_look_starts(u->plan, e, &s->look))
		return 1;
	if (!moment_look_key(u->plan, e, &s->look))
		return 1;
	word = memo_find(&s->known, &s->look.key);
	if (!word)
		return 1;
	known.word = *word;
	if (known.is_open && (!*u->has_scopes || s->n_open >= MAX_OPEN))
		return 1;
	return take_known(s, known, chunk, e, u);
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
	add_sums(ctx);
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
		.recall = recall,
		.begin = begin,
		.end = end,
	};
}

int samples_merge(struct samples *into, struct samples *from)
{
	into->used = from->used |= into->used;
	profile_widen(into->p, into->used | 1u << COLUMN_SAMPLES);
	profile_widen(from->p, from->used | 1u << COLUMN_SAMPLES);
	for (size_t i = 0; i < N_SAMPLE_COUNTS; i++)
		into->counts[i] += from->counts[i];
	if (profile_error(into->p) || profile_error(from->p))
		return -ENOMEM;
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
