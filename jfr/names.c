// SPDX-License-Identifier: Apache-2.0
#include "jfr/names_row.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/array.h"
#include "jfr/chunk.h"
#include "jfr/constants.h"
#include "jfr/layout.h"

#define MAX_MISSING 4096 /* things that are missing and still told apart */

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
	n->strings = NULL;
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

/* Of most chunks nothing is asked for once they are read. */
void names_doubt(struct names *n)
{
	if (!n)
		return;
	names_update(n);
	n->is_in_doubt = true;
}

static void leave_behind(struct names *n)
{
	n->is_in_doubt = false;
	names_forget(n);
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

bool names_find_in(struct names *n, uint64_t type, int64_t key, struct found *f)
{
	struct pool *pool = n ? constants_pool(n->constants, type) : NULL;

	if (n && n->is_in_doubt)
		leave_behind(n);
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
	if (names_find_in(c->names, type, key, f))
		return true;
	if (names_is_none(key)) /* unless there is such a constant */
		return false;
	if (names_find_in(c->older[0], type, key, f) || names_find_in(c->older[1], type, key, f))
		return true;
	/* The way that the header shows need not lead to all there is. */
	if (!chunk_search(c) && names_find_in(c->names, type, key, f))
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
	if (!v->all)
		return false;
	return !(pool_is_mixed(f->pool) ? layout_read_padded(f->layout, &r, v->all)
					: layout_read_whole(f->layout, &r, v->all));
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
	/* Most are texts, which need the least. */
	static const size_t sizes[N_WHATS] = {
#define ROW_SIZE(member) (offsetof(struct named, member) + sizeof(((struct named *)NULL)->member))
		[WHAT_TEXT] = ROW_SIZE(text),	[WHAT_THREAD] = ROW_SIZE(thread),
		[WHAT_CLASS] = ROW_SIZE(class), [WHAT_METHOD] = ROW_SIZE(method),
		[WHAT_STACK] = ROW_SIZE(stack),
#undef ROW_SIZE
	};
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
	row = arena_calloc(&n->arena, 1, sizes[what]);
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
