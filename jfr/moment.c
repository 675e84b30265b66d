// SPDX-License-Identifier: Apache-2.0
#include "jfr/moment.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jfr/chunk.h"
#include "jfr/layout.h"
#include "jfr/settings.h"

#define DEFAULT_EXECUTION_NS 20000000 /* of HotSpot, when a recording does not say */
#define DEFAULT_INTERVAL_NS 10000000  /* of async-profiler's cpu */
#define DEFAULT_WALL_NS 50000000      /* and of its wall */

/* Where a field is, and what it holds: looked up once, not for each event. */
struct place {
	int leaf; /* -1: there is none */
	enum jfr_value_kind kind;
	enum jfr_unit unit;
	uint64_t type; /* of a constant */
};

struct moment_reader {
	const struct jfr_type *type;
	const struct event_row *row;
	struct layout *layout;
	struct jfr_value *values;
	struct place start, duration, thread, stack, state, class, weight, scale, bytes;
	struct place samples, time_span, failed;
	struct place trace_id, trace_high, trace_low, span_id;
};

static struct place find_place(const struct layout *l, const char *name)
{
	int i = name ? layout_find(l, name) : -1;
	const struct jfr_leaf *leaf = i < 0 ? NULL : layout_leaf(l, (size_t)i);
	struct place p = { .leaf = i };

	if (!leaf)
		return p;
	p.kind = leaf->kind;
	p.unit = leaf->field ? leaf->field->unit : JFR_NO_UNIT;
	p.type = leaf->field ? leaf->field->type_id : 0;
	return p;
}

static struct place find_first(const struct layout *l, const char *const *names)
{
	struct place p = { .leaf = -1 };

	for (; *names && p.leaf < 0; names++)
		p = find_place(l, *names);
	return p;
}

static void find_fields(struct moment_reader *r)
{
	static const char *const threads[] = { "sampledThread", "eventThread", "thread", NULL };
	static const char *const trace_ids[] = { "traceId", "trace_id", NULL };
	static const char *const span_ids[] = { "spanId", "span_id", NULL };
	const struct layout *l = r->layout;

	r->start = find_place(l, "startTime");
	r->duration = find_place(l, "duration");
	r->thread = find_first(l, threads);
	r->stack = find_place(l, "stackTrace");
	r->state = find_place(l, "state");
	r->class = find_place(l, r->row->class);
	r->weight = find_place(l, r->row->weight);
	r->scale = find_place(l, "weight");
	r->bytes = find_place(l, r->row->bytes);
	r->samples = find_place(l, "samples");
	r->time_span = find_place(l, "timeSpan");
	r->failed = find_place(l, "failed");
	r->trace_id = find_first(l, trace_ids);
	r->trace_high = find_place(l, "traceIdHi");
	r->trace_low = find_place(l, "traceIdLo");
	r->span_id = find_first(l, span_ids);
}

struct moment_reader *moment_reader_new(const struct jfr_type *type, int *err)
{
	struct moment_reader *r = calloc(1, sizeof(*r));

	*err = -ENOMEM;
	if (!r)
		return NULL;
	r->type = type;
	r->row = event_row_find(type->name);
	r->layout = layout_new(type, err);
	if (r->layout)
		r->values = calloc(layout_n_leaves(r->layout) + 1, sizeof(*r->values));
	if (!r->values) {
		moment_reader_free(r);
		return NULL;
	}
	find_fields(r);
	return r;
}

void moment_reader_free(struct moment_reader *r)
{
	if (!r)
		return;
	layout_free(r->layout);
	free(r->values);
	free(r);
}

const struct event_row *moment_reader_row(const struct moment_reader *r)
{
	return r->row;
}

bool moment_is_no_time(int64_t value)
{
	return value == INT64_MIN || value == INT64_MAX;
}

static int64_t scaled(int64_t value, int64_t factor)
{
	int64_t product;

	return __builtin_mul_overflow(value, factor, &product) ? (value < 0 ? INT64_MIN : INT64_MAX)
							       : product;
}

