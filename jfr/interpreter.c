// SPDX-License-Identifier: Apache-2.0
#include "jfr/interpreter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jfr/chunk.h"
#include "jfr/late_scopes.h"
#include "jfr/moment_field.h"
#include "jfr/moment_look.h"
#include "jfr/scope_event.h"
#include "jfr/setting_event.h"

#define FEW_PERIODS 256 /* of which the shortest is nearly always the true one */

enum use {
	USE_SINKS,
	USE_SETTING,
	USE_DATADOG_SETTING,
	USE_PERIOD,
	USE_FACT,
	USE_SCOPE,
	USE_SPAN_NAME
};

/* What is known of an event type. */
struct binding {
	enum use use;
	struct event_row row;
	bool is_wanted[MAX_SINKS], is_for_sinks;
	bool needs_spans; /* for some of them */
	int only;	  /* the one that wants it, if that can recall events; -1: it is not so */
	struct moment_reader *reader;
	struct unread unread;
};

static enum use use_of(const char *type)
{
	if (!strcmp(type, "jdk.ActiveSetting"))
		return USE_SETTING;
	if (!strcmp(type, "datadog.DatadogProfilerConfig") ||
	    !strcmp(type, "datadog.ProfilerSetting"))
		return USE_DATADOG_SETTING;
	if (!strcmp(type, "jdk.CPUTimeSample"))
		return USE_PERIOD;
	if (scope_event_is(type))
		return USE_SCOPE;
	if (scope_event_names(type))
		return USE_SPAN_NAME;
	return jvm_facts_wants(type) ? USE_FACT : USE_SINKS;
}

static bool is_of_scopes(enum use use)
{
	return use == USE_SCOPE || use == USE_SPAN_NAME;
}

/* Does the interpreter itself need to know? Where scopes are looked for only whose they are. */
static bool is_own(const struct interpreter *in, enum use use)
{
	return use != USE_SINKS && (!in->found || use == USE_FACT || is_of_scopes(use));
}

static bool is_wanted(struct interpreter *in, struct binding *b, const struct jfr_type *type)
{
	bool is_named = in->events && event_list_has(in->events, type->name);
	bool is_asked_for;

	b->row = *event_row_find(type->name);
	if (is_named && in->names_samples && jfr_type_field(type, "stackTrace") >= 0)
		b->row = event_row_named(type->name);
	is_asked_for = is_named || in->groups >> b->row.group & 1;
	for (unsigned int i = 0; i < in->n_sinks && !in->is_mute; i++) {
		const struct moment_sink *s = &in->sinks[i];

		b->is_wanted[i] = is_asked_for && (!s->wants || s->wants(s->ctx, &b->row));
		b->is_for_sinks |= b->is_wanted[i];
		b->needs_spans |= b->is_wanted[i] && !s->finds_spans;
	}
	return b->is_for_sinks || is_own(in, b->use);
}

/* The only one who hears of events of a type, if these may be known to it without being read: not
   if they wait, as what they are worth then is not what it was for those that look the same. */
static int only_sink(const struct interpreter *in, const struct binding *b)
{
	int only = -1;

	for (unsigned int i = 0; i < in->n_sinks; i++) {
		if (b->is_wanted[i] && only >= 0)
			return -1;
		if (b->is_wanted[i])
			only = (int)i;
	}
	if (only < 0 || b->use != USE_SINKS || b->needs_spans || b->row.rule == RULE_CPU_LOST)
		return -1;
	return in->sinks[only].recall ? only : -1;
}

/* What is found out about a type stays with how its events are read. */
static struct binding *keep_binding(struct interpreter *in, const struct binding *b,
				    const struct jfr_type *type)
{
	struct binding *kept = malloc(sizeof(*kept));
	int err;

	if (!kept)
		return NULL;
	*kept = *b;
	kept->reader = moment_reader_new(type, &kept->row, &err);
	if (!kept->reader) {
		free(kept);
		return NULL;
	}
	kept->unread = (struct unread){
		.reader = kept->reader,
		.plan = moment_look_plan(kept->reader),
		.settings = &in->settings,
		.has_scopes = &in->has_scopes,
		.spans = &in->spans,
	};
	return kept;
}

static void *bind(void *ctx, struct metadata *m, const struct jfr_type *type)
{
	struct interpreter *in = ctx;
	struct binding b = { .use = use_of(type->name) };

	(void)m;
	if (!is_wanted(in, &b, type))
		return NULL;
	b.only = only_sink(in, &b);
	return keep_binding(in, &b, type);
}

