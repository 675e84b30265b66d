// SPDX-License-Identifier: Apache-2.0
#include "jfr/piecewise.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/clock.h"
#include "core/reader.h"
#include "jfr/chunk.h"
#include "jfr/jvms.h"
#include "jfr/metadata.h"
#include "jfr/names.h"
#include "jfr/window.h"
#include "jfr/wire.h"

#define ENOUGH (-ECANCELED)  /* the piece has its events */
#define CUT_HOLD_NS NS_PER_S /* events are at most so much out of order */

struct piecewise {
	struct jvms *jvms;
	struct jvm *jvm;
	struct window *window;
	struct chunk *chunk;
	struct event_types *types;
	struct event_visitor inner, visitor;
	uint64_t learned_to;	  /* settings and facts are known up to here */
	uint64_t n_left, stop_at; /* events; where the last one ended, in the file */
	int64_t hold_from_ns;	  /* of the piece */
	int64_t told_to_ns;	  /* events before this were told of by the pieces before */
	struct held held;
};

static void *bind(void *ctx, struct metadata *m, const struct jfr_type *type)
{
	struct piecewise *f = (struct piecewise *)ctx;

	return f->inner.bind(f->inner.ctx, m, type);
}

static void unbind(void *ctx, void *binding)
{
	struct piecewise *f = (struct piecewise *)ctx;

	f->inner.unbind(f->inner.ctx, binding);
}

static int visit(void *ctx, struct chunk *chunk, const struct event *e)
{
	struct piecewise *f = (struct piecewise *)ctx;
	int err = f->inner.event(f->inner.ctx, chunk, e);

	if (err || --f->n_left)
		return err;
	f->stop_at = e->at + e->size;
	return ENOUGH;
}

/* When it was written. */
static int64_t end_of(const struct moment *m)
{
	int64_t end;

	if (m->duration_ns < 0)
		return m->time_ns;
	return __builtin_add_overflow(m->time_ns, m->duration_ns, &end) ? INT64_MAX : end;
}

/* May it be in a scope that has not ended? Threads of the JVM itself are in none. */
static bool defers(void *ctx, struct moment *m)
{
	struct piecewise *f = (struct piecewise *)ctx;
	const struct java_thread *thread;

	if (!f->jvm->interpreter.has_scopes || *m->span_id || end_of(m) < f->hold_from_ns)
		return false;
	thread = moment_thread(m);
	return thread && thread->id && !held_add(&f->held, m->at - f->chunk->at);
}

struct piecewise *piecewise_new(struct jvms *jvms, struct window *w, const char *place, uint64_t at,
				const struct chunk_header *h)
{
	struct piecewise *f = (struct piecewise *)calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->jvms = jvms;
	f->window = w;
	f->learned_to = CHUNK_HEADER_LEN;
	f->jvm = jvms_get(jvms, place, h);
	f->chunk = chunk_new(w, at, h);
	if (!f->jvm || !f->chunk) {
		piecewise_free(f, false);
		return NULL;
	}
	f->chunk->older[0] = f->jvm->older[0];
	f->chunk->older[1] = f->jvm->older[1];
	names_doubt(f->chunk->older[0]);
	names_doubt(f->chunk->older[1]);
	f->inner = interpreter_visitor(&f->jvm->interpreter);
	f->visitor =
		(struct event_visitor){ .ctx = f, .bind = bind, .unbind = unbind, .event = visit };
	return f;
}

void piecewise_free(struct piecewise *f, bool is_read)
{
	if (!f)
		return;
	event_types_free(f->types);
	held_deinit(&f->held);
	if (is_read && f->chunk && f->chunk->names)
		jvm_keep(f->jvm, f->chunk);
	chunk_free(f->chunk);
	if (f->jvm)
		jvms_put(f->jvms, f->jvm);
	free(f);
}

struct jvm *piecewise_jvm(struct piecewise *f)
{
	return f->jvm;
}

void piecewise_forget(struct piecewise *f)
{
	if (f->chunk->names)
		names_forget(f->chunk->names);
	for (int i = 0; i < 2; i++)
		if (f->chunk->older[i])
			names_forget(f->chunk->older[i]);
}

static int learn_from(struct piecewise *f, struct event_types *types, uint64_t to)
{
	/* Nobody is told of anything: spans need not be known. */
	f->jvm->interpreter.has_scopes = false;
	return chunk_walk(f->chunk, types, f->learned_to, to);
}

/* Only what the interpreter itself wants. */
static int learn(struct piecewise *f, uint64_t to)
{
	struct interpreter *in = &f->jvm->interpreter;
	unsigned int n_sinks = in->n_sinks;
	struct event_types *types;
	int err;

	in->n_sinks = 0;
	types = event_types_new(f->chunk->metadata, &f->inner);
	err = types ? f->inner.begin(f->inner.ctx, f->chunk) : -ENOMEM;
	if (!err)
		err = learn_from(f, types, to);
	event_types_free(types);
	in->n_sinks = n_sinks;
	/* What is damaged is found again when it is told of. */
	f->chunk->n_damages = 0;
	if (!err)
		f->learned_to = to;
	return err;
}

/* For the next chunk of any JVM, which is compared with it byte by byte. */
static void share_metadata(struct piecewise *f)
{
	struct metadata *m = f->chunk->metadata;

	if (!m || m == f->jvms->common)
		return;
	metadata_unref(f->jvms->common);
	f->jvms->common = metadata_ref(m);
}