static int64_t unit_ns(const struct chunk *chunk, enum jfr_unit unit, int64_t value)
{
	switch (unit) {
	case JFR_TIMESTAMP_TICKS:
		return chunk_header_time_ns(&chunk->header, value);
	case JFR_TIMESPAN_TICKS:
		return chunk_header_duration_ns(&chunk->header, value);
	case JFR_TIMESTAMP_MS:
	case JFR_TIMESPAN_MS:
		return scaled(value, 1000000);
	case JFR_TIMESPAN_US:
		return scaled(value, 1000);
	case JFR_TIMESPAN_S:
		return scaled(value, 1000000000);
	default:
		return value;
	}
}

int64_t moment_ns(const struct chunk *chunk, const struct layout *l, size_t leaf, int64_t value)
{
	return unit_ns(chunk, layout_leaf(l, leaf)->field->unit, value);
}

/* A field as a number; 0 when there is none. */
static int64_t number(const struct moment_reader *r, const struct place *p)
{
	if (p->leaf < 0)
		return 0;
	switch (p->kind) {
	case VALUE_NUMBER:
	case VALUE_CONSTANT:
		return r->values[p->leaf].n;
	case VALUE_REAL:
		return r->values[p->leaf].real >= -9e18 && r->values[p->leaf].real <= 9e18
			       ? llround(r->values[p->leaf].real)
			       : 0;
	default:
		return 0;
	}
}

static int64_t time_of(const struct moment_reader *r, const struct chunk *chunk,
		       const struct place *p, int64_t none)
{
	int64_t n = number(r, p);

	if (p->leaf < 0 || p->kind != VALUE_NUMBER || moment_is_no_time(n))
		return none;
	return unit_ns(chunk, p->unit, n);
}

static bool refers(const struct place *p)
{
	return p->leaf >= 0 && p->kind == VALUE_CONSTANT;
}

static const char *text(const struct moment_reader *r, struct chunk *c, const struct place *p)
{
	return refers(p) ? names_text(c, p->type, r->values[p->leaf].n) : "";
}

/* "STATE_RUNNABLE" of HotSpot and "RUNNABLE" of others are one word. */
static const char *state_text(const char *state)
{
	return strncmp(state, "STATE_", 6) ? state : state + 6;
}

const struct java_thread *moment_thread(struct moment *m)
{
	const struct place *p = &m->reader->thread;

	if (!m->thread && refers(p))
		m->thread = names_thread(m->chunk, p->type, m->refs.thread);
	return m->thread;
}

void moment_name(struct moment *m)
{
	const struct moment_reader *r = m->reader;

	if (m->is_named)
		return;
	m->is_named = true;
	moment_thread(m);
	if (refers(&r->stack)) {
		m->stack = names_stack(m->chunk, r->stack.type, m->refs.stack);
		m->is_stack_missing = !m->stack && m->refs.stack;
	}
	m->state = state_text(text(r, m->chunk, &r->state));
	m->class = text(r, m->chunk, &r->class);
}

static int64_t key(const struct moment_reader *r, const struct place *p)
{
	return refers(p) ? r->values[p->leaf].n : 0;
}

static struct moment_refs read_refs(const struct moment_reader *r)
{
	return (struct moment_refs){
		.thread = key(r, &r->thread),
		.stack = key(r, &r->stack),
		.state = key(r, &r->state),
		.class = key(r, &r->class),
		.of = r,
	};
}

/* An id that is written as text, or as a number of 64 bits. What a JVM writes more than once is a
   constant of its. */
static void read_id(const struct moment_reader *r, struct chunk *c, const struct place *p,
		    char *out, size_t size)
{
	const struct jfr_value *v = p->leaf < 0 ? NULL : &r->values[p->leaf];
	char buf[128];
	struct text_room room = { .text = buf, .cap = sizeof(buf) };
	const char *id;
	size_t len;

	if (v && p->kind == VALUE_NUMBER && v->n)
		snprintf(out, size, "%016" PRIx64, (uint64_t)v->n);
	if (!v || p->kind != VALUE_STRING || wire_string_room(&v->string) >= sizeof(buf))
		return;
	id = names_string(c, &v->string, &room);
	len = strlen(id);
	if (len && len < size && strspn(id, "0123456789abcdefABCDEF") == len &&
	    strspn(id, "0") < len)
		memcpy(out, id, len + 1);
}

