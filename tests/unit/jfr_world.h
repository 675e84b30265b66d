/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests: a small JVM's types, constants and events, and what is read of a recording of them.
 * Include after cmocka's header.
 */
#ifndef TESTS_UNIT_JFR_WORLD_H
#define TESTS_UNIT_JFR_WORLD_H

#include <sys/mman.h>
#include <unistd.h>

#include "jfr/chunk.h"
#include "jfr/layout.h"
#include "jfr/names.h"
#include "jfr/recording.h"
#include "tests/unit/jfr_writer.h"

enum world_type {
	T_BOOLEAN = 4,
	T_BYTE,
	T_CHAR,
	T_SHORT,
	T_INT,
	T_LONG,
	T_FLOAT,
	T_DOUBLE,
	T_STRING,
	T_TIMESTAMP,
	T_TIMESPAN,
	T_SYMBOL,
	T_CLASS,
	T_METHOD,
	T_STACK,
	T_FRAME,
	T_FRAME_TYPE,
	T_STATE,
	T_GROUP,
	T_THREAD,
	T_HEADER,
	T_SAMPLE = 101,
	T_NOTE,
};

static inline void world_primitives(struct jfr_types *t)
{
	add_class(t, T_BOOLEAN, "boolean", NULL);
	add_class(t, T_BYTE, "byte", NULL);
	add_class(t, T_CHAR, "char", NULL);
	add_class(t, T_SHORT, "short", NULL);
	add_class(t, T_INT, "int", NULL);
	add_class(t, T_LONG, "long", NULL);
	add_class(t, T_FLOAT, "float", NULL);
	add_class(t, T_DOUBLE, "double", NULL);
	add_class(t, T_STRING, "java.lang.String", NULL);
	add_class(t, T_TIMESTAMP, "jdk.jfr.Timestamp", "java.lang.annotation.Annotation");
	add_field(t, "value", T_STRING, 0);
	add_class(t, T_TIMESPAN, "jdk.jfr.Timespan", "java.lang.annotation.Annotation");
	add_field(t, "value", T_STRING, 0);
}

static inline void world_constants(struct jfr_types *t)
{
	add_simple_class(t, T_SYMBOL, "jdk.types.Symbol");
	add_field(t, "string", T_STRING, 0);
	add_class(t, T_CLASS, "java.lang.Class", NULL);
	add_field(t, "name", T_SYMBOL, FIELD_CONSTANT);
	add_class(t, T_METHOD, "jdk.types.Method", NULL);
	add_field(t, "type", T_CLASS, FIELD_CONSTANT);
	add_field(t, "name", T_SYMBOL, FIELD_CONSTANT);
	add_field(t, "descriptor", T_SYMBOL, FIELD_CONSTANT);
	add_field(t, "hidden", T_BOOLEAN, 0);
	add_class(t, T_STACK, "jdk.types.StackTrace", NULL);
	add_field(t, "truncated", T_BOOLEAN, 0);
	add_field(t, "frames", T_FRAME, FIELD_ARRAY);
	add_class(t, T_FRAME, "jdk.types.StackFrame", NULL);
	add_field(t, "method", T_METHOD, FIELD_CONSTANT);
	add_field(t, "lineNumber", T_INT, 0);
	add_field(t, "bytecodeIndex", T_INT, 0);
	add_field(t, "type", T_FRAME_TYPE, FIELD_CONSTANT);
	add_simple_class(t, T_FRAME_TYPE, "jdk.types.FrameType");
	add_field(t, "description", T_STRING, 0);
	add_simple_class(t, T_STATE, "jdk.types.ThreadState");
	add_field(t, "name", T_STRING, 0);
	add_class(t, T_GROUP, "jdk.types.ThreadGroup", NULL);
	add_field(t, "parent", T_GROUP, FIELD_CONSTANT);
	add_field(t, "name", T_STRING, 0);
	add_class(t, T_THREAD, "java.lang.Thread", NULL);
	add_field(t, "osName", T_STRING, 0);
	add_field(t, "osThreadId", T_LONG, 0);
	add_field(t, "javaName", T_STRING, 0);
	add_field(t, "javaThreadId", T_LONG, 0);
	add_field(t, "group", T_GROUP, FIELD_CONSTANT);
	add_field(t, "virtual", T_BOOLEAN, 0);
	add_class(t, T_HEADER, "jdk.types.ChunkHeader", NULL);
	add_field(t, "payload", T_BYTE, FIELD_ARRAY);
}

