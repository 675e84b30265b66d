// SPDX-License-Identifier: Apache-2.0
/*
 * Compiled code in files. A location is (file's segment, address), so that all processes that run
 * the file share it; it gets its names later, once for each address.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/hurry.h"
#include "core/profile.h"
#include "core/array.h"
#include "runtimes/process.h"
#include "runtimes/runtime.h"
#include "symbolizer/object.h"

struct unnamed {
	struct object *object;
	uint64_t address;
	uint32_t location;
};

struct native {
	struct unnamed *unnamed;
	size_t n, cap;
};

static const struct segment *segment_of(const struct object *o, uint64_t address)
{
	const struct segment *segments;
	size_t n;

	segments = object_segments(o, &n);
	for (size_t i = 0; i < n; i++)
		if (address >= segments[i].vaddr && address - segments[i].vaddr < segments[i].memsz)
			return &segments[i];
	return n ? &segments[0] : NULL;
}

/* Without the file, offsets in it stand for addresses: start is offset, as for most files. */
static uint32_t profile_mapping_of(const struct runtime_env *env, const struct mapping *m,
				   uint64_t address)
{
	const struct segment *s = m->object ? segment_of(m->object, address) : NULL;
	struct profile_mapping row = { .start = m->pgoff,
				       .limit = m->pgoff + (m->end - m->start),
				       .offset = m->pgoff };
	struct profile *p = env->profile;

	if (s) {
		row.start = s->vaddr;
		row.limit = s->vaddr + s->memsz;
		row.offset = s->offset;
	}
	row.filename = profile_string(p, processes_string(env->processes, m->path));
	row.build_id = profile_string(p, m->object ? object_build_id(m->object)
						   : processes_string(env->processes, m->build_id));
	return profile_mapping(p, &row);
}

static void remember(struct native *native, struct object *o, uint64_t address, uint32_t location)
{
	if (ARRAY_RESERVE(native->unnamed, native->cap, native->n) < 0)
		return;
	native->unnamed[native->n++] = (struct unnamed){ o, address, location };
}

static uint32_t locate_in_file(struct runtime *rt, const struct mapping *m,
			       const struct wire_frame *f)
{
	struct profile *p = rt->env->profile;
	uint64_t address = f->addr - !(f->flags & WIRE_FRAME_EXACT) - m->bias;
	struct location location = { .address = address, .kind = FRAME_NATIVE };
	uint32_t known = profile_n_locations(p), id;

	location.mapping = profile_mapping_of(rt->env, m, address);
	if (f->flags & WIRE_FRAME_GUESSED)
		location.flags |= LOCATION_GUESSED;
	if (m->object)
		location.flags |= LOCATION_UNSYMBOLIZED;
	id = profile_location(p, &location, NULL, 0);
	if (m->object && id > known)
		remember(rt->priv, m->object, address, id);
	return id;
}

static uint32_t locate_native(struct runtime *rt, const struct frame_at *at, enum keep *keep)
{
	const struct runtime_env *env = rt->env;
	const struct mapping *m = NULL;
	uint64_t pc = at->frame->addr - !(at->frame->flags & WIRE_FRAME_EXACT);
	const char *path;
	uint32_t id;

	if (at->proc)
		m = process_mapping(env->processes, at->proc, pc);
	if (m && m->object) {
		*keep = KEEP_WITH_MAPPINGS;
		return locate_in_file(rt, m, at->frame);
	}
	id = at->proc ? runtime_ask(rt, &runtime_jit, at, keep) : 0;
	if (id)
		return id;
	if (!m) {
		*keep = KEEP_NOT; /* so that the maps are read again in time */
		return runtime_named_location(env, FRAME_UNKNOWN, pc, "[unknown]");
	}
	if (m->kind == MAPPING_ANON)
		return runtime_named_location(env, FRAME_UNKNOWN, pc, "[unknown anon]");
	path = processes_string(env->processes, m->path);
	if (*path == '[')
		return runtime_named_location(env, FRAME_NATIVE, pc, path);
	return locate_in_file(rt, m, at->frame);
}

static int by_place(const void *a, const void *b)
{
	const struct unnamed *x = a, *y = b;

	if (x->object != y->object)
		return (uintptr_t)x->object < (uintptr_t)y->object ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

/* What CPython's callers of the eval function have of it inlined is as little for people as itself.
 */
static bool is_eval_wrapper(const struct profile *p, const struct line *line)
{
	const struct function *f = profile_get_function(p, line->function);

	return f && !strcmp(profile_get_string(p, f->name), "_PyEval_EvalFrame");
}

static size_t without_eval_wrappers(const struct profile *p, struct line *lines, size_t n)
{
	size_t n_kept = 0;

	for (size_t i = 0; i < n; i++)
		if (n == 1 || !is_eval_wrapper(p, &lines[i]))
			lines[n_kept++] = lines[i];
	return n_kept;
}

/* File after file: with a memory budget the symbols of one may go when the next is read, and in
   order of the samples each would be read again and again. */
static size_t symbolize_native(struct runtime *rt, bool (*is_stopped)(void))
{
	struct native *native = rt->priv;
	struct line lines[MAX_INLINE_DEPTH];
	size_t done = 0;

	if (native->n)
		qsort(native->unnamed, native->n, sizeof(*native->unnamed), by_place);
	for (; done < native->n && !(is_stopped && is_stopped()); done++) {
		const struct unnamed *u = &native->unnamed[done];
		uint16_t flags = 0;
		size_t n = object_symbolize(u->object, u->address, rt->env->profile, lines,
					    MAX_INLINE_DEPTH, &flags);

		if (hurry_is_on())
			break; /* half of a file's names may be the wrong ones */
		if (!rt->env->is_eval_shown)
			n = without_eval_wrappers(rt->env->profile, lines, n);
		profile_set_lines(rt->env->profile, u->location, lines, n, flags);
	}
	native->n -= done;
	if (native->n)
		memmove(native->unnamed, native->unnamed + done,
			native->n * sizeof(*native->unnamed));
	return native->n;
}

static void close_native(struct runtime *rt)
{
	free(((struct native *)rt->priv)->unnamed);
}

static size_t native_memory(const struct runtime *rt)
{
	return ((const struct native *)rt->priv)->cap * sizeof(struct unnamed);
}

const struct runtime_ops runtime_native = {
	.name = "native",
	.frame_kind = WIRE_FRAME_NATIVE,
	.priv_size = sizeof(struct native),
	.locate = locate_native,
	.symbolize = symbolize_native,
	.close = close_native,
	.memory = native_memory,
};
