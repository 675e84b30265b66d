// SPDX-License-Identifier: Apache-2.0
#include "jfr/weight.h"

#include <math.h>
#include <string.h>

#include "core/saturated.h"
#include "jfr/moment.h"
#include "jfr/settings.h"

#define DEFAULT_EXECUTION_NS 20000000 /* of HotSpot, when a recording does not say */
#define DEFAULT_INTERVAL_NS 10000000  /* of async-profiler's cpu */
#define DEFAULT_WALL_NS 50000000      /* and of its wall */

struct weight_places weight_places(const struct layout *l, const struct event_row *row)
{
	return (struct weight_places){
		.weight = place_find(l, row->weight),
		.scale = place_find(l, "weight"),
		.bytes = place_find(l, row->bytes),
		.samples = place_find(l, "samples"),
		.time_span = place_find(l, "timeSpan"),
		.failed = place_find(l, "failed"),
		.class = place_find(l, row->class).type,
	};
}

static inline void worth(struct moment *m, enum event_column column, int64_t value)
{
	m->is_sample = true;
	m->column = column;
	m->worth.used = 1u << COLUMN_SAMPLES | 1u << column;
	m->worth.values[0] = 1;
	m->worth.values[1] = value;
}

/* And so much in a column behind that one. */
static void worth_also(struct moment *m, enum event_column column, int64_t value)
{
	m->worth.used |= 1u << column;
	m->worth.values[2] = value;
}

static int64_t first_of(int64_t a, int64_t b)
{
	return a > 0 ? a : b;
}

/* HotSpot's and async-profiler's samples have the same name. */
static int64_t execution(const struct settings *s, const char *state, enum event_column *column)
{
	bool is_default;

	if (!s->is_async_profiler) {
		*column = s->has_cpu_time ? COLUMN_CPU_EXEC : COLUMN_CPU;
		return first_of(s->execution_ns, DEFAULT_EXECUTION_NS);
	}
	is_default = !*state || !strcmp(state, "DEFAULT");
	if (s->is_wall || !is_default) {
		*column = COLUMN_WALL;
		return first_of(s->wall_ns, first_of(s->interval_ns, DEFAULT_WALL_NS));
	}
	*column = s->is_counter ? COLUMN_EVENTS : COLUMN_CPU;
	return s->is_counter ? 1 : first_of(s->interval_ns, DEFAULT_INTERVAL_NS);
}

void weigh_execution(const struct settings *s, const char *state, struct worth *out)
{
	enum event_column column;
	int64_t value = execution(s, state, &column);

	*out = (struct worth){ 1u << COLUMN_SAMPLES | 1u << column, { 1, value } };
}

static void weigh_lost(const struct weight_places *w, struct moment *m, const struct settings *s)
{
	int64_t n = place_number(&w->weight, m->fields);

	worth(m, COLUMN_CPU,
	      mul_saturated(n, first_of(settings_cpu_time_ns(s), DEFAULT_INTERVAL_NS)));
	m->worth.values[0] = n;
	m->mark = "[lost]";
}

void weigh_wall(const struct settings *s, int64_t n_samples, int64_t span_ns, struct worth *out)
{
	int64_t n = first_of(n_samples, 1);

	if (span_ns <= 0)
		span_ns = mul_saturated(
			n, first_of(s->wall_ns, first_of(s->interval_ns, DEFAULT_WALL_NS)));
	*out = (struct worth){ 1u << COLUMN_SAMPLES | 1u << COLUMN_WALL, { n, span_ns } };
}

/* Objects and bytes. */
static void weigh_objects(struct moment *m, int64_t n, int64_t bytes)
{
	worth(m, m->row->column, n);
	m->column = m->row->column + 1;
	worth_also(m, m->column, bytes);
}

static void weigh_object(const struct weight_places *w, struct moment *m)
{
	m->is_sample = true;
	m->column = m->row->column + 1;
	m->worth = worth_of_object(m->row->column, place_number(&w->weight, m->fields));
}