static inline void world_events(struct jfr_types *t)
{
	add_class(t, T_SAMPLE, "jdk.ExecutionSample", "jdk.jfr.Event");
	add_field(t, "startTime", T_LONG, 0);
	add_annotation(t, T_TIMESTAMP, "TICKS");
	add_field(t, "sampledThread", T_THREAD, FIELD_CONSTANT);
	add_field(t, "stackTrace", T_STACK, FIELD_CONSTANT);
	add_field(t, "state", T_STATE, FIELD_CONSTANT);
	add_class(t, T_NOTE, "test.Note", "jdk.jfr.Event");
	add_field(t, "startTime", T_LONG, 0);
	add_annotation(t, T_TIMESTAMP, "TICKS");
	add_field(t, "text", T_STRING, 0);
}

/* All of it, not yet ended. */
static inline struct jfr_types world_types(void)
{
	struct jfr_types t = { 0 };

	types_begin(&t);
	world_primitives(&t);
	world_constants(&t);
	world_events(&t);
	return t;
}

/* What a reader makes of types, which are ended and freed. */
static inline struct metadata *world_parse(struct jfr_types *t)
{
	struct jfr_bytes b = { 0 };
	struct jfr_chunk c = jfr_chunk_begin(&b, 0);
	struct metadata *m;
	const char *what;
	uint64_t where;
	int err;

	types_end(t);
	put_metadata(&c, t);
	m = metadata_parse(b.data + c.metadata_at, b.len - c.metadata_at, &err, &what, &where);
	types_free(t);
	free(b.data);
	if (!m)
		abort();
	return m;
}

static inline void world_metadata(struct jfr_chunk *c)
{
	struct jfr_types t = world_types();

	types_end(&t);
	put_metadata(c, &t);
	types_free(&t);
}

/* Thread `id`, "thread-ID"; stack `id`: method "ID" of class "p/C"; state 5. */
static inline void world_checkpoint(struct jfr_chunk *c, unsigned int id, const char *class)
{
	size_t at = checkpoint_begin(c, false, 7);
	struct jfr_bytes *b = c->b;
	char name[32];

	snprintf(name, sizeof(name), "thread-%u", id);
	put_pool(b, T_THREAD, 1);
	put_varint(b, id);
	put_string(b, 3, name);
	put_varint(b, 1000 + id);
	put_string(b, 5, name);
	put_varint(b, id);
	put_varint(b, 0);
	put_u8(b, 0);
	put_pool(b, T_STACK, 1);
	put_varint(b, id);
	put_u8(b, 0);
	put_varint(b, 1);
	put_varint(b, id);
	put_varint(b, 42);
	put_varint(b, 7);
	put_varint(b, 1);
	put_pool(b, T_METHOD, 1);
	put_varint(b, id);
	put_varint(b, id);
	put_varint(b, 2 * id);
	put_varint(b, 0);
	put_u8(b, 0);
	put_pool(b, T_CLASS, 1);
	put_varint(b, id);
	put_varint(b, 2 * id + 1);
	put_pool(b, T_SYMBOL, 2);
	put_varint(b, 2 * id);
	snprintf(name, sizeof(name), "method%u", id);
	put_string(b, 3, name);
	put_varint(b, 2 * id + 1);
	put_string(b, 3, class);
	put_pool(b, T_FRAME_TYPE, 1);
	put_varint(b, 1);
	put_string(b, 3, "JIT compiled");
	put_pool(b, T_STATE, 1);
	put_varint(b, 5);
	put_string(b, 3, "STATE_RUNNABLE");
	event_end(b, at);
}

/* A sample so many ticks after the chunk began. Its place in the bytes. */
static inline size_t world_sample(struct jfr_chunk *c, int64_t ticks, uint64_t id)
{
	size_t at = event_begin(c->b, T_SAMPLE);

	put_varint(c->b, (uint64_t)(c->start_ticks + ticks));
	put_varint(c->b, id);
	put_varint(c->b, id);
	put_varint(c->b, 5);
	event_end(c->b, at);
	return at;
}