static void unbind(void *ctx, void *binding)
{
	struct binding *b = binding;

	(void)ctx;
	moment_reader_free(b->reader);
	free(b);
}

/* What the interpreter itself needs to know. */
static void take_own(struct interpreter *in, const struct binding *b, const struct moment *m)
{
	if (b->use == USE_SETTING)
		setting_event_take(&in->settings, m);
	if (b->use == USE_DATADOG_SETTING)
		setting_event_take_datadog(&in->settings, m);
	if (b->use == USE_PERIOD)
		settings_note_sampled(&in->settings, worth_value(&m->worth, COLUMN_CPU));
	if (b->use == USE_FACT) {
		jvm_facts_take(&in->facts, m);
		in->settings.n_cpus = jvm_facts_n_cpus(&in->facts);
	}
}

/* Whether there is such a thread is also asked of moments at other times, until one is its. */
static bool is_in_range(struct interpreter *in, struct moment *m)
{
	bool is_in_time = (!in->from_ns || m->time_ns >= in->from_ns) &&
			  (!in->to_ns || m->time_ns < in->to_ns);

	if (!in->thread || (!is_in_time && in->has_thread))
		return is_in_time;
	if (!moment_is_of_thread(m, in->thread))
		return false;
	in->has_thread = true;
	return is_in_time;
}

static int take_scope(struct interpreter *in, struct moment *m)
{
	const struct java_thread *thread;
	struct span_scope scope;
	struct span_ids ids;

	if (!scope_event_read(m, &scope, &ids))
		return 0;
	if (!in->found)
		return spans_add(&in->spans, &scope);
	thread = moment_thread(m);
	return !thread ? 0
		       : late_scopes_add(in->found, late_owner(&in->facts, in->file), m->chunk,
					 thread, &scope);
}

static void find_span(struct interpreter *in, struct moment *m)
{
	const struct span_scope *scope;
	const char *name;

	if (!in->spans.n || *m->trace_id || *m->span_id || !m->refs.thread)
		return;
	scope = spans_find(&in->spans, (uint64_t)m->refs.thread, m->time_ns);
	if (!scope)
		return;
	m->refs.span = scope->id;
	name = spans_name(&in->spans, scope);
	m->span_name = name ? name : "";
	m->tag = scope->ids->tag ? scope->ids->tag : "";
	memcpy(m->trace_id, scope->ids->trace_id, sizeof(m->trace_id));
	memcpy(m->span_id, scope->ids->span_id, sizeof(m->span_id));
}

static int tell(struct interpreter *in, const struct binding *b, struct moment *m)
{
	int err = 0;

	if (!is_in_range(in, m)) {
		in->n_left_out++;
		return 0;
	}
	if (in->defers && in->defers(in->defers_ctx, m))
		return 0;
	for (unsigned int i = 0; i < in->n_sinks && !err; i++)
		if (b->is_wanted[i])
			err = in->sinks[i].take(in->sinks[i].ctx, m);
	return err;
}

/* Tells of the events that wait, in their order. */
static int tell_waiting(struct interpreter *in, struct chunk *chunk)
{
	int err = 0;

	if (in->is_ordered)
		event_order_sort(&in->order);
	spans_sort(&in->spans);
	for (size_t i = 0; i < in->order.n && !err; i++) {
		const struct ordered_event *o = &in->order.items[i];
		struct event e = { .type = o->type, .at = o->at, .size = o->size };
		const struct binding *b = o->type->binding;
		struct moment m;

		e.fields = event_order_fields(&in->order, o, &e.fields_len);
		if (!e.fields)
			err = chunk_event_fields(chunk, &e);
		if (!err)
			err = moment_read(b->reader, chunk, &e, &in->settings, &m);
		if (!err) {
			find_span(in, &m);
			err = tell(in, b, &m);
		} else if (err == -EBADMSG) /* the file changed under us */
			err = chunk_note(chunk, e.at - chunk->at, e.at - chunk->at + e.size,
					 "an event that changed while it was read");
	}
	event_order_clear(&in->order);
	return err;
}

