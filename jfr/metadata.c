// SPDX-License-Identifier: Apache-2.0
#include "jfr/metadata.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/array.h"
#include "core/scoped.h"
#include "jfr/element.h"
#include "jfr/wire.h"

#define MAX_DEPTH 16	  /* of elements; writers need five */
#define MAX_LEN (8 << 20) /* of a metadata event; JDK 25 needs 110 kB */
#define NEAR_IDS 4096	  /* JVMs give out some hundreds, and agents' go on from there */

struct metadata {
	atomic_uint refs;
	struct arena arena;
	struct jfr_type *types; /* by id */
	struct jfr_field *fields;
	size_t n_types, n_fields, types_cap, fields_cap;
	uint16_t by_id[NEAR_IDS]; /* index + 1 of those that fit; 0: it is to be looked for */
	uint16_t heads[1 << 16];
	uint8_t *body; /* behind the header of its event */
	size_t body_len;
};

struct annotation { /* of a field */
	size_t field;
	uint64_t class_id;
	const char *value;
};

struct parser {
	struct metadata *m;
	struct element_reader in;
	struct annotation *annotations;
	size_t n_annotations, annotations_cap;
	size_t type; /* which one the element belongs to, or NO_TYPE */
	bool in_field;
};

#define NO_TYPE SIZE_MAX

static void add_type(struct parser *p, const struct element *e)
{
	struct metadata *m = p->m;
	struct jfr_type *t;

	if (ARRAY_RESERVE(m->types, m->types_cap, m->n_types)) {
		reader_fail(&p->in.r, -ENOMEM, "types");
		return;
	}
	t = &m->types[m->n_types];
	*t = (struct jfr_type){ 0 };
	t->id = element_id(&p->in, e, WORD_ID);
	t->name = element_text(e, WORD_NAME);
	t->super = element_text(e, WORD_SUPER_TYPE);
	t->is_simple = element_is(e, WORD_SIMPLE_TYPE);
	t->is_event = !strcmp(t->super, "jdk.jfr.Event");
	p->type = m->n_types++;
	if (!*t->name)
		reader_fail(&p->in.r, -EBADMSG, "type without a name");
}

static void add_field(struct parser *p, const struct element *e)
{
	const char *dimension = element_text(e, WORD_DIMENSION);
	struct metadata *m = p->m;
	struct jfr_field *f;

	if (ARRAY_RESERVE(m->fields, m->fields_cap, m->n_fields)) {
		reader_fail(&p->in.r, -ENOMEM, "fields");
		return;
	}
	f = &m->fields[m->n_fields++];
	*f = (struct jfr_field){ 0 };
	f->name = element_text(e, WORD_NAME);
	f->type_id = element_id(&p->in, e, WORD_CLASS);
	f->is_constant = element_is(e, WORD_CONSTANT_POOL);
	f->is_array = *dimension && strcmp(dimension, "0");
	if (f->is_array && strcmp(dimension, "1"))
		reader_fail(&p->in.r, -EBADMSG, "array of arrays");
	m->types[p->type].n_fields++;
}

static void add_annotation(struct parser *p, const struct element *e)
{
	struct annotation *a;
	const char *value = element_value(e, WORD_VALUE);

	if (ARRAY_RESERVE(p->annotations, p->annotations_cap, p->n_annotations)) {
		reader_fail(&p->in.r, -ENOMEM, "annotations");
		return;
	}
	a = &p->annotations[p->n_annotations++];
	a->field = p->m->n_fields - 1;
	a->class_id = element_id(&p->in, e, WORD_CLASS);
	a->value = value ? value : element_text(e, WORD_FIRST_VALUE);
}

static void read_children(struct parser *p, uint64_t n, unsigned int depth);

/* A type's fields follow it at once, so they lie side by side in the table. */
static void read_node(struct parser *p, unsigned int depth)
{
	bool was_in_field = p->in_field;
	size_t outer = p->type;
	struct element e;

	if (depth > MAX_DEPTH) {
		reader_fail(&p->in.r, -EBADMSG, "elements nested too deep");
		return;
	}
	element_read(&p->in, &e);
	if (reader_error(&p->in.r))
		return;
	if (e.name == WORD_CLASS && outer == NO_TYPE) {
		add_type(p, &e);
	} else if (e.name == WORD_FIELD && outer != NO_TYPE && !p->in_field) {
		add_field(p, &e);
		p->in_field = true;
	} else if (e.name == WORD_ANNOTATION && p->in_field) {
		add_annotation(p, &e);
	}
	read_children(p, e.n_children, depth + 1);
	p->type = outer;
	p->in_field = was_in_field;
}

static void read_children(struct parser *p, uint64_t n, unsigned int depth)
{
	for (uint64_t i = 0; i < n && !reader_error(&p->in.r); i++)
		read_node(p, depth);
}