static int load_names(struct piecewise *f, const struct follow_piece *p)
{
	struct metadata *own = f->jvm->metadata, *known = own ? own : f->jvms->common;
	struct chunk *c = f->chunk;
	int err = p->is_whole ? chunk_load(c, p->to, known) : -EBADMSG;

	if (err == -EBADMSG)
		err = chunk_scan(c, p->to, known);
	/* What another JVM's events are says nothing about this one's. */
	if (err == -EBADMSG && own)
		err = chunk_assume(c, own, p->to);
	share_metadata(f);
	return err;
}

/* The metadata may have grown since. */
static int use_types(struct piecewise *f)
{
	if (f->types && event_types_metadata(f->types) == f->chunk->metadata)
		return 0;
	event_types_free(f->types);
	f->types = event_types_new(f->chunk->metadata, &f->visitor);
	return f->types ? 0 : -ENOMEM;
}

int piecewise_load(struct piecewise *f, const struct follow_piece *p)
{
	struct chunk *c = f->chunk;
	int err = 0;

	f->window->fd = p->fd;
	window_forget(f->window);
	c->header = f->jvm->reading = *p->header;
	if (c->loaded_to < p->to || !c->metadata)
		err = load_names(f, p);
	if (!err && c->names)
		names_update(c->names);
	for (int i = 0; i < 2; i++)
		if (c->older[i])
			names_update(c->older[i]);
	if (!err && f->learned_to < p->to && f->learned_to == CHUNK_HEADER_LEN)
		err = learn(f, p->to);
	return err ? err : use_types(f);
}

static void tell_damages(struct piecewise *f, uint64_t to, struct follow_result *result)
{
	const struct chunk *c = f->chunk;

	for (size_t i = 0; i < c->n_damages; i++) {
		if (!result->lost) {
			result->lost_at = c->damages[i].at;
			result->what = c->damages[i].what;
		}
		result->lost += c->damages[i].len;
	}
	/* Some damage begins in the middle of an event: nobody can go on there. */
	if (c->cut_at && f->stop_at > c->at + c->cut_at && f->stop_at == c->at + to)
		result->cut = to - c->cut_at;
	f->chunk->n_damages = 0;
}

/* One that was held: where it is nobody has changed anything since. */
static int read_held(struct piecewise *f, uint64_t at, uint64_t to)
{
	struct event e = { .at = f->chunk->at + at };
	uint64_t size, type;
	int err = chunk_head(f->chunk, at, to, &size, &type);

	if (err == -EBADMSG || (!err && size > WINDOW_MAX))
		return chunk_note(f->chunk, at, at + 1, "an event that changed while it waited");
	e.type = err ? NULL : event_types_find(f->types, type);
	if (err || !e.type || !e.type->binding)
		return err;
	e.size = (uint32_t)size;
	err = chunk_event_fields(f->chunk, &e);
	if (!err)
		err = f->inner.event(f->inner.ctx, f->chunk, &e);
	return err == -EBADMSG ? chunk_note(f->chunk, at, at + size, "an event that is damaged")
			       : err;
}

static int read_all(struct piecewise *f, const struct follow_piece *p)
{
	int err = 0;

	for (size_t i = 0; p->held && i < p->held->n && !err; i++)
		err = read_held(f, p->held->at[i], p->from);
	if (!err)
		err = chunk_walk(f->chunk, f->types, p->from, p->to);
	return err == ENOUGH ? 0 : err;
}

/* Scopes of which something was told of without their span. */
static uint64_t count_late(const struct piecewise *f)
{
	const struct spans *spans = &f->jvm->interpreter.spans;
	uint64_t n = 0;

	for (size_t i = 0; i < spans->n; i++)
		n += !spans->items[i].is_late && spans->items[i].start_ns < f->told_to_ns;
	return n;
}

/* A piece that ends early has no flush as its end: its newest event says when it was. */
static void end_early(struct piecewise *f)
{
	const struct event_order *order = &f->jvm->interpreter.order;
	int64_t newest = INT64_MIN + (int64_t)CUT_HOLD_NS;

	for (size_t i = 0; i < order->n; i++)
		if (order->items[i].time_ns > newest)
			newest = order->items[i].time_ns;
	f->hold_from_ns = newest - (int64_t)CUT_HOLD_NS;
}

static void finish(struct piecewise *f, struct follow_result *result)
{
	const struct chunk_header *h = &f->chunk->header;
	int64_t end = chunk_header_end_ns(h);

	result->n_late_scopes = count_late(f);
	f->told_to_ns = f->hold_from_ns < end ? f->hold_from_ns : end;
	held_sort(&f->held);
	result->held = f->held;
	f->held = (struct held){ 0 };
}

int piecewise_read(struct piecewise *f, const struct follow_piece *p, struct follow_result *result)
{
	struct interpreter *in = &f->jvm->interpreter;
	int err = f->inner.begin(f->inner.ctx, f->chunk), end_err;

	f->window->fd = p->fd;
	f->n_left = p->max_events;
	f->stop_at = f->chunk->at + p->to;
	f->hold_from_ns = p->hold_from_ns;
	f->held.n = 0;
	f->chunk->cut_at = 0;
	in->defers = defers;
	in->defers_ctx = f;
	if (!err)
		err = read_all(f, p);
	if (!f->n_left)
		end_early(f);
	end_err = f->inner.end(f->inner.ctx, f->chunk, f->types);
	in->defers = NULL;
	event_types_reset(f->types);
	*result = (struct follow_result){ .to = f->stop_at - f->chunk->at };
	tell_damages(f, p->to, result);
	if (!err)
		err = end_err;
	if (!err)
		finish(f, result);
	/* Many JVMs are followed: none keeps what it needs for a piece only. */
	event_order_deinit(&in->order);
	spans_deinit(&in->spans);
	return err;
}