static int wait_for_order(struct interpreter *in, struct chunk *chunk, const struct event *e)
{
	const struct binding *b = e->type->binding;
	struct ordered_event o = { .at = e->at, .size = e->size, .type = e->type };
	int err = moment_time(b->reader, chunk, e, &o.time_ns);

	if (!err)
		err = event_order_add(&in->order, &o, e->fields, e->fields_len);
	if (!err && in->order.n >= MAX_ORDERED)
		err = tell_waiting(in, chunk);
	return err;
}

/* Is it worth what the shortest period of all samples says, of which some come behind it? */
static bool waits_for_period(const struct interpreter *in, const struct binding *b)
{
	return b->row.rule == RULE_CPU_LOST && in->settings.cpu_time_share_ns;
}

/* Does it wait until the order of the chunk's events is known, or their spans, or their worth? */
static bool waits(const struct interpreter *in, const struct binding *b)
{
	return !in->is_mute &&
	       (in->is_ordered || (in->has_scopes && b->needs_spans) || waits_for_period(in, b));
}

/* 1: nobody knows it without its being read. */
static int recall(struct interpreter *in, const struct binding *b, struct chunk *chunk,
		  const struct event *e)
{
	if (!in->can_recall || in->defers)
		return 1;
	return in->sinks[b->only].recall(in->sinks[b->only].ctx, chunk, e, &b->unread);
}

/* Scopes that began in an earlier chunk are of use to whoever reads that. 1: this one did not. */
static int check_late(const struct binding *b, const struct chunk *chunk, const struct event *e)
{
	int64_t time_ns;
	int err = moment_time(b->reader, chunk, e, &time_ns);

	return err ? err : time_ns >= chunk->header.start_ns;
}

static int read_event(struct interpreter *in, struct chunk *chunk, const struct event *e)
{
	const struct binding *b = e->type->binding;
	struct moment m;
	int err = 0;

	if (b->use == USE_SINKS && waits(in, b))
		return wait_for_order(in, chunk, e);
	if (is_of_scopes(b->use) && !in->has_scopes && !b->is_for_sinks)
		return 0;
	if (in->found && is_of_scopes(b->use))
		err = check_late(b, chunk, e);
	if (!err)
		err = moment_read(b->reader, chunk, e, &in->settings, &m);
	if (err)
		return err == 1 ? 0 : err;
	if (b->use != USE_SINKS)
		take_own(in, b, &m);
	if (b->use == USE_SCOPE && in->has_scopes)
		err = take_scope(in, &m);
	if (b->use == USE_SPAN_NAME && in->has_scopes)
		err = scope_event_read_name(&m, in->found ? &in->found->names : &in->spans.names);
	if (err || !b->is_for_sinks)
		return err;
	if (waits(in, b))
		return wait_for_order(in, chunk, e);
	if (in->has_scopes && m.refs.thread && !*m.trace_id && !*m.span_id)
		m.spans = &in->spans;
	return tell(in, b, &m);
}

static int visit(void *ctx, struct chunk *chunk, const struct event *e)
{
	struct interpreter *in = ctx;
	const struct binding *b = e->type->binding;
	int err = b->only >= 0 ? recall(in, b, chunk, e) : 1;

	return err == 1 ? read_event(in, chunk, e) : err;
}

static void *bind_preview(void *ctx, struct metadata *m, const struct jfr_type *type)
{
	struct binding b = { .use = use_of(type->name), .only = -1 };

	(void)m;
	if (!is_own(ctx, b.use) || is_of_scopes(b.use))
		return NULL;
	b.row = *event_row_find(type->name);
	return keep_binding(ctx, &b, type);
}

static int visit_preview(void *ctx, struct chunk *chunk, const struct event *e)
{
	const struct binding *b = e->type->binding;
	struct interpreter *in = ctx;
	struct moment m;
	int err;

	/* Before a rate is known they say nothing. */
	if (b->use == USE_PERIOD &&
	    (!in->settings.cpu_time_share_ns || in->n_periods++ >= FEW_PERIODS))
		return 0;
	err = moment_read(b->reader, chunk, e, &in->settings, &m);
	if (!err)
		take_own(in, b, &m);
	return err;
}

static bool knows_whose(void *ctx)
{
	return ((struct interpreter *)ctx)->facts.pid;
}