static void read_span(const struct moment_reader *r, struct chunk *c, struct moment *m)
{
	uint64_t high = (uint64_t)number(r, &r->trace_high),
		 low = (uint64_t)number(r, &r->trace_low);

	read_id(r, c, &r->trace_id, m->trace_id, sizeof(m->trace_id));
	read_id(r, c, &r->span_id, m->span_id, sizeof(m->span_id));
	if (!*m->trace_id && (high || low))
		snprintf(m->trace_id, sizeof(m->trace_id), "%016" PRIx64 "%016" PRIx64, high, low);
}

static void worth(struct moment *m, enum event_column column, int64_t value)
{
	m->is_sample = true;
	m->column = column;
	m->values[COLUMN_SAMPLES] = 1;
	m->values[column] = value;
	m->used = 1u << COLUMN_SAMPLES | 1u << column;
}

static int64_t first_of(int64_t a, int64_t b)
{
	return a > 0 ? a : b;
}

/* HotSpot's and async-profiler's samples have the same name. */
static void weigh_execution(struct moment *m, const struct settings *s)
{
	bool is_default = false;

	if (s->is_async_profiler) {
		moment_name(m);
		is_default = !*m->state || !strcmp(m->state, "DEFAULT");
	}
	if (!s->is_async_profiler)
		worth(m, s->has_cpu_time ? COLUMN_CPU_EXEC : COLUMN_CPU,
		      first_of(s->execution_ns, DEFAULT_EXECUTION_NS));
	else if (s->is_wall || !is_default)
		worth(m, COLUMN_WALL,
		      first_of(s->wall_ns, first_of(s->interval_ns, DEFAULT_WALL_NS)));
	else if (s->is_counter)
		worth(m, COLUMN_EVENTS, 1);
	else
		worth(m, COLUMN_CPU, first_of(s->interval_ns, DEFAULT_INTERVAL_NS));
}

static void weigh_lost(const struct moment_reader *r, struct moment *m, const struct settings *s)
{
	int64_t n = number(r, &r->weight);

	worth(m, COLUMN_CPU, scaled(n, first_of(s->cpu_time_ns, DEFAULT_INTERVAL_NS)));
	m->values[COLUMN_SAMPLES] = n;
	m->mark = "[lost]";
}

static void weigh_wall(const struct moment_reader *r, struct moment *m, const struct settings *s)
{
	int64_t n = first_of(number(r, &r->samples), 1);
	int64_t span = time_of(r, m->chunk, &r->time_span, 0);

	worth(m, COLUMN_WALL,
	      first_of(span,
		       scaled(n, first_of(s->wall_ns, first_of(s->interval_ns, DEFAULT_WALL_NS)))));
	m->values[COLUMN_SAMPLES] = n;
}

/* Objects and bytes. */
static void weigh_objects(struct moment *m, int64_t n, int64_t bytes)
{
	worth(m, m->row->column, n);
	m->column = m->row->column + 1;
	m->values[m->column] = bytes;
	m->used |= 1u << m->column;
}

static void weigh_scaled(const struct moment_reader *r, struct moment *m)
{
	const struct place *p = &r->scale;
	double weight = p->leaf < 0		? 1
			: p->kind == VALUE_REAL ? r->values[p->leaf].real
						: (double)number(r, p);
	double bytes = weight * (double)number(r, &r->weight);

	if (weight >= 0 && bytes >= 0 && weight < 9e18 && bytes < 9e18)
		weigh_objects(m, llround(weight), llround(bytes));
}

