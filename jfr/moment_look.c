// SPDX-License-Identifier: Apache-2.0
#include "jfr/moment_look.h"

#include "jfr/chunk.h"
#include "jfr/moment.h"
#include "jfr/moment_reader.h"

static void add_key(struct look_plan *plan, const struct place *p)
{
	uint8_t field = (uint8_t)p->leaf;

	if (p->leaf < 0)
		return;
	if (!plan->has_keys || field < plan->first_key)
		plan->first_key = field;
	if (!plan->has_keys || field > plan->last_key)
		plan->last_key = field;
	plan->has_keys = true;
}

static struct look_field look_field(const struct layout *l, const struct place *p)
{
	return (struct look_field){ (uint8_t)p->leaf, layout_width(l, (size_t)p->leaf) };
}

static void add_weighed(struct look_plan *plan, const struct layout *l, const struct place *p)
{
	for (unsigned int i = 0; i < plan->n_weighed; i++)
		if (plan->weighed[i].index == p->leaf)
			return;
	if (p->leaf >= 0)
		plan->weighed[plan->n_weighed++] = look_field(l, p);
}

/* Has it no other fields than numbers of few bytes? */
static bool find_kinds(struct look_plan *plan, const struct layout *l)
{
	size_t n = layout_n_leaves(l);

	if (n > LOOK_FIELDS_MAX)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (layout_is_byte(l, i))
			plan->bytes |= 1u << i;
		else if (!layout_is_varint(l, i))
			return false;
	}
	return true;
}

void moment_look_init(struct moment_reader *r)
{
	const struct place *const keys[] = { &r->thread, &r->stack, &r->state,
					     &r->class,	 &r->mode,  &r->weight.failed };
	const struct place *const weighed[] = { &r->duration,	    &r->weight.weight,
						&r->weight.scale,   &r->weight.bytes,
						&r->weight.samples, &r->weight.time_span,
						&r->weight.failed };
	struct look_plan *plan = &r->look;

	_Static_assert(sizeof(weighed) / sizeof(weighed[0]) + 2 <= LOOK_WEIGHED_MAX,
		       "each has its place");
	/* Ids are in labels, and so is the operation. */
	if (r->has_ids || r->operation.leaf >= 0 || !find_kinds(plan, r->layout))
		return;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		add_key(plan, keys[i]);
	for (size_t i = 0; i < sizeof(weighed) / sizeof(weighed[0]); i++)
		add_weighed(plan, r->layout, weighed[i]);
	if (r->row->rule == RULE_CPU_TIME) /* that failed have no stack */
		add_weighed(plan, r->layout, &r->stack);
	if (r->row->rule == RULE_PARK) /* what they are parked for */
		add_weighed(plan, r->layout, &r->class);
	plan->has_start = r->start.leaf >= 0;
	if (plan->has_start)
		plan->start = look_field(r->layout, &r->start);
	if ((r->row->rule == RULE_BYTES || r->row->rule == RULE_TLAB) && plan->n_weighed == 1 &&
	    plan->weighed[0].index == r->weight.weight.leaf)
		plan->object_column = r->row->column;
	plan->is_wall = r->row->rule == RULE_WALL;
	plan->has_samples = r->weight.samples.leaf >= 0;
	if (plan->has_samples)
		plan->samples = look_field(r->layout, &r->weight.samples);
	plan->has_time_span = r->weight.time_span.leaf >= 0;
	if (plan->has_time_span)
		plan->time_span = look_field(r->layout, &r->weight.time_span);
	plan->is_of_tlab = r->row->rule == RULE_TLAB;
	plan->is_by_state = r->row->rule == RULE_EXECUTION;
	plan->n_fields = (uint8_t)layout_n_leaves(r->layout);
}

struct look_plan *moment_look_plan(struct moment_reader *r)
{
	return &r->look;
}

/* A bit where a field begins, but for the first, and behind the last one. */
static bool find_starts(const struct look_plan *plan, uint64_t bits, size_t len, uint8_t *starts)
{
	unsigned int n = plan->n_fields;

	starts[0] = 0;
	for (unsigned int i = 1; i <= n; i++, bits &= bits - 1) {
		if (!bits)
			return false;
		starts[i] = (uint8_t)__builtin_ctzll(bits);
	}
	for (uint32_t bytes = plan->bytes; bytes; bytes &= bytes - 1) {
		unsigned int i = (unsigned int)__builtin_ctz(bytes);

		if (starts[i + 1] - starts[i] != 1)
			return false;
	}
	return starts[n] == len; /* and no byte is behind them */
}

const struct look_shape *moment_look_shape(struct look_plan *plan, uint64_t ends, size_t len)
{
	struct look_shape *shape = look_shape_slot(plan, ends);

	shape->len = 0;
	if (field_ends_have_nine(ends, len) || !find_starts(plan, ends << 1, len, shape->starts))
		return NULL;
	shape->ends = ends;
	shape->len = (uint8_t)len;
	return shape;
}

static void look_at_wall(const struct moment_reader *r, const struct chunk *chunk,
			 const struct event *e, const struct moment_look *look,
			 const struct settings *settings, struct worth *out)
{
	const struct look_plan *plan = &r->look;
	int64_t n = plan->has_samples ? look_number(&plan->samples, e, look) : 0, span = 0;

	if (plan->has_time_span)
		span = place_value_ns(&r->weight.time_span, look_number(&plan->time_span, e, look),
				      chunk, 0);
	weigh_wall(settings, n, span, out);
}

bool moment_look_weigh(struct moment_reader *r, struct chunk *chunk, const struct event *e,
		       const struct moment_look *look, const struct settings *settings,
		       const char *state, struct worth *out)
{
	const struct look_plan *plan = &r->look;
	struct moment m; /* of which only what weights depend on is valid */

	if (plan->is_by_state) {
		weigh_execution(settings, state, out);
		return true;
	}
	if (plan->is_wall) {
		look_at_wall(r, chunk, e, look, settings, out);
		return true;
	}
	for (unsigned int i = 0; i < plan->n_weighed; i++)
		r->values[plan->weighed[i].index].n = look_number(&plan->weighed[i], e, look);
	m.row = r->row;
	m.chunk = chunk;
	m.fields = r->values;
	m.duration_ns = -1;
	if (r->duration.leaf >= 0)
		m.duration_ns = place_ns(&r->duration, r->values, chunk, -1);
	m.refs.stack = *r->keys[1];
	m.refs.class = *r->keys[3];
	m.is_sample = false;
	m.mark = NULL;
	m.worth = (struct worth){ 0 };
	weigh(&r->weight, &m, settings);
	*out = m.worth;
	return m.is_sample;
}
