// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/counters.h"
#include "core/profile.h"
#include "runtimes/process.h"
#include "runtimes/python.h"
#include "runtimes/runtime.h"

/* Frames known at once, in pairs that share a hash: 2 MiB. A busy machine was seen to need 20,000.
 */
#define CACHE_SIZE (1u << 16)
#define MAX_RUNTIMES 16

struct cached {
	uint64_t addr;
	uint32_t generation; /* of the mappings it holds for; 0: all */
	uint32_t jit_names;  /* and of the names; 0: all */
	uint32_t location;   /* 0: free */
	uint32_t extra;
	uint8_t kind, flags;
	uint16_t zero;
};

struct explain {
	struct runtime_env env;
	struct runtime runtimes[MAX_RUNTIMES];
	size_t n_runtimes;
	struct runtime *by_kind[UINT8_MAX + 1];
	struct cached *cache;
	struct wire_frame frames[MAX_EXPLAINED]; /* native and Python ones together */
	uint32_t marks[N_COUNTERS];		 /* locations, made when needed */
};

struct explain *explain_new(struct processes *ps, struct objects *os, struct kallsyms *kernel,
			    struct profile *p)
{
	struct explain *ex = calloc(1, sizeof(*ex));

	if (!ex)
		return NULL;
	ex->env = (struct runtime_env){ ps, os, kernel, p, ex->runtimes, false, false };
	ex->cache = calloc(CACHE_SIZE, sizeof(*ex->cache));
	if (!ex->cache)
		goto fail;
	for (; runtimes[ex->n_runtimes] && ex->n_runtimes < MAX_RUNTIMES; ex->n_runtimes++) {
		struct runtime *rt = &ex->runtimes[ex->n_runtimes];

		rt->ops = runtimes[ex->n_runtimes];
		rt->env = &ex->env;
		rt->priv = calloc(1, rt->ops->priv_size ? rt->ops->priv_size : 1);
		if (!rt->priv)
			goto fail;
		if (rt->ops->frame_kind)
			ex->by_kind[rt->ops->frame_kind] = rt;
	}
	return ex;
fail:
	explain_free(ex);
	return NULL;
}

void explain_show_eval(struct explain *ex, bool is_shown)
{
	ex->env.is_eval_shown = is_shown;
}

void explain_logical(struct explain *ex, bool is_logical)
{
	ex->env.is_logical = is_logical;
}

void explain_free(struct explain *ex)
{
	if (!ex)
		return;
	for (size_t i = 0; i < ex->n_runtimes; i++) {
		struct runtime *rt = &ex->runtimes[i];

		if (rt->ops->close)
			rt->ops->close(rt);
		free(rt->priv);
	}
	free(ex->cache);
	free(ex);
}

/* The pair of slots of a frame. */
static struct cached *cache_slots(const struct explain *ex, const struct cached *key)
{
	uint64_t h = key->addr ^ (uint64_t)key->generation << 40 ^ (uint64_t)key->jit_names << 20 ^
		     (uint64_t)key->extra << 32 ^ (uint64_t)key->kind << 60 ^ key->flags;

	h *= UINT64_C(0x9e3779b97f4a7c15);
	return &ex->cache[(h >> 40) & (CACHE_SIZE - 2)];
}

static bool is_key(const struct cached *c, const struct cached *key)
{
	return c->addr == key->addr && c->generation == key->generation &&
	       c->jit_names == key->jit_names && c->extra == key->extra && c->kind == key->kind &&
	       c->flags == key->flags;
}

static uint32_t cache_find(const struct explain *ex, const struct cached *key)
{
	const struct cached *slots = cache_slots(ex, key);

	if (is_key(&slots[0], key))
		return slots[0].location;
	return is_key(&slots[1], key) ? slots[1].location : 0;
}

static void cache_add(struct explain *ex, const struct cached *key)
{
	struct cached *slots = cache_slots(ex, key);

	slots[1] = slots[0];
	slots[0] = *key;
}

static uint32_t locate(struct explain *ex, const struct frame_at *at, enum keep *keep)
{
	struct runtime *rt = ex->by_kind[at->frame->kind];
	uint32_t id = rt ? rt->ops->locate(rt, at, keep) : 0;

	return id ? id
		  : runtime_named_location(&ex->env, FRAME_UNKNOWN, at->frame->addr, "[unknown]");
}

/* What a frame's location holds for. Python frames are numbered by the program, whatever is mapped;
   forks share their mappings' generation, but no numbers. */
static uint32_t generation_of(const struct process *proc, const struct wire_frame *f)
{
	if (!proc)
		return 0;
	return f->kind == WIRE_FRAME_PYTHON ? proc->serial : proc->generation;
}

static uint32_t location_of(struct explain *ex, const struct frame_at *at)
{
	const struct wire_frame *f = at->frame;
	const struct process *proc = f->kind == WIRE_FRAME_KERNEL ? NULL : at->proc;
	struct cached key = { .addr = f->addr, .kind = f->kind, .flags = f->flags };
	enum keep keep = KEEP_NOT;
	uint32_t id;

	if (f->kind != WIRE_FRAME_NATIVE) /* theirs is where they are on the stack */
		key.extra = f->extra;
	key.generation = generation_of(proc, f);
	id = cache_find(ex, &key);
	if (!id && proc && proc->jit_names) {
		key.jit_names = proc->jit_names;
		id = cache_find(ex, &key);
	}
	if (id)
		return id;
	key.location = locate(ex, at, &keep);
	/* What came to be known on the way may have changed either number. */
	key.generation = generation_of(proc, f);
	key.jit_names = proc && keep == KEEP_WITH_NAMES ? proc->jit_names : 0;
	if (keep != KEEP_NOT && key.location)
		cache_add(ex, &key);
	return key.location;
}

