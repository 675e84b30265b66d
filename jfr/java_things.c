// SPDX-License-Identifier: Apache-2.0
/* Threads, classes, methods and stacks. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/scoped.h"
#include "jfr/chunk.h"
#include "jfr/constants.h"
#include "jfr/java_name.h"
#include "jfr/layout.h"
#include "jfr/names_row.h"

#define MAX_NAME_LEN 4096 /* of a class; longer ones are cut */
#define MAX_FRAMES 65536  /* of a stack; async-profiler writes up to 2,048 */

static int64_t number_named(const struct found *f, const struct jfr_value *values, const char *path)
{
	int i = layout_find(f->layout, path);

	return i >= 0 && layout_leaf(f->layout, (size_t)i)->kind == VALUE_NUMBER ? values[i].n : 0;
}

/* "virtual-17": of a thread without a name. */
static const char *numbered(struct names *n, const char *what, int64_t number)
{
	char text[64];
	int len = snprintf(text, sizeof(text), "%s-%" PRId64, what, number);

	return arena_copy(&n->arena, text, (size_t)len);
}

struct java_thread *names_thread(struct chunk *c, uint64_t type, int64_t key)
{
	struct text_ref java_name, os_name, group;
	struct java_thread *t;
	uint64_t n_missing;
	struct named *row;
	struct found f;
	bool is_done;

	if (!names_find(c, type, key, &f))
		return NULL;
	row = names_row(&f, WHAT_THREAD, &is_done);
	if (!row || is_done)
		return row ? &row->thread : NULL;
	n_missing = c->names->n_missing;
	SCOPED(free) struct jfr_value *values = names_values(&f);

	if (!values)
		return NULL;
	t = &row->thread;
	java_name = names_ref(&f, values, "javaName");
	os_name = names_ref(&f, values, "osName");
	group = names_ref(&f, values, "group");
	t->id = number_named(&f, values, "javaThreadId");
	t->os_id = number_named(&f, values, "osThreadId");
	t->is_virtual = number_named(&f, values, "virtual");
	t->name = names_resolve(c, &java_name);
	if (!*t->name && !t->is_virtual)
		t->name = names_resolve(c, &os_name);
	if (!*t->name)
		t->name = t->is_virtual ? numbered(f.names, "virtual", t->id)
					: numbered(f.names, "thread", t->os_id ? t->os_id : t->id);
	t->group = names_resolve(c, &group);
	names_finish(c, &f, row, n_missing);
	return t->name ? t : NULL;
}

static struct java_class *class_missing(struct chunk *c, int64_t key)
{
	struct java_class *class = NULL;

	if (names_has_room(c))
		class = arena_calloc(&c->names->arena, 1, sizeof(*class));
	if (!class)
		return &c->names->nowhere;
	class->name = names_missing(c, "class", key);
	return class;
}

struct java_class *names_class(struct chunk *c, uint64_t type, int64_t key)
{
	char name[MAX_NAME_LEN];
	struct text_ref ref;
	uint64_t n_missing;
	struct named *row;
	struct found f;
	bool is_done;

	if (!names_find(c, type, key, &f))
		return key ? class_missing(c, key) : NULL;
	row = names_row(&f, WHAT_CLASS, &is_done);
	if (!row || is_done)
		return row ? &row->class : NULL;
	n_missing = c->names->n_missing;
	SCOPED(free) struct jfr_value *values = names_values(&f);

	if (!values)
		return NULL;
	ref = names_ref(&f, values, "name");
	java_class_name(names_resolve(c, &ref), name, sizeof(name));
	row->class.name = arena_copy(&f.names->arena, name, strlen(name));
	names_finish(c, &f, row, n_missing);
	return row->class.name ? &row->class : NULL;
}

/* What a field refers to; false: it is no constant. */
static bool key_named(const struct found *f, const struct jfr_value *values, const char *path,
		      uint64_t *type, int64_t *key)
{
	struct text_ref ref = names_ref(f, values, path);

	*type = ref.type;
	*key = ref.key;
	return ref.is_constant;
}

static const struct java_class no_class = { .name = "" };

static struct java_method *method_missing(struct chunk *c, int64_t key)
{
	struct java_method *m = NULL;

	if (names_has_room(c))
		m = arena_calloc(&c->names->arena, 1, sizeof(*m));
	if (!m)
		return &c->names->no_method;
	m->class = &no_class;
	m->name = names_missing(c, "method", key);
	m->descriptor = "";
	return m;
}

static struct java_method *find_method(struct chunk *c, uint64_t type, int64_t key)
{
	struct text_ref name, descriptor;
	uint64_t class_type, n_missing;
	int64_t class_key;
	bool is_done, has_class;
	struct named *row;
	struct found f;

	if (!names_find(c, type, key, &f))
		return key ? method_missing(c, key) : NULL;
	row = names_row(&f, WHAT_METHOD, &is_done);
	if (!row || is_done)
		return row ? &row->method : NULL;
	n_missing = c->names->n_missing;
	SCOPED(free) struct jfr_value *values = names_values(&f);

	if (!values)
		return NULL;
	name = names_ref(&f, values, "name");
	descriptor = names_ref(&f, values, "descriptor");
	has_class = key_named(&f, values, "type", &class_type, &class_key);
	row->method.is_hidden = number_named(&f, values, "hidden");
	row->method.name = names_resolve(c, &name);
	row->method.descriptor = names_resolve(c, &descriptor);
	row->method.class = has_class ? names_class(c, class_type, class_key) : NULL;
	if (!row->method.class)
		row->method.class = &no_class;
	names_finish(c, &f, row, n_missing);
	return &row->method;
}