/* What the weight of the first samples depends on, and whose they are, may come behind them. */
static int preview(struct interpreter *in, struct chunk *chunk)
{
	if (in->previewed && event_types_metadata(in->previewed) != chunk->metadata) {
		event_types_free(in->previewed);
		in->previewed = NULL;
	}
	in->preview_visitor = (struct event_visitor){
		.ctx = in, .bind = bind_preview, .unbind = unbind, .event = visit_preview
	};
	in->n_periods = 0;
	if (!in->previewed)
		in->previewed = event_types_new(chunk->metadata, &in->preview_visitor);
	return in->previewed ? chunk_preview(chunk, in->previewed, knows_whose, in) : -ENOMEM;
}

static void set_writer(struct interpreter *in, const struct chunk *chunk)
{
	in->settings.is_async_profiler = metadata_by_name(chunk->metadata, "profiler.Log") != NULL;
}

/* Does it say that it is of another JVM than the chunk before? */
static bool is_of_another_jvm(struct interpreter *in)
{
	int64_t pid = in->jvm_pid, start_ms = in->jvm_start_ms;

	in->jvm_pid = in->facts.pid;
	in->jvm_start_ms = in->facts.start_ms;
	return pid && (in->facts.pid != pid || in->facts.start_ms != start_ms);
}

/* Names and settings stay from chunk to chunk, but not from one JVM to another. */
static int begin_chunk(struct interpreter *in, struct chunk *chunk)
{
	int64_t pid = in->facts.pid;
	int err;

	set_writer(in, chunk);
	settings_begin_chunk(&in->settings);
	err = preview(in, chunk);
	if (err || !is_of_another_jvm(in))
		return err;
	chunk_forget_older(chunk);
	if (!pid)
		return 0;
	in->settings = (struct settings){ 0 };
	set_writer(in, chunk);
	return preview(in, chunk);
}

/* Scopes and names that are written in later chunks. */
static int borrow_late(struct interpreter *in, struct chunk *chunk)
{
	int err = late_scopes_lend(in->late, late_owner(&in->facts, in->file), chunk, &in->spans);

	in->spans.later = &in->late->names;
	in->has_scopes |= in->spans.n > 0;
	return err;
}

static int begin(void *ctx, struct chunk *chunk)
{
	struct interpreter *in = ctx;
	int err = 0;

	in->has_scopes =
		!in->is_mute && scope_events_in(chunk->metadata, names_constants(chunk->names));
	event_order_clear(&in->order);
	spans_clear(&in->spans);
	if (in->chunk_ns != chunk->header.start_ns || in->chunk_ticks != chunk->header.start_ticks)
		err = begin_chunk(in, chunk);
	set_writer(in, chunk);
	in->chunk_ns = chunk->header.start_ns;
	in->chunk_ticks = chunk->header.start_ticks;
	if (!err && in->late && !in->is_mute)
		err = borrow_late(in, chunk);
	for (unsigned int i = 0; i < in->n_sinks && !in->is_mute; i++)
		if (in->sinks[i].begin)
			in->sinks[i].begin(in->sinks[i].ctx, chunk);
	/* A range may count from the first chunk's beginning, which a sink was told just now. */
	in->can_recall =
		!in->is_mute && !in->is_ordered && !in->from_ns && !in->to_ns && !in->thread;
	return err || !in->found || in->has_scopes ? err : 1;
}

static int end(void *ctx, struct chunk *chunk, struct event_types *types)
{
	struct interpreter *in = ctx;
	int err = tell_waiting(in, chunk);

	for (unsigned int i = 0; i < in->n_sinks && !in->is_mute; i++)
		if (in->sinks[i].end)
			in->sinks[i].end(in->sinks[i].ctx, chunk, types);
	return err;
}

static struct metadata *known(void *ctx)
{
	return ((struct interpreter *)ctx)->known;
}

void interpreter_deinit(struct interpreter *in)
{
	metadata_unref(in->known);
	event_types_free(in->previewed);
	event_order_deinit(&in->order);
	spans_deinit(&in->spans);
}

bool interpreter_is_as(const struct interpreter *a, const struct interpreter *b)
{
	return a->from_ns == b->from_ns && a->to_ns == b->to_ns && a->chunk_ns == b->chunk_ns &&
	       a->chunk_ticks == b->chunk_ticks && settings_equal(&a->settings, &b->settings) &&
	       jvm_facts_equal(&a->facts, &b->facts);
}

struct event_visitor interpreter_visitor(struct interpreter *in)
{
	return (struct event_visitor){
		.ctx = in,
		.bind = bind,
		.unbind = unbind,
		.begin = begin,
		.end = end,
		.known = known,
		.event = visit,
	};
}
