// SPDX-License-Identifier: Apache-2.0
/* Stacks and their frames. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/scoped.h"
#include "jfr/chunk.h"
#include "jfr/constants.h"
#include "jfr/layout.h"
#include "jfr/names_row.h"

#define MAX_FRAMES 65536 /* of a stack; async-profiler writes up to 2,048 */

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

/* How frames are read: those that lie in a stack, or one that is a constant itself, as JMC's writer
   has them. */
struct frames {
	const struct layout *layout;
	const int16_t *at; /* as of a stack */
	uint64_t method_type;
	uint64_t type_type; /* 0: frames have none */
};

static bool frames_in(const struct layout *l, const int16_t *at, struct frames *frames)
{
	const struct jfr_leaf *method, *type;

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
					  !out->method->is_of_java);
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

/* The type of frames that are constants; 0: they lie in the stack. */
static uint64_t frames_type(const struct layout *elements)
{
	const struct jfr_leaf *leaf =
		elements && layout_n_leaves(elements) == 1 ? layout_leaf(elements, 0) : NULL;

	return leaf && !*leaf->path && leaf->kind == VALUE_CONSTANT ? leaf->field->type_id : 0;
}

static void find_frame(struct chunk *c, uint64_t type, int64_t key, struct java_frame *out)
{
	static const char *const paths[] = {
		[FRAME_METHOD] = "method",
		[FRAME_LINE] = "lineNumber",
		[FRAME_BCI] = "bytecodeIndex",
		[FRAME_TYPE] = "type",
	};
	int16_t at[FRAME_TYPE + 1];
	int64_t numbers[FEW_LEAVES];
	struct frames frames;
	struct reader r;
	struct found f;

	*out = (struct java_frame){ .method = names_no_method(c),
				    .bci = -1,
				    .type = JAVA_OTHER_CODE };
	if (!names_find(c, type, key, &f) || layout_n_leaves(f.layout) > FEW_LEAVES)
		return;
	reader_init(&r, f.constant->bytes, f.constant->len);
	for (unsigned int i = FRAME_METHOD; i <= FRAME_TYPE; i++)
		at[i] = (int16_t)layout_find(f.layout, paths[i]);
	if (frames_in(f.layout, at, &frames) && !layout_read_numbers(f.layout, &r, numbers))
		explain_frame(c, &frames, numbers, out);
}

static size_t find_frames(struct chunk *c, uint64_t type, struct reader *r, struct java_frame *out,
			  size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		int64_t key = (int64_t)wire_varint(r, "frame");

		if (reader_error(r))
			break;
		find_frame(c, type, key, &out[i]);
	}
	return i;
}

static int fill_stack(struct chunk *c, struct found *f, struct java_stack *s)
{
	int16_t at[MEMO_LEAVES]; /* its own: a method of the same type takes the place of the pool's
				  */
	const struct layout *elements;
	uint64_t type;
	SCOPED(values) struct constant_values v;
	const struct jfr_value *array;
	struct java_frame *out;
	struct frames frames;
	struct reader r;
	size_t n;

	memcpy(at, names_places(f, WHAT_STACK), sizeof(at));
	elements =
		at[STACK_FRAMES] < 0 ? NULL : layout_elements(f->layout, (size_t)at[STACK_FRAMES]);
	type = frames_type(elements);
	if (!names_values(f, &v) || (!type && !frames_in(elements, at, &frames)))
		return -EBADMSG;
	array = &v.all[at[STACK_FRAMES]];
	n = array->n < MAX_FRAMES ? (size_t)array->n : MAX_FRAMES;
	out = n <= s->n ? (struct java_frame *)s->frames
			: arena_calloc(&f->names->arena, n, sizeof(*out));
	if (n && !out)
		return -ENOMEM;
	s->is_truncated = names_number(f, &v, at[STACK_TRUNCATED]) || (uint64_t)array->n > n;
	reader_init(&r, array->string.bytes, array->string.len);
	s->n = type ? find_frames(c, type, &r, out, n) : read_frames(c, &frames, &r, out, n);
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
	row->stack.text = NULL;
	row->stack.stack = 0;
	err = fill_stack(c, &f, &row->stack);
	if (err == -ENOMEM)
		return NULL;
	names_finish(c, &f, row, n_missing);
	row->stack.is_partial = err || row->is_partial;
	return &row->stack;
}