struct java_method *names_method(struct chunk *c, uint64_t type, int64_t key)
{
	struct names *n = c->names;
	struct cached_method *cached = &n->methods[(uint64_t)key % N_CACHED_METHODS];
	uint64_t n_missing = n->n_missing;
	struct java_method *m;

	if (cached->method && cached->key == key && cached->type == type &&
	    cached->round == n->round)
		return cached->method;
	m = find_method(c, type, key);
	if (n->n_missing == n_missing) /* what is missing is to be counted each time */
		*cached = (struct cached_method){ type, key, m, n->round };
	return m;
}

/* HotSpot's "Native" is a method of Java that is written in C, async-profiler's is any C function.
 */
static enum java_frame_type frame_type(const char *text, bool is_native)
{
	static const struct {
		const char *text;
		enum java_frame_type type;
	} types[] = {
		{ "Interpreted", JAVA_INTERPRETED },
		{ "JIT compiled", JAVA_COMPILED },
		{ "Inlined", JAVA_INLINED },
		{ "C1 compiled", JAVA_C1 },
		{ "C++", JAVA_NATIVE },
		{ "Kernel", JAVA_KERNEL },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(text, types[i].text))
			return types[i].type;
	if (!strcmp(text, "Native"))
		return is_native ? JAVA_NATIVE : JAVA_NATIVE_METHOD;
	return JAVA_OTHER_CODE;
}

/* Where in a stack's elements the fields of a frame are; -1: it has none. */
struct frame_fields {
	int method, line, bci, type;
	uint64_t method_type, type_type;
};

static bool frame_fields(const struct layout *l, struct frame_fields *f)
{
	const struct jfr_leaf *method, *type;

	f->method = layout_find(l, "method");
	f->line = layout_find(l, "lineNumber");
	f->bci = layout_find(l, "bytecodeIndex");
	f->type = layout_find(l, "type");
	method = f->method < 0 ? NULL : layout_leaf(l, (size_t)f->method);
	type = f->type < 0 ? NULL : layout_leaf(l, (size_t)f->type);
	if (!method || method->kind != VALUE_CONSTANT)
		return false;
	f->method_type = method->field->type_id;
	f->type_type = type && type->kind == VALUE_CONSTANT ? type->field->type_id : 0;
	return true;
}

/* The numbers of a frame, before anything is looked up. */
struct raw_frame {
	int64_t method, type;
	int32_t line, bci;
};

static size_t read_frames(const struct layout *l, const struct frame_fields *at, struct reader *r,
			  struct raw_frame *raw, size_t n)
{
	SCOPED(free) struct jfr_value *v = malloc((layout_n_leaves(l) + 1) * sizeof(*v));
	size_t i;

	for (i = 0; v && i < n; i++) {
		if (layout_read(l, r, v))
			break;
		raw[i] = (struct raw_frame){
			.method = v[at->method].n,
			.type = at->type_type ? v[at->type].n : -1,
			.line = at->line < 0 ? 0 : (int32_t)v[at->line].n,
			.bci = at->bci < 0 ? -1 : (int32_t)v[at->bci].n,
		};
	}
	return i;
}

static void explain_frame(struct chunk *c, const struct frame_fields *at,
			  const struct raw_frame *raw, struct java_frame *f)
{
	const char *type = at->type_type ? names_text(c, at->type_type, raw->type) : "";

	f->method = names_method(c, at->method_type, raw->method);
	if (!f->method)
		f->method = names_no_method(c);
	f->line = raw->line > 0 ? raw->line : 0;
	f->bci = raw->bci;
	f->type = frame_type(type, !*f->method->class->name);
}

static int fill_stack(struct chunk *c, struct found *f, struct java_stack *s)
{
	SCOPED(free) struct jfr_value *values = names_values(f);
	int frames = layout_find(f->layout, "frames");
	const struct layout *l = frames < 0 ? NULL : layout_elements(f->layout, (size_t)frames);
	SCOPED(free) struct raw_frame *raw = NULL;
	struct java_frame *out;
	struct frame_fields at;
	struct reader r;
	size_t n;

	if (!values || !l || !frame_fields(l, &at))
		return -EBADMSG;
	n = values[frames].n < MAX_FRAMES ? (size_t)values[frames].n : MAX_FRAMES;
	raw = calloc(n + 1, sizeof(*raw));
	out = n <= s->n ? (struct java_frame *)s->frames
			: arena_calloc(&f->names->arena, n, sizeof(*out));
	if (!raw || (n && !out))
		return -ENOMEM;
	s->is_truncated = number_named(f, values, "truncated") || (uint64_t)values[frames].n > n;
	reader_init(&r, values[frames].string.bytes, values[frames].string.len);
	n = read_frames(l, &at, &r, raw, n);
	for (size_t i = 0; i < n; i++)
		explain_frame(c, &at, &raw[i], &out[i]);
	s->frames = out;
	s->n = n;
	return 0;
}

struct java_stack *names_stack(struct chunk *c, uint64_t type, int64_t key)
{
	uint64_t n_missing;
	struct named *row;
	struct found f;
	bool is_done;
	int err;

	if (!names_find(c, type, key, &f))
		return NULL;
	row = names_row(&f, WHAT_STACK, &is_done);
	if (!row || is_done)
		return row ? &row->stack : NULL;
	n_missing = c->names->n_missing;
	err = fill_stack(c, &f, &row->stack);
	if (err == -ENOMEM)
		return NULL;
	names_finish(c, &f, row, n_missing);
	row->stack.is_partial = err || row->is_partial;
	return &row->stack;
}