static void weigh_scaled(const struct weight_places *w, struct moment *m)
{
	const struct place *p = &w->scale;
	double weight = p->leaf < 0		? 1
			: p->kind == VALUE_REAL ? m->fields[p->leaf].real
						: (double)place_number(p, m->fields);
	double bytes = weight * (double)place_number(&w->weight, m->fields);

	if (weight >= 0 && bytes >= 0 && weight < 9e18 && bytes < 9e18)
		weigh_objects(m, llround(weight), llround(bytes));
}

static void weigh_duration(const struct weight_places *w, struct moment *m,
			   enum event_column column)
{
	worth(m, column, m->duration_ns > 0 ? m->duration_ns : 0);
	if (w->bytes.leaf < 0)
		return;
	worth_also(m, COLUMN_IO_SPACE, first_of(place_number(&w->bytes, m->fields), 0));
}

/* Parked for a lock, or until there is something to do? */
static void weigh_park(const struct weight_places *w, struct moment *m)
{
	const struct java_class *class =
		m->refs.class ? names_class(m->chunk, w->class, m->refs.class) : NULL;

	weigh_duration(w, m, class && !class->is_waited_for ? COLUMN_LOCK : COLUMN_PARK);
}

static void weigh_named(struct moment *m)
{
	worth(m, COLUMN_EVENTS, 1);
	if (m->duration_ns < 0)
		return;
	m->column = COLUMN_DURATION;
	worth_also(m, COLUMN_DURATION, m->duration_ns);
}

void weigh(const struct weight_places *w, struct moment *m, const struct settings *s)
{
	enum event_column column;
	int64_t value;

	switch (m->row->rule) {
	case RULE_NONE:
		break;
	case RULE_EXECUTION:
		value = execution(s, s->is_async_profiler ? moment_state(m) : "", &column);
		worth(m, column, value);
		break;
	case RULE_NATIVE:
		worth(m, COLUMN_NATIVE, first_of(s->native_ns, DEFAULT_EXECUTION_NS));
		break;
	case RULE_CPU_TIME:
		worth(m, COLUMN_CPU, place_ns(&w->weight, m->fields, m->chunk, 0));
		if (place_number(&w->failed, m->fields) && !m->refs.stack)
			m->mark = "[failed]";
		break;
	case RULE_CPU_LOST:
		weigh_lost(w, m, s);
		break;
	case RULE_WALL:
		m->is_sample = true;
		m->column = COLUMN_WALL;
		weigh_wall(s, place_number(&w->samples, m->fields),
			   place_ns(&w->time_span, m->fields, m->chunk, 0), &m->worth);
		break;
	case RULE_DURATION:
		weigh_duration(w, m, m->row->column);
		break;
	case RULE_PARK:
		weigh_park(w, m);
		break;
	case RULE_COUNT:
		worth(m, m->row->column, 1);
		break;
	case RULE_ERROR:
		if (!s->has_exceptions)
			worth(m, m->row->column, 1);
		break;
	case RULE_NAMED:
		weigh_named(m);
		break;
	case RULE_TLAB:
		if (!s->has_allocation_sample)
			weigh_object(w, m);
		break;
	case RULE_BYTES:
		if (w->weight.leaf < 0) /* of old objects before JDK 25 */
			worth(m, m->row->column, 1);
		else
			weigh_object(w, m);
		break;
	case RULE_SCALED:
		weigh_scaled(w, m);
		break;
	case RULE_DATADOG_CPU:
		worth(m, COLUMN_CPU,
		      mul_saturated(first_of(place_number(&w->weight, m->fields), 1),
				    first_of(s->datadog_cpu_ns, DEFAULT_INTERVAL_NS)));
		break;
	case RULE_DATADOG_WALL:
		worth(m, COLUMN_WALL,
		      mul_saturated(first_of(place_number(&w->weight, m->fields), 1),
				    first_of(s->datadog_wall_ns, DEFAULT_WALL_NS)));
		break;
	}
}
