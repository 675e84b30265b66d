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

struct moment_reader {
	const struct jfr_type *type;
	const struct event_row *row;
	struct layout *layout;
	struct jfr_value *values;
	/* leaves; -1: there is none */
	int start, duration, thread, stack, state, class, weight, bytes;
	int samples, time_span, failed;
	int trace_id, trace_high, trace_low, span_id;
};

static int find_first(const struct layout *l, const char *const *names)
{
	for (; *names; names++) {
		int i = layout_find(l, *names);

		if (i >= 0)
			return i;
	}
	return -1;
}

static int find_field(const struct layout *l, const char *name)
{
	return name ? layout_find(l, name) : -1;
}

static void find_fields(struct moment_reader *r)
{
	static const char *const threads[] = { "sampledThread", "eventThread", "thread", NULL };
	static const char *const trace_ids[] = { "traceId", "trace_id", NULL };
	static const char *const span_ids[] = { "spanId", "span_id", NULL };
	const struct layout *l = r->layout;

	r->start = layout_find(l, "startTime");
	r->duration = layout_find(l, "duration");
	r->thread = find_first(l, threads);
	r->stack = layout_find(l, "stackTrace");
	r->state = layout_find(l, "state");
	r->class = find_field(l, r->row->class);
	r->weight = find_field(l, r->row->weight);
	r->bytes = find_field(l, r->row->bytes);
	r->samples = layout_find(l, "samples");
	r->time_span = layout_find(l, "timeSpan");
	r->failed = layout_find(l, "failed");
	r->trace_id = find_first(l, trace_ids);
	r->trace_high = layout_find(l, "traceIdHi");
	r->trace_low = layout_find(l, "traceIdLo");
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

int64_t moment_ns(const struct chunk *chunk, const struct layout *l, size_t leaf, int64_t value)
{
	switch (layout_leaf(l, leaf)->field->unit) {
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

static enum jfr_value_kind kind_of(const struct moment_reader *r, int leaf)
{
	return layout_leaf(r->layout, (size_t)leaf)->kind;
}

/* A leaf as a number; 0 when there is none. */
static int64_t number(const struct moment_reader *r, int leaf)
{
	if (leaf < 0)
		return 0;
	switch (kind_of(r, leaf)) {
	case VALUE_NUMBER:
	case VALUE_CONSTANT:
		return r->values[leaf].n;
	case VALUE_REAL:
		return r->values[leaf].real >= -9e18 && r->values[leaf].real <= 9e18
			       ? llround(r->values[leaf].real)
			       : 0;
	default:
		return 0;
	}
}

static int64_t time_of(const struct moment_reader *r, const struct chunk *chunk, int leaf,
		       int64_t none)
{
	int64_t n = number(r, leaf);

	if (leaf < 0 || kind_of(r, leaf) != VALUE_NUMBER || moment_is_no_time(n))
		return none;
	return moment_ns(chunk, r->layout, (size_t)leaf, n);
}

/* The type of a leaf that refers to a constant; false: it does not. */
static bool refers(const struct moment_reader *r, int leaf, uint64_t *type)
{
	if (leaf < 0 || kind_of(r, leaf) != VALUE_CONSTANT)
		return false;
	*type = layout_leaf(r->layout, (size_t)leaf)->field->type_id;
	return true;
}

static const char *text(const struct moment_reader *r, struct chunk *c, int leaf)
{
	uint64_t type;

	return refers(r, leaf, &type) ? names_text(c, type, r->values[leaf].n) : "";
}

/* "STATE_RUNNABLE" of HotSpot and "RUNNABLE" of others are one word. */
static const char *state_text(const char *state)
{
	return strncmp(state, "STATE_", 6) ? state : state + 6;
}

const struct java_thread *moment_thread(struct moment *m)
{
	uint64_t type;

	if (!m->thread && refers(m->reader, m->reader->thread, &type))
		m->thread = names_thread(m->chunk, type, m->refs.thread);
	return m->thread;
}

void moment_name(struct moment *m)
{
	const struct moment_reader *r = m->reader;
	uint64_t type;

	if (m->is_named)
		return;
	m->is_named = true;
	moment_thread(m);
	if (refers(r, r->stack, &type)) {
		m->stack = names_stack(m->chunk, type, m->refs.stack);
		m->is_stack_missing = !m->stack && m->refs.stack;
	}
	m->state = state_text(text(r, m->chunk, r->state));
	m->class = text(r, m->chunk, r->class);
}

static int64_t key(const struct moment_reader *r, int leaf)
{
	return leaf < 0 || kind_of(r, leaf) != VALUE_CONSTANT ? 0 : r->values[leaf].n;
}

static struct moment_refs read_refs(const struct moment_reader *r)
{
	return (struct moment_refs){
		.thread = key(r, r->thread),
		.stack = key(r, r->stack),
		.state = key(r, r->state),
		.class = key(r, r->class),
		.of = r,
	};
}

/* An id that is written as text, or as a number of 64 bits. What a JVM writes more than once is a
   constant of its. */
static void read_id(const struct moment_reader *r, struct chunk *c, int leaf, char *out,
		    size_t size)
{
	const struct jfr_value *v = leaf < 0 ? NULL : &r->values[leaf];
	char buf[128];
	struct text_room room = { .text = buf, .cap = sizeof(buf) };
	const char *id;
	size_t len;

	if (v && kind_of(r, leaf) == VALUE_NUMBER && v->n)
		snprintf(out, size, "%016" PRIx64, (uint64_t)v->n);
	if (!v || kind_of(r, leaf) != VALUE_STRING || wire_string_room(&v->string) >= sizeof(buf))
		return;
	id = names_string(c, &v->string, &room);
	len = strlen(id);
	if (len && len < size && strspn(id, "0123456789abcdefABCDEF") == len &&
	    strspn(id, "0") < len)
		memcpy(out, id, len + 1);
}

static void read_span(const struct moment_reader *r, struct chunk *c, struct moment *m)
{
	uint64_t high = (uint64_t)number(r, r->trace_high), low = (uint64_t)number(r, r->trace_low);

	read_id(r, c, r->trace_id, m->trace_id, sizeof(m->trace_id));
	read_id(r, c, r->span_id, m->span_id, sizeof(m->span_id));
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
	int64_t n = number(r, r->weight);

	worth(m, COLUMN_CPU, scaled(n, first_of(s->cpu_time_ns, DEFAULT_INTERVAL_NS)));
	m->values[COLUMN_SAMPLES] = n;
	m->mark = "[lost]";
}

static void weigh_wall(const struct moment_reader *r, struct moment *m, const struct settings *s)
{
	int64_t n = first_of(number(r, r->samples), 1);
	int64_t span = time_of(r, m->chunk, r->time_span, 0);

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
	int leaf = layout_find(r->layout, "weight");
	double weight = leaf < 0			 ? 1
			: kind_of(r, leaf) == VALUE_REAL ? r->values[leaf].real
							 : (double)number(r, leaf);
	double bytes = weight * (double)number(r, r->weight);

	if (weight >= 0 && bytes >= 0 && weight < 9e18 && bytes < 9e18)
		weigh_objects(m, llround(weight), llround(bytes));
}

static void weigh_duration(const struct moment_reader *r, struct moment *m,
			   enum event_column column)
{
	worth(m, column, m->duration_ns > 0 ? m->duration_ns : 0);
	if (r->bytes < 0)
		return;
	m->values[COLUMN_IO_SPACE] = first_of(number(r, r->bytes), 0);
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
		worth(m, COLUMN_CPU, time_of(r, m->chunk, r->weight, 0));
		if (number(r, r->failed) && !m->refs.stack)
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
			weigh_objects(m, 1, first_of(number(r, r->weight), 0));
		break;
	case RULE_BYTES:
		if (r->weight < 0) /* of old objects before JDK 25 */
			worth(m, m->row->column, 1);
		else
			weigh_objects(m, 1, first_of(number(r, r->weight), 0));
		break;
	case RULE_SCALED:
		weigh_scaled(r, m);
		break;
	case RULE_DATADOG_CPU:
		worth(m, COLUMN_CPU,
		      scaled(first_of(number(r, r->weight), 1),
			     first_of(s->datadog_cpu_ns, DEFAULT_INTERVAL_NS)));
		break;
	case RULE_DATADOG_WALL:
		worth(m, COLUMN_WALL,
		      scaled(first_of(number(r, r->weight), 1),
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
	*time_ns = time_of(r, chunk, r->start, chunk->header.start_ns);
	return 0;
}

int moment_read(struct moment_reader *r, struct chunk *chunk, const struct event *e,
		const struct settings *settings, struct moment *m)
{
	struct reader in;

	reader_init(&in, e->fields, e->fields_len);
	if (layout_read(r->layout, &in, r->values) || !reader_at_end(&in))
		return -EBADMSG;
	*m = (struct moment){
		.row = r->row,
		.type = r->type,
		.chunk = chunk,
		.at = e->at,
		.layout = r->layout,
		.fields = r->values,
		.state = "",
		.class = "",
	};
	m->time_ns = time_of(r, chunk, r->start, chunk->header.start_ns);
	m->duration_ns = time_of(r, chunk, r->duration, -1);
	m->refs = read_refs(r);
	m->reader = r;
	read_span(r, chunk, m);
	weigh(r, m, settings);
	return 0;
}
