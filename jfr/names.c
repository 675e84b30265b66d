// SPDX-License-Identifier: Apache-2.0
#include "jfr/names_row.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/array.h"
#include "core/scoped.h"
#include "jfr/chunk.h"
#include "jfr/constants.h"
#include "jfr/layout.h"

#define MAX_MISSING 4096 /* things that are missing and still told apart */
#define MAX_DEPTH 8	 /* of constants that are text of constants; JDK 25 needs three */

struct names *names_new(struct constants *c)
{
	struct names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->constants = c;
	n->nowhere.name = "[unresolved]";
	n->no_method = (struct java_method){
		.class = &n->nowhere, .name = "", .descriptor = "", .is_of_java = true
	};
	return n;
}

void names_free(struct names *n)
{
	if (!n)
		return;
	constants_free(n->constants);
	free(n->room.text);
	memo_deinit(&n->frames);
	arena_deinit(&n->arena);
	free(n->rows);
	free(n);
}

struct constants *names_constants(struct names *n)
{
	return n->constants;
}

void names_update(struct names *n)
{
	n->round++;
	memo_clear(&n->frames);
}

static void forget_frames(struct names *n)
{
	for (struct frame_block *b = n->frame_blocks; b; b = b->next)
		for (size_t i = 0; i < b->n; i++)
			b->frames[i].location = 0;
}

void names_forget(struct names *n)
{
	n->no_method.function = n->no_method.location = 0;
	forget_frames(n);
	for (size_t i = 0; i < n->n; i++)
		switch (n->rows[i]->what) {
		case WHAT_THREAD:
			n->rows[i]->thread.labels = 0;
			break;
		case WHAT_CLASS:
			n->rows[i]->class.string = 0;
			break;
		case WHAT_METHOD:
			n->rows[i]->method.function = n->rows[i]->method.location = 0;
			break;
		case WHAT_STACK:
			n->rows[i]->stack.stack = 0;
			break;
		case WHAT_TEXT:
			break;
		}
}

void names_doubt(struct names *n)
{
	if (!n)
		return;
	names_forget(n);
	names_update(n);
	for (size_t i = 0; i < n->n; i++) {
		struct named *row = n->rows[i];

		row->is_partial = true;
		if (row->what == WHAT_METHOD)
			row->method.text = NULL;
		if (row->what != WHAT_STACK)
			continue;
		row->stack.text = NULL;
		row->stack.n = 0; /* its frames have methods, which may not be found again */
	}
}

void names_rest(struct names *n)
{
	if (n)
		memo_deinit(&n->frames);
}

size_t names_memory(const struct names *n)
{
	return constants_memory(n->constants) + n->arena.memory + n->cap * sizeof(*n->rows) +
	       n->frames.n_slots * sizeof(*n->frames.slots);
}

uint64_t names_n_missing(const struct names *n)
{
	return n->n_missing;
}

const char *names_keep(struct names *n, const char *text, size_t len)
{
	return arena_copy(&n->arena, text, len);
}

static bool find_in(struct names *n, uint64_t type, int64_t key, struct found *f)
{
	struct pool *pool = n ? constants_pool(n->constants, type) : NULL;

	f->constant = pool_find(pool, key);
	if (!f->constant)
		return false;
	f->names = n;
	f->pool = pool;
	f->layout = pool_layout(pool);
	return true;
}

bool names_find(struct chunk *c, uint64_t type, int64_t key, struct found *f)
{
	if (find_in(c->names, type, key, f))
		return true;
	if (names_is_none(key)) /* unless there is such a constant */
		return false;
	if (find_in(c->older[0], type, key, f) || find_in(c->older[1], type, key, f))
		return true;
	/* The way that the header shows need not lead to all there is. */
	if (!chunk_search(c) && find_in(c->names, type, key, f))
		return true;
	c->names->n_missing++;
	return false;
}

bool names_values(const struct found *f, struct constant_values *v)
{
	size_t n = layout_n_leaves(f->layout);
	struct reader r;

	v->all = n <= FEW_VALUES ? v->few : malloc(n * sizeof(*v->all));
	reader_init(&r, f->constant->bytes, f->constant->len);
	return v->all && !layout_read(f->layout, &r, v->all);
}

static const char *const fields[N_WHATS][MEMO_LEAVES] = {
	[WHAT_TEXT] = { [TEXT_NAME] = "name", [TEXT_TYPE] = "type" },
	[WHAT_THREAD] = { [THREAD_NAME] = "javaName",
			  [THREAD_OS_NAME] = "osName",
			  [THREAD_GROUP] = "group",
			  [THREAD_ID] = "javaThreadId",
			  [THREAD_OS_ID] = "osThreadId",
			  [THREAD_VIRTUAL] = "virtual" },
	[WHAT_CLASS] = { [CLASS_NAME] = "name" },
	[WHAT_METHOD] = { [METHOD_NAME] = "name",
			  [METHOD_DESCRIPTOR] = "descriptor",
			  [METHOD_CLASS] = "type",
			  [METHOD_HIDDEN] = "hidden" },
	[WHAT_STACK] = { [STACK_TRUNCATED] = "truncated", [STACK_FRAMES] = "frames" },
};