static inline size_t world_note(struct jfr_chunk *c, int64_t ticks, const char *text)
{
	size_t at = event_begin(c->b, T_NOTE);

	put_varint(c->b, (uint64_t)(c->start_ticks + ticks));
	put_string(c->b, text ? 3 : 0, text);
	event_end(c->b, at);
	return at;
}

/* What is read of a recording: each event, and what its thread and stack are called. */
struct world_event {
	uint64_t at;
	uint32_t size;
	const char *type; /* of world_read's own */
	char thread[40], method[80];
	int64_t time_ns;
	bool is_partial;
};

struct world_reading {
	struct world_event *items;
	size_t n, cap;
	struct recording_report report;
	struct seen_chunks seen;
	uint64_t counted; /* events, by their types' counts */
	int err;
};

static inline void *world_bind(void *ctx, struct metadata *m, const struct jfr_type *type)
{
	(void)ctx;
	(void)m;
	return (void *)type;
}

static inline int64_t world_number(const struct layout *l, const struct jfr_value *v,
				   const char *path)
{
	int i = layout_find(l, path);

	return i < 0 ? 0 : v[i].n;
}

static inline uint64_t world_type_of(const struct layout *l, const char *path)
{
	int i = layout_find(l, path);

	return i < 0 ? 0 : layout_leaf(l, (size_t)i)->field->type_id;
}

static inline void world_explain(struct chunk *c, const struct layout *l, const struct jfr_value *v,
				 struct world_event *e)
{
	struct java_thread *thread = names_thread(c, world_type_of(l, "sampledThread"),
						  world_number(l, v, "sampledThread"));
	struct java_stack *stack =
		names_stack(c, world_type_of(l, "stackTrace"), world_number(l, v, "stackTrace"));

	e->time_ns = chunk_header_time_ns(&c->header, world_number(l, v, "startTime"));
	snprintf(e->thread, sizeof(e->thread), "%s", thread ? thread->name : "");
	if (stack && stack->n)
		snprintf(e->method, sizeof(e->method), "%s.%s:%d",
			 stack->frames[0]->method->class->name, stack->frames[0]->method->name,
			 stack->frames[0]->line);
	e->is_partial = stack && stack->is_partial;
}

static inline int world_event(void *ctx, struct chunk *c, const struct event *event)
{
	const struct layout *l = event_type_layout(event->type);
	struct world_reading *got = ctx;
	struct jfr_value *values;
	struct world_event *e;
	struct reader r;
	int err;

	if (!l)
		return -EBADMSG;
	values = malloc((layout_n_leaves(l) + 1) * sizeof(*values));
	reader_init(&r, event->fields, event->fields_len);
	err = layout_read(l, &r, values);
	if (!err && !reader_at_end(&r))
		err = -EBADMSG;
	if (err) {
		free(values);
		return err;
	}
	if (got->n == got->cap) {
		got->cap = 2 * got->cap + 16;
		got->items = reallocarray(got->items, got->cap, sizeof(*got->items));
	}
	e = &got->items[got->n++];
	*e = (struct world_event){ .at = event->at, .size = event->size };
	e->type = event->type->type->id == T_SAMPLE ? "sample"
		  : event->type->type->id == T_NOTE ? "note"
						    : "other";
	world_explain(c, l, values, e);
	free(values);
	return 0;
}

static inline int world_end(void *ctx, struct chunk *c, struct event_types *types)
{
	struct world_reading *got = ctx;

	(void)c;
	for (size_t i = 0; i < event_types_n(types); i++)
		got->counted += event_types_at(types, i)->count;
	return 0;
}

/* Adds what a file in memory has. */
static inline void world_read(struct world_reading *got, const void *bytes, size_t len)
{
	struct event_visitor visitor = {
		.ctx = got, .bind = world_bind, .event = world_event, .end = world_end
	};
	int fd = memfd_create("recording", MFD_CLOEXEC);

	assert_int_equal(write(fd, bytes, len), len);
	got->err = recording_read(fd, &visitor, &got->seen, &got->report);
	close(fd);
}

static inline void world_reading_deinit(struct world_reading *got)
{
	free(got->items);
	recording_report_deinit(&got->report);
	seen_chunks_deinit(&got->seen);
	*got = (struct world_reading){ 0 };
}

#endif
