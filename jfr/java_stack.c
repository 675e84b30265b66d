// SPDX-License-Identifier: Apache-2.0
/* Stacks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/scoped.h"
#include "jfr/chunk.h"
#include "jfr/constants.h"
#include "jfr/java_frame.h"
#include "jfr/layout.h"
#include "jfr/names_row.h"

#define MAX_FRAMES 65536 /* of a stack; async-profiler writes up to 2,048 */

/* Room for n; what there was is used again when a stack is put together again. */
static const struct java_frame **room_for_frames(struct arena *arena, const struct java_stack *s,
						 size_t n)
{
	if (n <= s->n)
		return (const struct java_frame **)s->frames;
	return arena_alloc(arena, n * sizeof(*s->frames));
}

static int fill_stack(struct chunk *c, struct found *f, struct java_stack *s)
{
	int16_t at[MEMO_LEAVES]; /* its own: a method of the same type takes the place of the pool's
				  */
	SCOPED(values) struct constant_values v;
	const struct java_frame **out;
	const struct jfr_value *array;
	struct frames frames;
	struct reader r;
	size_t n;

	memcpy(at, names_places(f, WHAT_STACK), sizeof(at));
	if (!names_values(f, &v) || !frames_init(&frames, c, f, at, s))
		return -EBADMSG;
	array = &v.all[at[STACK_FRAMES]];
	n = array->n < MAX_FRAMES ? (size_t)array->n : MAX_FRAMES;
	out = room_for_frames(&f->names->arena, s, n);
	if (n && !out)
		return -ENOMEM;
	s->is_truncated = names_number(f, &v, at[STACK_TRUNCATED]) || (uint64_t)array->n > n;
	reader_init(&r, array->string.bytes, array->string.len);
	s->n = frames_read(&frames, &r, out, n);
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