static void find_frame_places(const struct layout *l, int16_t *leaves)
{
	static const char *const of_frames[] = {
		[FRAME_METHOD] = "method",
		[FRAME_LINE] = "lineNumber",
		[FRAME_BCI] = "bytecodeIndex",
		[FRAME_TYPE] = "type",
	};
	const struct layout *frames =
		leaves[STACK_FRAMES] < 0 ? NULL : layout_elements(l, (size_t)leaves[STACK_FRAMES]);

	for (unsigned int i = FRAME_METHOD; i <= FRAME_TYPE; i++)
		leaves[i] = frames ? (int16_t)layout_find(frames, of_frames[i]) : -1;
}

const int16_t *names_places(const struct found *f, enum what what)
{
	struct pool_memo *m = pool_memo(f->pool);

	if (m->what == what)
		return m->leaves;
	m->what = (uint8_t)what;
	for (unsigned int i = 0; i < MEMO_LEAVES; i++)
		m->leaves[i] =
			fields[what][i] ? (int16_t)layout_find(f->layout, fields[what][i]) : -1;
	if (what == WHAT_STACK)
		find_frame_places(f->layout, m->leaves);
	return m->leaves;
}

/* It may be asked for while it is put together, when constants refer to each other in a circle, or
   turn out to make no sense. */
static void row_begin(struct named *row)
{
	static const struct java_class no_class = { .name = "" };

	switch (row->what) {
	case WHAT_THREAD:
		row->thread = (struct java_thread){ .name = "[unresolved]", .group = "" };
		break;
	case WHAT_CLASS:
		row->class.name = "";
		break;
	case WHAT_METHOD:
		row->method = (struct java_method){
			.class = &no_class,
			.name = "",
			.descriptor = "",
		};
		break;
	case WHAT_TEXT:
		row->text = "";
		break;
	case WHAT_STACK:
		break;
	}
}

struct named *names_row(struct found *f, enum what what, bool *is_done)
{
	struct names *n = f->names;
	struct named *row;

	*is_done = false;
	if (f->constant->memo) {
		row = n->rows[f->constant->memo - 1];
		*is_done = !row->is_partial || row->round == n->round;
		return row->what == what ? row : NULL;
	}
	if (n->n >= UINT32_MAX - 1 || ARRAY_RESERVE(n->rows, n->cap, n->n))
		return NULL;
	row = arena_calloc(&n->arena, 1, sizeof(*row));
	if (!row)
		return NULL;
	row->what = what;
	row_begin(row);
	n->rows[n->n++] = row;
	f->constant->memo = (uint32_t)n->n;
	return row;
}

void names_finish(struct chunk *c, struct found *f, struct named *row, uint64_t n_missing)
{
	row->is_partial = c->names->n_missing != n_missing;
	row->round = f->names->round;
}

static char *room_for(struct text_room *room, size_t len)
{
	char *text = len <= room->cap ? room->text : realloc(room->text, len);

	if (!text || len <= room->cap)
		return text;
	room->text = text;
	room->cap = len;
	return text;
}

static const char *text_of(struct names *n, const struct wire_string *s)
{
	char *text = room_for(&n->room, wire_string_room(s) + 1);

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
		strings = metadata_by_name(c->metadata, "java.lang.String");
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

	if (c->names->n_missing < MAX_MISSING)
		kept = arena_copy(&c->names->arena, text, (size_t)len);
	return kept ? kept : "[unresolved]";
}

/* Text of what is no class, thread or method: its name, its class (of an object), or its first
   field. */
static const char *plain_text(struct chunk *c, struct found *f)
{
	uint64_t n_missing = c->names->n_missing;
	const int16_t *at;
	struct text_ref ref;
	struct named *row;
	bool is_done;

	row = names_row(f, WHAT_TEXT, &is_done);
	if (!row || is_done)
		return row ? row->text : "";
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
	const char *text = find_in(c->names, type, key, &f) ? known_text(&f) : NULL;

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
	text = room_for(room, wire_string_room(s) + 1);
	if (!text)
		return "";
	text[wire_string_text(s, text)] = '\0';
	return text;
}

bool names_has_room(const struct chunk *c)
{
	return c->names->n_missing < MAX_MISSING;
}

struct java_method *names_no_method(struct chunk *c)
{
	return &c->names->no_method;
}

struct java_frame *names_new_frame(struct names *n)
{
	struct frame_block *b = n->frame_blocks;

	if (!b || b->n == FRAMES_OF_BLOCK) {
		b = arena_alloc(&n->arena, sizeof(*b));
		if (!b)
			return NULL;
		b->next = n->frame_blocks;
		b->n = 0;
		n->frame_blocks = b;
	}
	return &b->frames[b->n++];
}
