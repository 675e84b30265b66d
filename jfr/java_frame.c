// SPDX-License-Identifier: Apache-2.0
#include "jfr/java_frame.h"

#include <stdlib.h>
#include <string.h>

#include "core/scoped.h"
#include "jfr/chunk.h"
#include "jfr/constants.h"
#include "jfr/field_ends.h"
#include "jfr/layout.h"
#include "jfr/memo.h"

#define FEW_LEAVES 16 /* of a frame: JVMs write four */

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

/* As those that lie in a stack are read. */
static bool frames_in(const struct layout *l, const int16_t *at, struct frames *frames)
{
	const struct jfr_leaf *method, *type;

	method = !l || at[FRAME_METHOD] < 0 ? NULL : layout_leaf(l, (size_t)at[FRAME_METHOD]);
	type = !l || at[FRAME_TYPE] < 0 ? NULL : layout_leaf(l, (size_t)at[FRAME_TYPE]);
	if (!method || method->kind != VALUE_CONSTANT)
		return false;
	frames->layout = l;
	frames->at = at;
	frames->method_type = method->field->type_id;
	frames->type_type = type && type->kind == VALUE_CONSTANT ? type->field->type_id : 0;
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
	out->is_hidden = out->method->is_hidden;
	out->line = line > 0 ? line : 0;
	out->bci = at[FRAME_BCI] < 0 ? -1 : (int32_t)numbers[at[FRAME_BCI]];
	out->type = JAVA_OTHER_CODE;
	if (f->type_type)
		out->type = frame_type_at(c, f->type_type, numbers[at[FRAME_TYPE]],
					  !out->method->is_of_java);
}

/* The type of frames that are constants; 0: they lie in the stack. */
static uint64_t frames_type(const struct layout *elements)
{
	const struct jfr_leaf *leaf =
		elements && layout_n_leaves(elements) == 1 ? layout_leaf(elements, 0) : NULL;

	return leaf && !*leaf->path && leaf->kind == VALUE_CONSTANT ? leaf->field->type_id : 0;
}

/* 0: they are to be read field by field. */
static unsigned int n_varints(const struct layout *l)
{
	size_t n = layout_n_leaves(l);

	for (size_t i = 0; i < n; i++)
		if (!layout_is_varint(l, i))
			return 0;
	return n <= FEW_LEAVES ? (unsigned int)n : 0;
}

bool frames_init(struct frames *f, struct chunk *c, const struct found *stack, const int16_t *at,
		 struct java_stack *of)
{
	const struct layout *elements = NULL;

	if (at[STACK_FRAMES] >= 0)
		elements = layout_elements(stack->layout, (size_t)at[STACK_FRAMES]);
	*f = (struct frames){
		.c = c,
		.stack = of,
		.names = stack->names,
		.constant_type = frames_type(elements),
	};
	if (f->constant_type)
		return true;
	if (!frames_in(elements, at, f))
		return false;
	/* Chunks before this one have layouts of their own, which may go. */
	if (f->names == c->names)
		f->n_varints = n_varints(elements);
	return true;
}

/* Of the stack alone: what is missing in it is looked for again, in the same place. */
static const struct java_frame *own_frame(const struct frames *f, const struct java_frame *frame,
					  size_t index, size_t n)
{
	struct java_stack *s = f->stack;

	if (n > s->n_own) {
		s->own = arena_calloc(&f->names->arena, n, sizeof(*s->own));
		s->n_own = s->own ? n : 0;
	}
	if (!s->own)
		return NULL;
	s->own[index] = *frame;
	return &s->own[index];
}

/* The next frame as one of those that have the same bytes. Returns how many; 0: nobody knows. */
static inline size_t frame_key(const struct frames *f, const uint8_t *bytes, size_t left,
			       struct memo_key *key)
{
	uint64_t mask = field_ends_of_16(bytes), ends = mask;
	size_t len;

	if (left < sizeof(key->words))
		ends &= (UINT64_C(1) << left) - 1;
	for (unsigned int i = f->n_varints; i > 1; i--)
		ends &= ends - 1;
	if (!ends)
		return 0;
	len = (size_t)__builtin_ctzll(ends) + 1;
	if (len >= WIRE_VARINT_MAX && field_ends_have_nine(mask, len))
		return 0;
	field_ends_words(bytes, len, key->words);
	key->of = f->layout;
	return len;
}

/* As many of the next frames as are known by their bytes; r moves behind them. */
static size_t read_known(const struct frames *f, struct reader *r, const struct java_frame **out,
			 size_t n)
{
	const struct memo *known = &f->c->names->frames;
	const uint8_t *pos = r->pos;
	struct memo_key key;
	size_t i;

	for (i = 0; i < n; i++) {
		size_t len = frame_key(f, pos, (size_t)(r->end - pos), &key);
		const uint64_t *frame = len ? memo_find(known, &key) : NULL;

		if (!frame)
			break;
		out[i] = (const struct java_frame *)(uintptr_t)*frame;
		pos += len;
	}
	r->pos = pos;
	return i;
}

/* A frame that all stacks share, unless something of it is missing, which is to be counted for each
   of them. */
static const struct java_frame *keep_frame(const struct frames *f, const struct java_frame *frame,
					   const struct memo_key *key)
{
	struct java_frame *kept = names_new_frame(f->c->names);

	if (!kept)
		return NULL;
	*kept = *frame;
	kept->is_shared = true;
	memo_add(&f->c->names->frames, key, (uintptr_t)kept);
	return kept;
}

/* One that is not known. NULL: it cannot be read. */
static const struct java_frame *read_frame(const struct frames *f, struct reader *r,
					   int64_t *numbers, size_t index, size_t n)
{
	struct java_frame frame = { .location = 0 };
	const struct java_frame *kept = NULL;
	struct names *names = f->c->names;
	uint64_t n_missing = names->n_missing;
	struct memo_key key;
	size_t len = f->n_varints ? frame_key(f, r->pos, reader_left(r), &key) : 0;

	if (layout_read_numbers(f->layout, r, numbers))
		return NULL;
	explain_frame(f->c, f, numbers, &frame);
	if (len && names->n_missing == n_missing)
		kept = keep_frame(f, &frame, &key);
	return kept ? kept : own_frame(f, &frame, index, n);
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

/* The same of one that is a constant. */
static const struct java_frame *read_constant(const struct frames *f, struct reader *r,
					      size_t index, size_t n)
{
	int64_t key = (int64_t)wire_varint(r, "frame");
	struct java_frame frame;

	if (reader_error(r))
		return NULL;
	find_frame(f->c, f->constant_type, key, &frame);
	return own_frame(f, &frame, index, n);
}

size_t frames_read(const struct frames *f, struct reader *r, const struct java_frame **out,
		   size_t n)
{
	size_t n_leaves = f->layout ? layout_n_leaves(f->layout) : 0, i;
	SCOPED(free) int64_t *many = NULL;
	int64_t few[FEW_LEAVES], *numbers = few;

	if (n_leaves > FEW_LEAVES)
		numbers = many = malloc(n_leaves * sizeof(*many));
	for (i = 0; numbers && i < n; i++) {
		if (f->n_varints)
			i += read_known(f, r, out + i, n - i);
		if (i == n)
			break;
		out[i] = f->constant_type ? read_constant(f, r, i, n)
					  : read_frame(f, r, numbers, i, n);
		if (!out[i])
			break;
	}
	return i;
}
