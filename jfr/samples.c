// SPDX-License-Identifier: Apache-2.0
#include "jfr/samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/profile.h"
#include "core/profile_merge.h"
#include "core/scoped.h"
#include "jfr/chunk.h"
#include "jfr/names.h"

#define N_CACHED 2048 /* samples that are not looked for again */
#define CACHE_SHIFT 53
#define N_CACHED_LOCATIONS 4096
#define MAX_LABELS 12
#define MAX_COMMON 4
#define MAX_NAME_LEN 8192

/* What came of what events refer to, while a chunk is read. */
struct cached {
	enum sample_count end; /* of its stack */
	struct moment_refs refs;
	uint32_t sample; /* of the profile; 0: this place is free */
};

/* Frames that many stacks have in common are looked up once. */
struct cached_location {
	uint32_t function, line, location; /* location 0: free */
	uint16_t kind;
};

struct samples {
	struct profile *p;
	uint32_t used; /* columns that something came for */
	struct cached cache[N_CACHED];
	struct label common[MAX_COMMON];
	size_t n_common;
	bool keeps_hidden;
	uint64_t counts[N_SAMPLE_COUNTS];
	struct cached_location locations_made[N_CACHED_LOCATIONS];
	uint32_t *locations; /* room for a stack */
	size_t locations_cap;
	uint32_t thread_key, tid_key, java_tid_key, state_key, class_key, trace_key, span_key;
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
	s->p = p;
	set_types(p);
	s->thread_key = profile_string(p, "thread");
	s->tid_key = profile_string(p, "tid");
	s->java_tid_key = profile_string(p, "java_tid");
	s->state_key = profile_string(p, "state");
	s->class_key = profile_string(p, "class");
	s->trace_key = profile_string(p, "trace_id");
	s->span_key = profile_string(p, "span_id");
	return s;
}

void samples_free(struct samples *s)
{
	if (!s)
		return;
	free(s->locations);
	free(s);
}

void samples_set_label(struct samples *s, const char *key, const char *value)
{
	uint32_t id = profile_string(s->p, key);
	size_t i;

	memset(s->cache, 0, sizeof(s->cache));
	for (i = 0; i < s->n_common && s->common[i].key != id; i++)
		;
	if (i == MAX_COMMON)
		return;
	if (i == s->n_common)
		s->n_common++;
	s->common[i] = (struct label){ .key = id, .str = profile_string(s->p, value) };
}

void samples_keep_hidden(struct samples *s)
{
	s->keeps_hidden = true;
}

static uint32_t make_function(struct profile *p, const struct java_method *m)
{
	SCOPED(free) char *name = malloc(MAX_NAME_LEN);
	SCOPED(free) char *system = malloc(MAX_NAME_LEN);
	const char *dot = *m->class->name ? "." : "";
	struct function f = { 0 };

	if (!name || !system)
		return 0;
	snprintf(name, MAX_NAME_LEN, "%s%s%s", m->class->name, dot, m->name);
	snprintf(system, MAX_NAME_LEN, "%s%s", name, m->descriptor);
	f.name = profile_string(p, name);
	f.system_name = profile_string(p, *m->descriptor ? system : name);
	return profile_function(p, &f);
}

static enum frame_kind kind_of(enum java_frame_type type)
{
	switch (type) {
	case JAVA_NATIVE:
		return FRAME_NATIVE;
	case JAVA_KERNEL:
		return FRAME_KERNEL;
	default:
		return FRAME_JAVA;
	}
}

static uint32_t make_location(struct samples *s, const struct java_frame *f)
{
	struct java_method *m = (struct java_method *)f->method; /* the id in it is ours */
	struct location l = { .kind = (uint16_t)kind_of(f->type) };
	struct line line = { .line = (uint32_t)f->line };
	struct cached_location *c;

	if (!m->function)
		m->function = make_function(s->p, m);
	line.function = m->function;
	c = &s->locations_made[(line.function * 31 + line.line) % N_CACHED_LOCATIONS];
	if (!c->location || c->function != line.function || c->line != line.line ||
	    c->kind != l.kind)
		*c = (struct cached_location){ .function = line.function,
					       .line = line.line,
					       .location = profile_location(s->p, &l, &line, 1),
					       .kind = l.kind };
	return c->location;
}

static uint32_t mark(struct profile *p, const char *name)
{
	struct function f = { .name = profile_string(p, name) };
	struct location l = { .kind = FRAME_MARK };
	struct line line = { .function = profile_function(p, &f) };

	return profile_location(p, &l, &line, 1);
}

static uint32_t marked_stack(struct samples *s, const char *name)
{
	uint32_t location = mark(s->p, name);

	return profile_stack(s->p, &location, 1);
}