static enum jfr_kind kind_of_name(const struct jfr_type *t)
{
	static const struct {
		const char *name;
		enum jfr_kind kind;
	} primitives[] = {
		{ "boolean", JFR_BOOLEAN },
		{ "byte", JFR_BYTE },
		{ "short", JFR_SHORT },
		{ "char", JFR_CHAR },
		{ "int", JFR_INT },
		{ "long", JFR_LONG },
		{ "float", JFR_FLOAT },
		{ "double", JFR_DOUBLE },
		{ "java.lang.String", JFR_STRING },
	};

	for (size_t i = 0; i < sizeof(primitives) / sizeof(primitives[0]); i++)
		if (*t->name == *primitives[i].name && !strcmp(t->name, primitives[i].name))
			return primitives[i].kind;
	return JFR_STRUCT;
}

static int compare_types(const void *a, const void *b)
{
	const struct jfr_type *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (x->fields != y->fields)
		return x->fields < y->fields ? -1 : 1;
	if (x->n_fields != y->n_fields) /* one without fields begins where the next one does */
		return x->n_fields < y->n_fields ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Of types with one id the first stays: where it is the wrong one, its events do not end where they
   should, which is found out. */
static void drop_doubles(struct metadata *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n_types; i++)
		if (!n || m->types[i].id != m->types[n - 1].id)
			m->types[n++] = m->types[i];
	m->n_types = n;
}

/* One byte may be all that says a type: any other one is behind it then. */
static void add_heads(struct metadata *m)
{
	uint16_t n = 0;

	for (size_t i = 0; i < m->n_types && n < UINT16_MAX; i++) {
		const struct jfr_type *t = &m->types[i];
		size_t width = t->id < 1 << 7 ? 1 << 8 : 1;

		n += t->is_event;
		if (!t->is_event || t->id < N_OWN_TYPES || t->id > METADATA_HEAD_ID_MAX)
			continue;
		for (size_t k = 0; k < width; k++)
			m->heads[metadata_head(t->id) + k] = n;
	}
}

static void link_types(struct parser *p)
{
	struct metadata *m = p->m;
	size_t n_fields = 0;

	for (size_t i = 0; i < m->n_types; i++) {
		m->types[i].fields = m->fields ? &m->fields[n_fields] : NULL;
		n_fields += m->types[i].n_fields;
		m->types[i].kind = kind_of_name(&m->types[i]);
	}
	if (m->n_types)
		qsort(m->types, m->n_types, sizeof(*m->types), compare_types);
	drop_doubles(m);
	for (size_t i = 0; i < m->n_types && i < UINT16_MAX; i++)
		if (m->types[i].id < NEAR_IDS)
			m->by_id[m->types[i].id] = (uint16_t)(i + 1);
	add_heads(m);
	for (size_t i = 0; i < m->n_fields; i++)
		m->fields[i].type = metadata_by_id(m, m->fields[i].type_id);
}

static const char timestamp[] = "jdk.jfr.Timestamp", timespan[] = "jdk.jfr.Timespan",
		  amount[] = "jdk.jfr.DataAmount";

/* Those of one annotation side by side. */
static const struct {
	const char *annotation, *value; /* "": whatever its value */
	enum jfr_unit unit;
} units[] = {
	{ timestamp, "TICKS", JFR_TIMESTAMP_TICKS },
	{ timestamp, "NANOSECONDS_SINCE_EPOCH", JFR_TIMESTAMP_NS },
	{ timestamp, "MILLISECONDS_SINCE_EPOCH", JFR_TIMESTAMP_MS },
	{ timespan, "TICKS", JFR_TIMESPAN_TICKS },
	{ timespan, "NANOSECONDS", JFR_TIMESPAN_NS },
	{ timespan, "MICROSECONDS", JFR_TIMESPAN_US },
	{ timespan, "MILLISECONDS", JFR_TIMESPAN_MS },
	{ timespan, "SECONDS", JFR_TIMESPAN_S },
	{ amount, "BITS", JFR_BITS },
	{ amount, "", JFR_BYTES },
	{ "jdk.jfr.Frequency", "", JFR_HERTZ },
	{ "jdk.jfr.MemoryAddress", "", JFR_ADDRESS },
	{ "jdk.jfr.Percentage", "", JFR_PERCENTAGE },
};

#define N_UNITS (sizeof(units) / sizeof(units[0]))

/* What annotations of a type say: a unit by its place among them, the first of its annotation's. */
enum meaning {
	MEANING_UNIT,
	MEANING_NOTHING = N_UNITS,
	MEANING_UNSIGNED,
	MEANING_CONTEXTUAL,
	MEANING_UNKNOWN
};

static uint8_t meaning_of(const struct jfr_type *t)
{
	uint8_t i = MEANING_UNIT;

	if (!strcmp(t->name, "jdk.jfr.Unsigned"))
		return MEANING_UNSIGNED;
	if (!strcmp(t->name, "jdk.jfr.Contextual"))
		return MEANING_CONTEXTUAL;
	while (i < N_UNITS && strcmp(t->name, units[i].annotation))
		i++;
	return i;
}

