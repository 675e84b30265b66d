// SPDX-License-Identifier: Apache-2.0
#include "jfr/moment.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/intern.h"
#include "jfr/chunk.h"
#include "jfr/moment_reader.h"
#include "jfr/settings.h"

static void find_fields(struct moment_reader *r)
{
	static const char *const threads[] = { "sampledThread", "eventThread", "thread", NULL };
	static const char *const trace_ids[] = { "traceId", "trace_id", NULL };
	static const char *const span_ids[] = { "spanId", "span_id", NULL };
	static const char *const modes[] = { "mode", "biased", NULL };
	const struct layout *l = r->layout;

	r->start = place_find(l, "startTime");
	r->duration = place_find(l, "duration");
	r->thread = place_find_first(l, threads);
	r->stack = place_find(l, "stackTrace");
	r->state = place_find(l, "state");
	r->class = place_find(l, r->row->class);
	r->mode = place_find_first(l, modes);
	r->operation = place_find(l, "_dd.trace.operation");
	r->trace_id = place_find_first(l, trace_ids);
	r->trace_high = place_find(l, "traceIdHi");
	r->trace_low = place_find(l, "traceIdLo");
	r->span_id = place_find_first(l, span_ids);
	r->root_id = place_find(l, "localRootSpanId");
	r->operation_name = place_find(l, "operationName");
	r->has_ids = r->trace_id.leaf >= 0 || r->trace_high.leaf >= 0 || r->trace_low.leaf >= 0 ||
		     r->span_id.leaf >= 0 || r->root_id.leaf >= 0;
	r->weight = weight_places(l, r->row);
}

static void find_keys(struct moment_reader *r)
{
	const struct place *const places[] = { &r->thread, &r->stack, &r->state, &r->class };
	static const int64_t none;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		r->keys[i] = place_refers(places[i]) ? &r->values[places[i]->leaf].n : &none;
}

struct moment_reader *moment_reader_new(const struct jfr_type *type, const struct event_row *row,
					int *err)
{
	struct moment_reader *r = calloc(1, sizeof(*r));

	*err = -ENOMEM;
	if (!r)
		return NULL;
	r->type = type;
	r->row = row;
	r->layout = layout_new(type, err);
	if (r->layout)
		r->values = calloc(layout_n_leaves(r->layout) + 1, sizeof(*r->values));
	if (!r->values) {
		moment_reader_free(r);
		return NULL;
	}
	find_fields(r);
	find_keys(r);
	moment_look_init(r);
	return r;
}

void moment_reader_free(struct moment_reader *r)
{
	if (!r)
		return;
	layout_free(r->layout);
	free(r->values);
	free(r->room.text);
	free(r);
}

static const char *text(const struct moment_reader *r, struct chunk *c, const struct place *p)
{
	return place_refers(p) ? names_text(c, p->type, r->values[p->leaf].n) : "";
}

/* "STATE_RUNNABLE" of HotSpot and "RUNNABLE" of others are one word. */
static const char *state_text(const char *state)
{
	return strncmp(state, "STATE_", 6) ? state : state + 6;
}

const struct java_thread *moment_thread(struct moment *m)
{
	const struct place *p = &m->reader->thread;

	if (!m->has_thread && place_refers(p))
		m->thread = names_thread(m->chunk, p->type, m->refs.thread);
	m->has_thread = true;
	return m->thread;
}

void moment_stack(struct moment *m)
{
	const struct place *p = &m->reader->stack;

	if (!m->has_stack && place_refers(p)) {
		m->stack = names_stack(m->chunk, p->type, m->refs.stack);
		m->is_stack_missing = !m->stack && !names_is_none(m->refs.stack);
	}
	m->has_stack = true;
}

const char *moment_state(struct moment *m)
{
	if (!m->has_state)
		m->state = state_text(text(m->reader, m->chunk, &m->reader->state));
	m->has_state = true;
	return m->state;
}

