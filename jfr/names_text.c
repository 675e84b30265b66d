// SPDX-License-Identifier: Apache-2.0
/* Constants and strings as text. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/scoped.h"
#include "jfr/chunk.h"
#include "jfr/constants.h"
#include "jfr/layout.h"
#include "jfr/names_row.h"

#define MAX_DEPTH 8 /* of constants that are text of constants; JDK 25 needs three */

static const char *text_of(struct names *n, const struct wire_string *s)
{
	char *text = text_room_for(&n->room, wire_string_room(s) + 1);

	return text ? arena_copy(&n->arena, text, wire_string_text(s, text)) : NULL;
}

struct text_ref names_ref(const struct found *f, const struct constant_values *v, int i)
{
	const struct jfr_leaf *leaf = i < 0 ? NULL : layout_leaf(f->layout, (size_t)i);
	struct text_ref ref = { .is_constant = false };

	if (leaf && leaf->kind == VALUE_STRING)
		ref.string = v->all[i].string;
	ref.is_constant = leaf && leaf->kind == VALUE_CONSTANT;
	if (ref.is_constant) {
		ref.type = leaf->field->type_id;
		ref.key = v->all[i].n;
	}
	return ref;
}

/* NULL: the metadata has none. */
static const struct jfr_type *strings_of(struct chunk *c)
{
	if (!c->names->strings)
		c->names->strings = metadata_by_name(c->metadata, "java.lang.String");
	return c->names->strings;
}

/* Is it a string, and nothing else, that is written where it is? */
static bool is_string(const struct found *f, struct wire_string *out)
{
	struct wire_string s;
	struct reader r;

	if (layout_n_leaves(f->layout) != 1 || layout_leaf(f->layout, 0)->kind != VALUE_STRING)
		return false;
	reader_init(&r, f->constant->bytes, f->constant->len);
	s = wire_string(&r, "string");
	if (reader_error(&r) || s.encoding == WIRE_POOLED)
		return false;
	*out = s;
	return true;
}

bool names_pooled_string(struct chunk *c, int64_t key, struct wire_string *out)
{
	const struct jfr_type *strings = strings_of(c);
	struct found f;

	return strings && names_find_in(c->names, strings->id, key, &f) && is_string(&f, out);
}

const char *names_resolve(struct chunk *c, const struct text_ref *ref)
{
	const struct jfr_type *strings;
	const char *text;

	if (ref->is_constant)
		return names_text(c, ref->type, ref->key);
	switch (ref->string.encoding) {
	case WIRE_NULL:
	case WIRE_EMPTY:
		return "";
	case WIRE_POOLED:
		strings = strings_of(c);
		return strings ? names_text(c, strings->id, ref->string.key) : "";
	default:
		text = text_of(c->names, &ref->string);
		return text ? text : "";
	}
}

const char *names_missing(struct chunk *c, const char *what, int64_t key)
{
	char text[80];
	int len = snprintf(text, sizeof(text), "[unresolved:%s:%" PRId64 "]", what, key);
	const char *kept = NULL;

	if (names_has_room(c))
		kept = arena_copy(&c->names->arena, text, (size_t)len);
	return kept ? kept : "[unresolved]";
}

/* Text of what is no class, thread or method: its name, its class (of an object), or its first
   field. */
static const char *plain_text(struct chunk *c, struct found *f)
{
	uint64_t n_missing = c->names->n_missing;
	const int16_t *at;
	struct text_ref ref = { .is_constant = false };
	struct named *row;
	bool is_done;

	row = names_row(f, WHAT_TEXT, &is_done);
	if (!row || is_done)
		return row ? row->text : "";
	if (is_string(f, &ref.string)) { /* as nearly all are */
		row->text = names_resolve(c, &ref);
		names_finish(c, f, row, n_missing);
		return row->text;
	}
	SCOPED(values) struct constant_values v;

	if (!names_values(f, &v))
		return "";
	at = names_places(f, WHAT_TEXT);
	ref = names_ref(f, &v,
			at[TEXT_NAME] >= 0   ? at[TEXT_NAME]
			: at[TEXT_TYPE] >= 0 ? at[TEXT_TYPE]
					     : 0);
	row->text = names_resolve(c, &ref);
	names_finish(c, f, row, n_missing);
	return row->text;
}

static const char *method_text(struct chunk *c, struct java_method *m)
{
	SCOPED(free) char *text = NULL;

	if (!*m->class->name)
		return m->name;
	if (!m->text && asprintf(&text, "%s.%s", m->class->name, m->name) > 0)
		m->text = arena_copy(&c->names->arena, text, strlen(text));
	return m->text ? m->text : m->name;
}

/* What was put together before; NULL: nothing, or it is to be done again. */
static const char *known_text(const struct found *f)
{
	const struct named *row = f->constant->memo ? f->names->rows[f->constant->memo - 1] : NULL;

	if (!row || row->is_partial)
		return NULL;
	switch (row->what) {
	case WHAT_TEXT:
		return row->text;
	case WHAT_CLASS:
		return row->class.name;
	case WHAT_THREAD:
		return row->thread.name;
	case WHAT_METHOD:
		return row->method.text;
	default:
		return NULL;
	}
}

static enum what what_is(struct chunk *c, uint64_t type_id)
{
	const struct jfr_type *type = metadata_by_id(c->metadata, type_id);
	const char *name = type ? type->name : "";

	return !strcmp(name, "java.lang.Class")	   ? WHAT_CLASS
	       : !strcmp(name, "java.lang.Thread") ? WHAT_THREAD
	       : !strcmp(name, "jdk.types.Method") ? WHAT_METHOD
						   : WHAT_TEXT;
}

/* What the constants of a type are, by its name. */
static enum what what_of(struct chunk *c, uint64_t type_id)
{
	struct pool *pool = constants_pool(c->names->constants, type_id);
	struct pool_memo *memo = pool ? pool_memo(pool) : NULL;

	if (!memo)
		return what_is(c, type_id);
	if (!memo->type)
		memo->type = (uint8_t)what_is(c, type_id);
	return (enum what)memo->type;
}

static const char *new_text(struct chunk *c, uint64_t type_id, int64_t key, struct found *f)
{
	const struct java_class *class;
	const struct java_thread *thread;
	struct java_method *method;

	switch (what_of(c, type_id)) {
	case WHAT_CLASS:
		class = names_class(c, type_id, key);
		return class ? class->name : "";
	case WHAT_THREAD:
		thread = names_thread(c, type_id, key);
		return thread ? thread->name : "";
	case WHAT_METHOD:
		method = names_method(c, type_id, key);
		return method ? method_text(c, method) : "";
	default:
		break;
	}
	if (f->constant || names_find(c, type_id, key, f))
		return plain_text(c, f);
	return names_is_none(key) ? "" : names_missing(c, "constant", key);
}

const char *names_text(struct chunk *c, uint64_t type, int64_t key)
{
	struct found f;
	const char *text = names_find_in(c->names, type, key, &f) ? known_text(&f) : NULL;

	if (text || c->names->depth >= MAX_DEPTH)
		return text ? text : "";
	c->names->depth++;
	text = new_text(c, type, key, &f);
	c->names->depth--;
	return text ? text : "";
}

const char *names_string(struct chunk *c, const struct wire_string *s, struct text_room *room)
{
	struct text_ref ref = { .string = *s };
	char *text;

	if (s->encoding == WIRE_POOLED)
		return names_resolve(c, &ref);
	text = text_room_for(room, wire_string_room(s) + 1);
	if (!text)
		return "";
	text[wire_string_text(s, text)] = '\0';
	return text;
}
