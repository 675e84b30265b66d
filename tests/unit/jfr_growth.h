/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: a chunk that grows and is read flush by flush. Include after cmocka's header. */
#ifndef TESTS_UNIT_JFR_GROWTH_H
#define TESTS_UNIT_JFR_GROWTH_H

#include "jfr/jvms.h"
#include "jfr/piecewise.h"
#include "jfr/window.h"
#include "tests/unit/jfr_meaning.h"

#define NS(ns) (WRITER_START_NS + (ns))
#define GC_THREAD 9

enum shape { SAMPLE, SCOPE, SLEEP, LATE };

static const struct event_shape shapes[] = {
	[SAMPLE] = { 201,
		     "jdk.ExecutionSample",
		     { START_FIELD, SAMPLED_FIELD, STACK_FIELD, STATE_FIELD } },
	[SCOPE] = { 203,
		    "io.opentelemetry.context.Scope",
		    { START_FIELD, DURATION_FIELD, THREAD_FIELD, TEXT_FIELD("traceId"),
		      TEXT_FIELD("spanId") } },
	[SLEEP] = { 207, "jdk.ThreadSleep", { START_FIELD, DURATION_FIELD, THREAD_FIELD } },
	/* Registered when the chunk has begun. */
	[LATE] = { 208, "app.Late", { START_FIELD, THREAD_FIELD } },
};

/* What a JVM has written, and how far it was read. */
struct growth {
	struct meaning m;
	struct jvms jvms;
	struct window w;
	struct piecewise *f;
	struct chunk_header header;
	int fd;
	uint64_t from, max_events;
	int64_t hold_from_ns;
	struct held held;
	struct follow_result result;
};

/* A thread of the JVM itself. */
static inline void put_gc_thread(struct jfr_chunk *c)
{
	size_t at = checkpoint_begin(c, false, 1);

	put_pool(c->b, T_THREAD, 1);
	put_varint(c->b, GC_THREAD);
	put_string(c->b, 3, "GC");
	put_varint(c->b, 99);
	put_string(c->b, 0, NULL);
	put_varint(c->b, 0);
	put_varint(c->b, 0);
	put_u8(c->b, 0);
	event_end(c->b, at);
}

static inline void growth_begin(struct growth *g, size_t n_shapes)
{
	*g = (struct growth){ .fd = memfd_create("growth", MFD_CLOEXEC),
			      .from = CHUNK_HEADER_LEN,
			      .max_events = 1000,
			      .hold_from_ns = NOT_HELD };
	assert_int_equal(window_init(&g->w, -1), 0);
	meaning_begin(&g->m, shapes, n_shapes);
	put_gc_thread(&g->m.c);
	g->m.c.state = 1;
}

static inline void growth_end(struct growth *g)
{
	piecewise_free(g->f, false);
	held_deinit(&g->held);
	jvms_deinit(&g->jvms);
	window_deinit(&g->w);
	meaning_deinit(&g->m);
	close(g->fd);
}

/* The JVM commits what it wrote. */
static inline void flush(struct growth *g)
{
	const char *what;

	g->m.c.size = 0;
	jfr_chunk_end(&g->m.c);
	assert_int_equal(pwrite(g->fd, g->m.b.data, g->m.b.len, 0), g->m.b.len);
	assert_int_equal(
		chunk_header_parse(g->m.b.data + g->m.c.at, CHUNK_HEADER_LEN, &g->header, &what),
		0);
}

static inline void take_up(struct growth *g)
{
	struct interpreter *in;

	g->f = piecewise_new(&g->jvms, &g->w, "repository", g->m.c.at, &g->header);
	assert_non_null(g->f);
	in = &piecewise_jvm(g->f)->interpreter;
	in->groups = UINT32_MAX;
	in->is_ordered = true;
	in->n_sinks = 1;
	in->sinks[0] =
		(struct moment_sink){ .ctx = &g->m, .wants = meaning_wants, .take = meaning_take };
}

/* Reads what there is beyond what was read; the moments of this piece are in g->m. */
static inline int read_piece(struct growth *g)
{
	struct follow_piece p = { .fd = g->fd,
				  .header = &g->header,
				  .from = g->from,
				  .to = g->header.size,
				  .is_whole = true,
				  .max_events = g->max_events,
				  .held = &g->held,
				  .hold_from_ns = g->hold_from_ns };
	int err;

	if (!g->f)
		take_up(g);
	g->m.n = 0;
	err = piecewise_load(g->f, &p);
	if (!err)
		err = piecewise_read(g->f, &p, &g->result);
	if (err)
		return err;
	held_deinit(&g->held);
	g->held = g->result.held;
	g->from = g->result.to;
	return 0;
}

static inline void flush_and_read(struct growth *g)
{
	flush(g);
	assert_int_equal(read_piece(g), 0);
}

static inline void put_sample(struct growth *g, int64_t ns, int64_t thread)
{
	EVENT(&g->m, &shapes[SAMPLE], AT(ns), { .n = thread }, { .n = 1 }, { .n = 5 });
}

static inline void put_scope(struct growth *g, int64_t ns, int64_t duration, const char *span)
{
	EVENT(&g->m, &shapes[SCOPE], AT(ns), { .n = TICKS(duration) }, { .n = 1 },
	      { .text = "0af7651916cd43dd8448eb211c80319c" }, { .text = span });
}

#endif