/* Frames that are shown, in s->locations: all of them when none would be left. */
static size_t fill_locations(struct samples *s, const struct java_stack *stack, bool all)
{
	size_t n = 0;

	for (size_t i = 0; i < stack->n; i++)
		if (all || !stack->frames[i].method->is_hidden)
			s->locations[n++] = make_location(s, &stack->frames[i]);
	return n || all ? n : fill_locations(s, stack, true);
}

static uint32_t stack_of(struct samples *s, struct java_stack *stack)
{
	size_t n;

	if (stack->stack && !stack->is_partial)
		return stack->stack;
	if (stack->n + 1 > s->locations_cap) {
		uint32_t *locations = realloc(s->locations, (stack->n + 1) * sizeof(*locations));

		if (!locations)
			return 0;
		s->locations = locations;
		s->locations_cap = stack->n + 1;
	}
	n = fill_locations(s, stack, s->keeps_hidden);
	if (stack->is_truncated)
		s->locations[n++] = mark(s->p, "[truncated]");
	stack->stack = profile_stack(s->p, s->locations, n);
	return stack->stack;
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

static uint32_t make_labels(struct samples *s, const struct moment *m)
{
	struct label labels[MAX_LABELS];
	size_t n = s->n_common;

	memcpy(labels, s->common, n * sizeof(*labels));
	if (m->thread) {
		add_text(s, labels, &n, s->thread_key, m->thread->name);
		add_number(labels, &n, s->tid_key, m->thread->os_id);
		add_number(labels, &n, s->java_tid_key, m->thread->id);
	}
	add_text(s, labels, &n, s->state_key, m->state);
	add_text(s, labels, &n, s->class_key, m->class);
	add_text(s, labels, &n, s->trace_key, m->trace_id);
	add_text(s, labels, &n, s->span_key, m->span_id);
	return profile_label_set(s->p, labels, n);
}

static uint32_t stack_of_moment(struct samples *s, const struct moment *m)
{
	if (m->stack)
		return stack_of(s, m->stack);
	return marked_stack(s, m->mark		     ? m->mark
			       : m->is_stack_missing ? "[unresolved stack]"
						     : "[no stack]");
}

/* How its stack ended; moment_name() was there before. */
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

/* Ids in the event itself are told apart by nothing it refers to. */
static bool is_cacheable(const struct moment *m)
{
	return !m->mark && (m->refs.span || (!*m->trace_id && !*m->span_id));
}

static struct cached *slot_of(struct samples *s, const struct moment_refs *r)
{
	uint64_t hash = (uint64_t)r->stack * UINT64_C(0x9e3779b97f4a7c15);

	hash = (hash ^ (uint64_t)r->thread) * UINT64_C(0xff51afd7ed558ccd);
	hash = (hash ^ (uint64_t)r->class ^ (uintptr_t)r->of ^ (uintptr_t)r->span) *
	       UINT64_C(0xc4ceb9fe1a85ec53);
	_Static_assert(N_CACHED == 1 << (64 - CACHE_SHIFT), "the upper bits of the hash");
	return &s->cache[hash >> CACHE_SHIFT];
}

static uint32_t add(struct samples *s, struct moment *m)
{
	for (unsigned int i = 0; i < N_COLUMNS; i++)
		if (!(m->used >> i & 1))
			m->values[i] = 0;
	moment_name(m);
	return profile_add(s->p, stack_of_moment(s, m), make_labels(s, m),
			   m->time_ns > 0 ? (uint64_t)m->time_ns : 0, m->values);
}

static int take(void *ctx, struct moment *m)
{
	struct cached *slot = slot_of(ctx, &m->refs);
	struct samples *s = ctx;

	if (!m->is_sample)
		return 0;
	s->used |= m->used;
	if (slot->sample && is_cacheable(m) && !memcmp(&slot->refs, &m->refs, sizeof(m->refs))) {
		count(s, m, slot->end);
		profile_add_more(s->p, slot->sample, m->values, m->used);
		return 0;
	}
	*slot = (struct cached){ .refs = m->refs, .sample = add(s, m) };
	slot->end = end_of(m);
	count(s, m, slot->end);
	if (!is_cacheable(m) || (m->stack && m->stack->is_partial))
		slot->sample = 0;
	return profile_error(s->p);
}

static void begin(void *ctx, struct chunk *chunk)
{
	struct samples *s = ctx;

	(void)chunk;
	memset(s->cache, 0, sizeof(s->cache));
}

static bool wants(void *ctx, const struct event_row *row)
{
	(void)ctx;
	return row->rule != RULE_NONE;
}

struct moment_sink samples_sink(struct samples *s)
{
	return (struct moment_sink){ .ctx = s, .wants = wants, .take = take, .begin = begin };
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