static void annotate_field(struct jfr_field *f, uint8_t meaning, const char *value)
{
	f->is_unsigned |= meaning == MEANING_UNSIGNED;
	f->is_contextual |= meaning == MEANING_CONTEXTUAL;
	for (size_t i = meaning; i < N_UNITS && units[i].annotation == units[meaning].annotation;
	     i++)
		if (!*units[i].value || !strcmp(value, units[i].value)) {
			f->unit = units[i].unit;
			return;
		}
}

/* Most annotations are for people: the name of each type of them is looked at once. */
static void annotate(struct parser *p)
{
	SCOPED(free) uint8_t *meanings = malloc(p->m->n_types + 1);

	if (!meanings) {
		reader_fail(&p->in.r, -ENOMEM, "annotations");
		return;
	}
	memset(meanings, MEANING_UNKNOWN, p->m->n_types);
	for (size_t i = 0; i < p->n_annotations; i++) {
		const struct annotation *a = &p->annotations[i];
		const struct jfr_type *t = metadata_by_id(p->m, a->class_id);
		uint8_t *meaning = t ? &meanings[t - p->m->types] : NULL;

		if (meaning && *meaning == MEANING_UNKNOWN)
			*meaning = meaning_of(t);
		if (meaning && *meaning != MEANING_NOTHING)
			annotate_field(&p->m->fields[a->field], *meaning, a->value);
	}
}

/* The event's own fields, which say nothing about the types. */
static void read_head(struct reader *r)
{
	static const char *const fields[] = { "event size", "event type", "start time", "duration",
					      "metadata id" };

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		wire_skip_varint(r, fields[i]);
}

static void parse(struct parser *p)
{
	struct metadata *m = p->m;

	read_head(&p->in.r);
	m->body_len = reader_left(&p->in.r);
	m->body = malloc(m->body_len + 1);
	if (!m->body) {
		reader_fail(&p->in.r, -ENOMEM, "metadata");
		return;
	}
	memcpy(m->body, p->in.r.pos, m->body_len);
	element_strings_read(&p->in, &p->m->arena);
	if (!reader_error(&p->in.r))
		read_node(p, 0);
	if (!reader_error(&p->in.r))
		link_types(p);
	if (!reader_error(&p->in.r))
		annotate(p);
	if (!reader_error(&p->in.r) && !m->n_types)
		reader_fail(&p->in.r, -EBADMSG, "no types");
}

struct metadata *metadata_parse(const void *bytes, size_t len, int *err, const char **what,
				uint64_t *where)
{
	struct parser p = { .type = NO_TYPE };

	*what = "metadata";
	*where = 0;
	*err = -E2BIG;
	if (len > MAX_LEN)
		return NULL;
	*err = -ENOMEM;
	p.m = calloc(1, sizeof(*p.m));
	if (!p.m)
		return NULL;
	p.m->refs = 1;
	reader_init(&p.in.r, bytes, len);
	parse(&p);
	free(p.annotations);
	*err = reader_error(&p.in.r);
	if (!*err)
		return p.m;
	*what = p.in.r.what;
	*where = p.in.r.where;
	metadata_unref(p.m);
	return NULL;
}

struct metadata *metadata_ref(struct metadata *m)
{
	atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
	return m;
}

void metadata_unref(struct metadata *m)
{
	if (!m || atomic_fetch_sub_explicit(&m->refs, 1, memory_order_acq_rel) > 1)
		return;
	free(m->body);
	free(m->types);
	free(m->fields);
	arena_deinit(&m->arena);
	free(m);
}

bool metadata_is(const struct metadata *m, const void *bytes, size_t len)
{
	struct reader r;

	reader_init(&r, bytes, len);
	read_head(&r);
	return !reader_error(&r) && reader_left(&r) == m->body_len &&
	       !memcmp(r.pos, m->body, m->body_len);
}

size_t metadata_n_types(const struct metadata *m)
{
	return m->n_types;
}

const struct jfr_type *metadata_type(const struct metadata *m, size_t index)
{
	return index < m->n_types ? &m->types[index] : NULL;
}

const struct jfr_type *metadata_by_id(const struct metadata *m, uint64_t id)
{
	size_t n;

	if (id < NEAR_IDS && m->by_id[id])
		return &m->types[m->by_id[id] - 1];
	n = ARRAY_COUNT_UP_TO(m->types, m->n_types, id, id);
	return n && m->types[n - 1].id == id ? &m->types[n - 1] : NULL;
}

const struct jfr_type *metadata_by_name(const struct metadata *m, const char *name)
{
	for (size_t i = m->n_types; i-- > 0;)
		if (!strcmp(m->types[i].name, name))
			return &m->types[i];
	return NULL;
}

const uint16_t *metadata_heads(const struct metadata *m)
{
	return m->heads;
}

int jfr_type_field(const struct jfr_type *t, const char *name)
{
	for (size_t i = 0; i < t->n_fields; i++)
		if (!strcmp(t->fields[i].name, name))
			return (int)i;
	return -1;
}
