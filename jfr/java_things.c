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

static int64_t number_at(const struct found *f, const struct constant_values *v, int i)
{
	return i >= 0 && layout_leaf(f->layout, (size_t)i)->kind == VALUE_NUMBER ? v->all[i].n : 0;
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
	const int16_t *at;
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
	SCOPED(values) struct constant_values v;

	if (!names_values(&f, &v))
		return NULL;
	t = &row->thread;
	at = names_places(&f, WHAT_THREAD);
	java_name = names_ref(&f, &v, at[THREAD_NAME]);
	os_name = names_ref(&f, &v, at[THREAD_OS_NAME]);
	group = names_ref(&f, &v, at[THREAD_GROUP]);
	t->id = number_at(&f, &v, at[THREAD_ID]);
	t->os_id = number_at(&f, &v, at[THREAD_OS_ID]);
	t->is_virtual = number_at(&f, &v, at[THREAD_VIRTUAL]);
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
	SCOPED(values) struct constant_values v;

	if (!names_values(&f, &v))
		return NULL;
	ref = names_ref(&f, &v, names_places(&f, WHAT_CLASS)[CLASS_NAME]);
	java_class_name(names_resolve(c, &ref), name, sizeof(name));
	row->class.name = arena_copy(&f.names->arena, name, strlen(name));
	names_finish(c, &f, row, n_missing);
	return row->class.name ? &row->class : NULL;
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
	struct text_ref name, descriptor, class;
	const int16_t *at;
	uint64_t n_missing;
	struct named *row;
	struct found f;
	bool is_done;

	if (!names_find(c, type, key, &f))
		return key ? method_missing(c, key) : NULL;
	row = names_row(&f, WHAT_METHOD, &is_done);
	if (!row || is_done)
		return row ? &row->method : NULL;
	n_missing = c->names->n_missing;
	SCOPED(values) struct constant_values v;

	if (!names_values(&f, &v))
		return NULL;
	at = names_places(&f, WHAT_METHOD);
	name = names_ref(&f, &v, at[METHOD_NAME]);
	descriptor = names_ref(&f, &v, at[METHOD_DESCRIPTOR]);
	class = names_ref(&f, &v, at[METHOD_CLASS]);
	row->method.is_hidden = number_at(&f, &v, at[METHOD_HIDDEN]);
	row->method.name = names_resolve(c, &name);
	row->method.descriptor = names_resolve(c, &descriptor);
	row->method.class = class.is_constant ? names_class(c, class.type, class.key) : NULL;
	if (!row->method.class)
		row->method.class = &no_class;
	row->method.has_class = *row->method.class->name;
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

static enum java_frame_type frame_type_at(struct chunk *c, uint64_t type, int64_t key,
					  bool is_native)
{
	struct names *n = c->names;
	struct cached_frame_type *cached =
		&n->frame_types[((uint64_t)key * 2 + is_native) % N_CACHED_FRAME_TYPES];
	uint64_t n_missing = n->n_missing;
	enum java_frame_type as;

	if (cached->is_known && cached->key == key && cached->type == type &&
	    cached->is_native == is_native && cached->round == n->round)
		return cached->as;
	as = frame_type(names_text(c, type, key), is_native);
	if (n->n_missing == n_missing)
		*cached = (struct cached_frame_type){ type, key, true, is_native, as, n->round };
	return as;
}

/* How the frames of a stack are read. */
struct frames {
	const struct layout *layout;
	const int16_t *at; /* of a stack */
	uint64_t method_type;
	uint64_t type_type; /* 0: frames have none */
};

static bool frames_of(const struct found *f, struct frames *frames)
{
	const int16_t *at = names_places(f, WHAT_STACK);
	const struct jfr_leaf *method, *type;
	const struct layout *l;

	l = at[STACK_FRAMES] < 0 ? NULL : layout_elements(f->layout, (size_t)at[STACK_FRAMES]);
	method = !l || at[FRAME_METHOD] < 0 ? NULL : layout_leaf(l, (size_t)at[FRAME_METHOD]);
	type = !l || at[FRAME_TYPE] < 0 ? NULL : layout_leaf(l, (size_t)at[FRAME_TYPE]);
	if (!method || method->kind != VALUE_CONSTANT)
		return false;
	*frames = (struct frames){
		.layout = l,
		.at = at,
		.method_type = method->field->type_id,
		.type_type = type && type->kind == VALUE_CONSTANT ? type->field->type_id : 0,
	};
	return true;
}

static void explain_frame(struct chunk *c, const struct frames *f, const int64_t *numbers,
			  struct java_frame *out)
{
	const int16_t *at = f->at;
	int32_t line = at[FRAME_LINE] < 0 ? 0 : (int32_t)numbers[at[FRAME_LINE]];

	out->method = names_method(c, f->method_type, numbers[at[FRAME_METHOD]]);
	if (!out->method)
		out->method = names_no_method(c);
	out->line = line > 0 ? line : 0;
	out->bci = at[FRAME_BCI] < 0 ? -1 : (int32_t)numbers[at[FRAME_BCI]];
	out->type = JAVA_OTHER_CODE;
	if (f->type_type)
		out->type = frame_type_at(c, f->type_type, numbers[at[FRAME_TYPE]],
					  !out->method->has_class);
}

#define FEW_LEAVES 16 /* of a frame: JVMs write four */

/* How many could be read; constants do not move while they are. */
static size_t read_frames(struct chunk *c, const struct frames *f, struct reader *r,
			  struct java_frame *out, size_t n)
{
	size_t n_leaves = layout_n_leaves(f->layout), i;
	SCOPED(free) int64_t *many = NULL;
	int64_t few[FEW_LEAVES], *numbers = few;

	if (n_leaves > FEW_LEAVES)
		numbers = many = malloc(n_leaves * sizeof(*many));
	for (i = 0; numbers && i < n && !layout_read_numbers(f->layout, r, numbers); i++)
		explain_frame(c, f, numbers, &out[i]);
	return i;
}

static int fill_stack(struct chunk *c, struct found *f, struct java_stack *s)
{
	SCOPED(values) struct constant_values v;
	const struct jfr_value *array;
	struct java_frame *out;
	struct frames frames;
	struct reader r;
	size_t n;

	if (!names_values(f, &v) || !frames_of(f, &frames))
		return -EBADMSG;
	array = &v.all[frames.at[STACK_FRAMES]];
	n = array->n < MAX_FRAMES ? (size_t)array->n : MAX_FRAMES;
	out = n <= s->n ? (struct java_frame *)s->frames
			: arena_calloc(&f->names->arena, n, sizeof(*out));
	if (n && !out)
		return -ENOMEM;
	s->is_truncated = number_at(f, &v, frames.at[STACK_TRUNCATED]) || (uint64_t)array->n > n;
	reader_init(&r, array->string.bytes, array->string.len);
	s->n = read_frames(c, &frames, &r, out, n);
	s->frames = out;
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