static const char *end_text(int end)
{
	switch (end) {
#define X(id, name, text) \
	case id:          \
		return text;
		END_REASONS(X)
#undef X
	}
	return "unknown reason";
}

/* The mark at the root of a stack that is not whole; 0 when it is. */
static uint32_t mark_of(struct explain *ex, int end)
{
	char name[128];

	if (end == END_ROOT || end == END_KERNEL_ONLY || end < 0 || end >= N_COUNTERS)
		return 0;
	if (!ex->marks[end]) {
		if (end == END_MAX_FRAMES || end == END_SNAPSHOT_TRUNCATED)
			snprintf(name, sizeof(name), "[truncated]");
		else
			snprintf(name, sizeof(name), "[broken: %s]", end_text(end));
		ex->marks[end] = runtime_named_location(&ex->env, FRAME_MARK, 0, name);
	}
	return ex->marks[end];
}

/* How many frames there are up to the coroutine of the task; 0: it is not among them. */
static size_t frames_of_task(const struct wire_frame *frames, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (frames[i].kind == WIRE_FRAME_PYTHON && frames[i].flags & WIRE_FRAME_TASK)
			return i + 1;
	return 0;
}

/* Behind the n locations of a task those of what waits for it. Returns how many there are then. */
static size_t add_parents(struct explain *ex, struct process *proc, const struct walked *stack,
			  uint32_t *out, size_t n)
{
	size_t n_parents;
	const uint32_t *parents = python_parents_of(&ex->env, proc, stack->task, &n_parents);

	if (n_parents > MAX_EXPLAINED - 1 - n)
		n_parents = MAX_EXPLAINED - 1 - n;
	if (n_parents)
		memcpy(out + n, parents, n_parents * sizeof(*out));
	return n + n_parents;
}

static size_t locate_all(struct explain *ex, struct process *proc, uint64_t time_ns,
			 const struct wire_frame *frames, size_t n, uint32_t *out)
{
	for (size_t i = 0; i < n; i++) {
		struct frame_at at = { proc, time_ns, &frames[i] };

		out[i] = location_of(ex, &at);
	}
	return n;
}

size_t explain_stack(struct explain *ex, struct process *proc, uint64_t time_ns,
		     const struct walked *stack, uint32_t *out)
{
	const struct wire_frame *frames = stack->frames, *parents = frames;
	uint32_t mark = mark_of(ex, stack->end);
	size_t n = stack->n, n_out, n_of_task = 0, n_parents = 0;

	for (size_t i = 0; proc && i < ex->n_runtimes; i++)
		if (ex->runtimes[i].ops->before_sample)
			ex->runtimes[i].ops->before_sample(&ex->runtimes[i], proc, time_ns);
	if (stack->python && proc) {
		size_t n_merged = python_explain(&ex->env, proc, stack, ex->frames,
						 MAX_EXPLAINED - 2, &n_parents);

		parents = &ex->frames[n_merged];
		frames = n_merged ? ex->frames : frames;
		n = n_merged ? n_merged : n;
		if (ex->env.is_logical && stack->task)
			n_of_task = frames_of_task(frames, n);
	}
	n_out = locate_all(ex, proc, time_ns, frames, n_of_task ? n_of_task : n, out);
	if (n_of_task && stack->python->has_parents)
		n_out += locate_all(ex, proc, time_ns, parents, n_parents, out + n_out);
	else if (n_of_task)
		n_out = add_parents(ex, proc, stack, out, n_out);
	if (mark)
		out[n_out++] = mark;
	return n_out;
}

uint32_t explain_mark(struct explain *ex, const char *name)
{
	return runtime_named_location(&ex->env, FRAME_MARK, 0, name);
}

size_t explain_symbolize(struct explain *ex, bool (*is_stopped)(void))
{
	size_t n_left = 0;

	for (size_t i = 0; i < ex->n_runtimes; i++)
		if (ex->runtimes[i].ops->symbolize)
			n_left += ex->runtimes[i].ops->symbolize(&ex->runtimes[i], is_stopped);
	return n_left;
}

void explain_drop_process(struct explain *ex, struct process *proc)
{
	for (size_t i = 0; i < ex->n_runtimes; i++)
		if (ex->runtimes[i].ops->drop)
			ex->runtimes[i].ops->drop(&ex->runtimes[i], proc);
}

size_t explain_memory(const struct explain *ex)
{
	size_t sum = sizeof(*ex) + CACHE_SIZE * sizeof(*ex->cache);

	for (size_t i = 0; i < ex->n_runtimes; i++)
		if (ex->runtimes[i].ops->memory)
			sum += ex->runtimes[i].ops->memory(&ex->runtimes[i]);
	return sum;
}