/* Most have classes that are constants, some their names. */
static const char *class_text(struct moment_reader *r, struct chunk *c)
{
	if (r->class.leaf < 0 || r->class.kind != VALUE_STRING)
		return text(r, c, &r->class);
	return names_string(c, &r->values[r->class.leaf].string, &r->room);
}

static void name_rest(struct moment *m, struct moment_reader *r)
{
	m->class = class_text(r, m->chunk);
	m->operation = text(r, m->chunk, &r->operation);
	m->mode = text(r, m->chunk, &r->mode);
	if (r->mode.leaf >= 0 && r->mode.kind == VALUE_NUMBER && r->values[r->mode.leaf].n)
		m->mode = "biased";
}

void moment_name(struct moment *m)
{
	moment_thread(m);
	moment_stack(m);
	moment_state(m);
	if (!m->has_class)
		name_rest(m, m->reader);
	m->has_class = true;
}

/* States and modes have small keys. */
#define MODE_SHIFT 48

/* Operations are constants as classes are: their keys have no room beside another one. */
static int64_t key_of_both(int64_t a, int64_t b)
{
	const int64_t both[] = { a, b };

	return (int64_t)hash_bytes(both, sizeof(both));
}

/* What tells the names of classes apart. */
static int64_t string_key(const struct wire_string *s)
{
	return (int64_t)(hash_bytes(s->bytes, s->len) ^ (uint64_t)s->key ^ s->encoding);
}

/* One by one, as all else of a moment: what is put together elsewhere and copied in wider words has
   to wait for the narrow ones. */
static void read_refs(const struct moment_reader *r, struct moment_refs *refs)
{
	refs->thread = *r->keys[0];
	refs->stack = *r->keys[1];
	refs->state = *r->keys[2];
	refs->class = *r->keys[3];
	refs->of = r;
	refs->span = 0;
	if (r->mode.leaf >= 0)
		refs->state ^= (int64_t)((uint64_t)place_number(&r->mode, r->values) << MODE_SHIFT);
	if (place_key(&r->operation, r->values))
		refs->state = key_of_both(refs->state, place_key(&r->operation, r->values));
	if (r->class.leaf >= 0 && r->class.kind == VALUE_STRING)
		refs->class = string_key(&r->values[r->class.leaf].string);
}

static inline bool is_hexadecimal(uint8_t c)
{
	return (uint8_t)(c - '0') < 10 || (uint8_t)((c | 0x20) - 'a') < 6;
}

/* Sixteen bytes at once: most ids are one or two of them. */
typedef uint8_t digits16 __attribute__((vector_size(16)));

static inline bool has_any(digits16 d)
{
	uint64_t halves[2];

	memcpy(halves, &d, sizeof(halves));
	return halves[0] | halves[1];
}

static inline digits16 other_digits(digits16 d)
{
	return (digits16)((d - '0' >= 10) & ((d | 0x20) - 'a' >= 6));
}

/* An id that is not nothing but zeros; digits are the same byte in all encodings. */
static bool take_id(const void *bytes, size_t len, char *out, size_t size)
{
	const uint8_t *id = bytes;
	digits16 some, others = { 0 }, set = { 0 };
	bool is_id = true, is_zero = true;
	size_t i = 0;

	if (len >= size)
		return false;
	for (; i + sizeof(some) <= len; i += sizeof(some)) {
		memcpy(&some, id + i, sizeof(some));
		others |= other_digits(some);
		set |= some ^ '0';
	}
	for (; i < len; i++) {
		is_id &= is_hexadecimal(id[i]);
		is_zero &= id[i] == '0';
	}
	if (!is_id || has_any(others) || (is_zero && !has_any(set)))
		return false;
	memcpy(out, id, len);
	out[len] = '\0';
	return true;
}

/* An id that is written as text, or as a number of 64 bits. What a JVM writes more than once is a
   constant of its. */
