/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests: recordings of events of any kind, and what an interpreter makes of them. Include after
 * cmocka's header. A clock ticks 2.5 times in a nanosecond, as most do.
 */
#ifndef TESTS_UNIT_JFR_MEANING_H
#define TESTS_UNIT_JFR_MEANING_H

#include "jfr/interpreter.h"
#include "tests/unit/jfr_world.h"

#define TICKS_PER_S UINT64_C(2500000000)
#define TICKS(ns) ((int64_t)(ns) / 2 * 5)
#define AT(ns)                                      \
	{                                           \
		.n = WRITER_START_TICKS + TICKS(ns) \
	}
#define MAX_FIELDS 10

struct event_field {
	const char *name;
	unsigned int type; /* enum world_type */
	int flags;	   /* FIELD_CONSTANT */
	unsigned int annotation;
	const char *unit;
};

struct event_shape {
	unsigned int id;
	const char *name;
	struct event_field fields[MAX_FIELDS];
};

struct field_value {
	int64_t n;
	double real;
	const char *text;
};

#define START_FIELD                                          \
	{                                                    \
		"startTime", T_LONG, 0, T_TIMESTAMP, "TICKS" \
	}
#define DURATION_FIELD                                     \
	{                                                  \
		"duration", T_LONG, 0, T_TIMESPAN, "TICKS" \
	}
#define THREAD_FIELD                                             \
	{                                                        \
		"eventThread", T_THREAD, FIELD_CONSTANT, 0, NULL \
	}
#define SAMPLED_FIELD                                              \
	{                                                          \
		"sampledThread", T_THREAD, FIELD_CONSTANT, 0, NULL \
	}
#define STACK_FIELD                                            \
	{                                                      \
		"stackTrace", T_STACK, FIELD_CONSTANT, 0, NULL \
	}
#define STATE_FIELD                                       \
	{                                                 \
		"state", T_STATE, FIELD_CONSTANT, 0, NULL \
	}
#define CLASS_FIELD(name)                              \
	{                                              \
		name, T_CLASS, FIELD_CONSTANT, 0, NULL \
	}
#define NUMBER_FIELD(name)               \
	{                                \
		name, T_LONG, 0, 0, NULL \
	}
/* Whole events, as their writers have them. */
#define SAMPLE_FIELDS START_FIELD, SAMPLED_FIELD, STACK_FIELD, STATE_FIELD
#define WALL_FIELDS                                        \
	SAMPLE_FIELDS, { "samples", T_INT, 0, 0, NULL },   \
	{                                                  \
		"timeSpan", T_LONG, 0, T_TIMESPAN, "TICKS" \
	}
#define IN_TLAB_FIELDS                                                      \
	START_FIELD, THREAD_FIELD, STACK_FIELD, CLASS_FIELD("objectClass"), \
		NUMBER_FIELD("allocationSize"), NUMBER_FIELD("tlabSize")
#define TEXT_FIELD(name)                   \
	{                                  \
		name, T_STRING, 0, 0, NULL \
	}

/* A copy of a moment. */
struct seen_moment {
	char type[64], class[64], state[32], mark[32], thread[40], trace_id[33], span_id[33];
	char mode[32], operation[32], tag[32], span_name[32], root_id[33], top[64];
	int64_t time_ns, duration_ns, thread_id;
	size_t depth;
	bool is_sample, has_stack, is_stack_missing, is_partial;
	enum event_column column;
	int64_t values[N_COLUMNS];
};

struct meaning {
	struct jfr_bytes b;
	struct jfr_chunk c;
	struct interpreter in;
	struct seen_moment items[64];
	size_t n;
	struct recording_report report;
	struct seen_chunks seen;
	int n_chunks, err;
};

static const struct event_shape setting_shape = {
	300,
	"jdk.ActiveSetting",
	{ START_FIELD, NUMBER_FIELD("id"), TEXT_FIELD("name"), TEXT_FIELD("value") },
};

static inline void add_shape(struct jfr_types *t, const struct event_shape *s)
{
	add_class(t, s->id, s->name, "jdk.jfr.Event");
	for (const struct event_field *f = s->fields; f < s->fields + MAX_FIELDS && f->name; f++) {
		add_field(t, f->name, f->type, f->flags);
		if (f->annotation)
			add_annotation(t, f->annotation, f->unit);
	}
}

/* Begins a chunk with these types and the constants 1 and 2 of jfr_world.h. */
static inline void meaning_begin(struct meaning *m, const struct event_shape *shapes, size_t n)
{
	struct jfr_types t = world_types();

	for (size_t i = 0; i < n; i++)
		add_shape(&t, &shapes[i]);
	add_shape(&t, &setting_shape);
	types_end(&t);
	m->c = jfr_chunk_begin(&m->b, m->n_chunks++);
	m->c.ticks_per_s = TICKS_PER_S;
	m->c.start_ticks = WRITER_START_TICKS;
	put_metadata(&m->c, &t);
	types_free(&t);
	world_checkpoint(&m->c, 1, "p/C");
	world_checkpoint(&m->c, 2, "p/D");
}