static void weigh_duration(const struct moment_reader *r, struct moment *m,
			   enum event_column column)
{
	worth(m, column, m->duration_ns > 0 ? m->duration_ns : 0);
	if (r->bytes.leaf < 0)
		return;
	m->values[COLUMN_IO_SPACE] = first_of(number(r, &r->bytes), 0);
	m->used |= 1u << COLUMN_IO_SPACE;
}

static void weigh(const struct moment_reader *r, struct moment *m, const struct settings *s)
{
	switch (m->row->rule) {
	case RULE_NONE:
		break;
	case RULE_EXECUTION:
		weigh_execution(m, s);
		break;
	case RULE_NATIVE:
		worth(m, COLUMN_NATIVE, first_of(s->native_ns, DEFAULT_EXECUTION_NS));
		break;
	case RULE_CPU_TIME:
		worth(m, COLUMN_CPU, time_of(r, m->chunk, &r->weight, 0));
		if (number(r, &r->failed) && !m->refs.stack)
			m->mark = "[failed]";
		break;
	case RULE_CPU_LOST:
		weigh_lost(r, m, s);
		break;
	case RULE_WALL:
		weigh_wall(r, m, s);
		break;
	case RULE_DURATION:
		weigh_duration(r, m, m->row->column);
		break;
	case RULE_PARK:
		weigh_duration(r, m, m->refs.class ? COLUMN_LOCK : COLUMN_PARK);
		break;
	case RULE_COUNT:
		worth(m, m->row->column, 1);
		break;
	case RULE_TLAB:
		if (!s->has_allocation_sample)
			weigh_objects(m, 1, first_of(number(r, &r->weight), 0));
		break;
	case RULE_BYTES:
		if (r->weight.leaf < 0) /* of old objects before JDK 25 */
			worth(m, m->row->column, 1);
		else
			weigh_objects(m, 1, first_of(number(r, &r->weight), 0));
		break;
	case RULE_SCALED:
		weigh_scaled(r, m);
		break;
	case RULE_DATADOG_CPU:
		worth(m, COLUMN_CPU,
		      scaled(first_of(number(r, &r->weight), 1),
			     first_of(s->datadog_cpu_ns, DEFAULT_INTERVAL_NS)));
		break;
	case RULE_DATADOG_WALL:
		worth(m, COLUMN_WALL,
		      scaled(first_of(number(r, &r->weight), 1),
			     first_of(s->datadog_wall_ns, DEFAULT_WALL_NS)));
		break;
	}
}

int moment_time(struct moment_reader *r, const struct chunk *chunk, const struct event *e,
		int64_t *time_ns)
{
	struct reader in;

	reader_init(&in, e->fields, e->fields_len);
	if (layout_read(r->layout, &in, r->values) || !reader_at_end(&in))
		return -EBADMSG;
	*time_ns = time_of(r, chunk, &r->start, chunk->header.start_ns);
	return 0;
}

/* One by one: clearing the whole of it would cost more than all that is read. */
static void forget(struct moment *m)
{
	m->is_named = m->is_stack_missing = m->is_sample = false;
	m->thread = NULL;
	m->stack = NULL;
	m->mark = NULL;
	m->state = m->class = "";
	m->column = COLUMN_SAMPLES;
	m->used = 0;
	m->trace_id[0] = m->span_id[0] = '\0';
}

int moment_read(struct moment_reader *r, struct chunk *chunk, const struct event *e,
		const struct settings *settings, struct moment *m)
{
	struct reader in;

	reader_init(&in, e->fields, e->fields_len);
	if (layout_read(r->layout, &in, r->values) || !reader_at_end(&in))
		return -EBADMSG;
	m->row = r->row;
	m->type = r->type;
	m->chunk = chunk;
	m->at = e->at;
	m->layout = r->layout;
	m->fields = r->values;
	forget(m);
	m->time_ns = time_of(r, chunk, &r->start, chunk->header.start_ns);
	m->duration_ns = time_of(r, chunk, &r->duration, -1);
	m->refs = read_refs(r);
	m->reader = r;
	read_span(r, chunk, m);
	weigh(r, m, settings);
	return 0;
}