static void read_id(const struct moment_reader *r, struct chunk *c, const struct place *p,
		    char *out, size_t size)
{
	const struct jfr_value *v = &r->values[p->leaf];
	char buf[128];
	struct text_room room = { .text = buf, .cap = sizeof(buf) };
	struct wire_string string;
	const char *id;

	if (p->kind == VALUE_NUMBER && v->n)
		snprintf(out, size, "%016" PRIx64, (uint64_t)v->n);
	if (p->kind != VALUE_STRING || wire_string_room(&v->string) >= sizeof(buf))
		return;
	string = v->string;
	if (string.encoding == WIRE_POOLED)
		names_pooled_string(c, string.key, &string);
	if (take_id(string.bytes, string.len, out, size))
		return;
	id = names_string(c, &v->string, &room);
	take_id(id, strlen(id), out, size);
}

static void read_span(const struct moment_reader *r, struct chunk *c, struct moment *m)
{
	uint64_t high = (uint64_t)place_number(&r->trace_high, r->values),
		 low = (uint64_t)place_number(&r->trace_low, r->values);

	if (r->trace_id.leaf >= 0)
		read_id(r, c, &r->trace_id, m->trace_id, sizeof(m->trace_id));
	if (r->span_id.leaf >= 0)
		read_id(r, c, &r->span_id, m->span_id, sizeof(m->span_id));
	if (r->root_id.leaf >= 0)
		read_id(r, c, &r->root_id, m->root_id, sizeof(m->root_id));
	if (!*m->trace_id && (high || low))
		snprintf(m->trace_id, sizeof(m->trace_id), "%016" PRIx64 "%016" PRIx64, high, low);
}

int moment_time(struct moment_reader *r, const struct chunk *chunk, const struct event *e,
		int64_t *time_ns)
{
	struct reader in;

	reader_init(&in, e->fields, e->fields_len);
	if (layout_read_padded(r->layout, &in, r->values) || !reader_at_end(&in))
		return -EBADMSG;
	*time_ns = place_ns(&r->start, r->values, chunk, chunk->header.start_ns);
	return 0;
}

int64_t moment_start(const struct moment *m)
{
	const struct place *p = &m->reader->start;

	return p->leaf < 0 ? 0 : m->fields[p->leaf].n;
}

int64_t moment_start_ns(const struct moment_refs *refs, const struct chunk *chunk, int64_t start)
{
	const struct moment_reader *r = refs->of;

	if (r->start.leaf < 0)
		return chunk->header.start_ns;
	return place_value_ns(&r->start, start, chunk, chunk->header.start_ns);
}

/* One by one: clearing the whole of it would cost more than all that is read. */
static void forget(struct moment *m)
{
	m->has_thread = m->has_stack = m->has_state = m->has_class = false;
	m->is_stack_missing = m->is_sample = false;
	m->spans = NULL;
	m->thread = NULL;
	m->stack = NULL;
	m->mark = NULL;
	m->state = m->class = m->mode = m->operation = m->tag = m->span_name = "";
	m->column = COLUMN_SAMPLES;
	m->worth = (struct worth){ 0 };
	m->trace_id[0] = m->span_id[0] = m->root_id[0] = '\0';
}

int moment_read(struct moment_reader *r, struct chunk *chunk, const struct event *e,
		const struct settings *settings, struct moment *m)
{
	struct reader in;

	reader_init(&in, e->fields, e->fields_len);
	if (layout_read_padded(r->layout, &in, r->values) || !reader_at_end(&in))
		return -EBADMSG;
	m->row = r->row;
	m->type = r->type;
	m->chunk = chunk;
	m->at = e->at;
	m->layout = r->layout;
	m->fields = r->values;
	forget(m);
	m->time_ns = place_ns(&r->start, r->values, chunk, chunk->header.start_ns);
	m->duration_ns = -1;
	if (r->duration.leaf >= 0)
		m->duration_ns = place_ns(&r->duration, r->values, chunk, -1);
	read_refs(r, &m->refs);
	m->reader = r;
	if (r->has_ids)
		read_span(r, chunk, m);
	weigh(&r->weight, m, settings);
	return 0;
}