static inline void put_field(struct jfr_bytes *b, const struct event_field *f,
			     const struct field_value *v)
{
	float f32 = (float)v->real;
	uint32_t bits;

	memcpy(&bits, &f32, sizeof(bits));
	if (f->flags & FIELD_CONSTANT)
		put_varint(b, (uint64_t)v->n);
	else if (f->type == T_STRING && v->n) /* a constant's key */
		put_u8(b, 2), put_varint(b, (uint64_t)v->n);
	else if (f->type == T_STRING)
		put_string(b, v->text ? 3 : 0, v->text ? v->text : "");
	else if (f->type == T_FLOAT)
		put_be(b, bits, 4);
	else if (f->type == T_BOOLEAN)
		put_u8(b, (unsigned int)v->n);
	else
		put_varint(b, (uint64_t)v->n);
}

static inline void meaning_event(struct meaning *m, const struct event_shape *s,
				 const struct field_value *values)
{
	size_t at = event_begin(m->c.b, s->id);

	for (size_t i = 0; i < MAX_FIELDS && s->fields[i].name; i++)
		put_field(m->c.b, &s->fields[i], &values[i]);
	event_end(m->c.b, at);
}

#define EVENT(m, shape, ...) \
	meaning_event(m, shape, (const struct field_value[MAX_FIELDS]){ __VA_ARGS__ })

/* One of jdk.ActiveSetting. */
static inline void meaning_setting(struct meaning *m, unsigned int type, const char *name,
				   const char *value)
{
	EVENT(m, &setting_shape, AT(0), { .n = type }, { .text = name }, { .text = value });
}

static inline int meaning_take(void *ctx, struct moment *from)
{
	struct meaning *m = ctx;
	struct seen_moment *to = &m->items[m->n++];

	moment_name(from);
	assert_true(m->n < sizeof(m->items) / sizeof(m->items[0]));
	*to = (struct seen_moment){
		.time_ns = from->time_ns,
		.duration_ns = from->duration_ns,
		.thread_id = from->thread ? from->thread->id : 0,
		.is_sample = from->is_sample,
		.has_stack = from->stack,
		.is_stack_missing = from->is_stack_missing,
		.column = from->column,
	};
	for (size_t i = 0; i < N_COLUMNS; i++)
		to->values[i] = worth_value(&from->worth, (enum event_column)i);
	snprintf(to->type, sizeof(to->type), "%s", from->type->name);
	snprintf(to->class, sizeof(to->class), "%s", from->class);
	snprintf(to->state, sizeof(to->state), "%s", from->state);
	snprintf(to->mark, sizeof(to->mark), "%s", from->mark ? from->mark : "");
	snprintf(to->thread, sizeof(to->thread), "%s", from->thread ? from->thread->name : "");
	snprintf(to->mode, sizeof(to->mode), "%s", from->mode);
	snprintf(to->operation, sizeof(to->operation), "%s", from->operation);
	snprintf(to->tag, sizeof(to->tag), "%s", from->tag);
	snprintf(to->span_name, sizeof(to->span_name), "%s", from->span_name);
	snprintf(to->root_id, sizeof(to->root_id), "%s", from->root_id);
	to->depth = from->stack ? from->stack->n : 0;
	to->is_partial = from->stack && from->stack->is_partial;
	if (to->depth)
		snprintf(to->top, sizeof(to->top), "%s:%d", from->stack->frames[0]->method->name,
			 from->stack->frames[0]->line);
	snprintf(to->trace_id, sizeof(to->trace_id), "%s", from->trace_id);
	snprintf(to->span_id, sizeof(to->span_id), "%s", from->span_id);
	return 0;
}

/* Of settings nothing is to be seen. */
static inline bool meaning_wants(void *ctx, const struct event_row *row)
{
	(void)ctx;
	return row->group != GROUP_OTHER;
}

/* Tells a sink of all there is. */
static inline void meaning_tell(struct meaning *m, struct moment_sink sink)
{
	struct event_visitor visitor = interpreter_visitor(&m->in);
	int fd = memfd_create("recording", MFD_CLOEXEC);

	jfr_chunk_end(&m->c);
	if (!m->in.groups)
		m->in.groups = UINT32_MAX;
	m->in.sinks[m->in.n_sinks++] = sink;
	assert_int_equal(write(fd, m->b.data, m->b.len), m->b.len);
	m->err = recording_read(fd, &visitor, &m->seen, &m->report);
	close(fd);
}

static inline void meaning_read(struct meaning *m)
{
	meaning_tell(
		m, (struct moment_sink){ .ctx = m, .wants = meaning_wants, .take = meaning_take });
	assert_int_equal(m->err, 0);
	assert_int_equal(m->report.n_damages, 0);
}

static inline void meaning_deinit(struct meaning *m)
{
	interpreter_deinit(&m->in);
	recording_report_deinit(&m->report);
	seen_chunks_deinit(&m->seen);
	free(m->b.data);
}

#endif
