// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/intern.h"
#include "core/mem_cache.h"
#include "core/scoped.h"
#include "runtimes/python_dict.h"
#include "runtimes/python_str.h"
#include "runtimes/python_tids.h"

#define TRIES 4	     /* to read a stack that does not change meanwhile */
#define TAGS 3ul     /* lowest bits of references, from 3.14 on */
#define MAX_NAME 256 /* characters of a thread's name */

SCOPED_DEFINE(struct intern, intern_free)

struct raw_frame {
	uint64_t frame, code, instr;
};

struct stack {
	struct raw_frame frames[PYTHON_MAX_STACK];
	size_t n;
	bool is_cut;
};

static uint64_t top_frame(struct python_heap *h, uint64_t thread)
{
	const struct python_layout *l = h->layout;
	uint64_t cframe;

	if (l->thread.frame)
		return python_word(h, thread + l->thread.frame);
	if (l->thread.current_frame)
		return python_word(h, thread + l->thread.current_frame);
	cframe = python_word(h, thread + l->thread.cframe);
	return cframe ? python_word(h, cframe + l->cframe.current_frame) : 0;
}

static uint64_t frame_instr(struct python_heap *h, uint64_t frame)
{
	uint64_t at = frame + h->layout->frame.instr;

	return h->layout->instr == PYTHON_INSTR_POINTER ? python_word(h, at) : python_int(h, at);
}

/* A frame that stands for the beginning of native code. */
static bool is_shim(struct python_heap *h, uint64_t frame)
{
	const struct python_layout *l = h->layout;
	uint8_t owner = l->frame.owner ? python_byte(h, frame + l->frame.owner) : 0;

	return l->chain == PYTHON_SHIMS &&
	       (owner == PYTHON_OWNER_SHIM || owner == PYTHON_OWNER_SHIM2);
}

static void walk(struct python_heap *h, uint64_t frame, struct stack *s)
{
	const struct python_layout *l = h->layout;
	size_t n_seen = 0;

	s->n = 0;
	s->is_cut = false;
	for (; frame; frame = python_word(h, frame + l->frame.previous)) {
		uint64_t code = python_word(h, frame + l->frame.code);

		if (l->version >= PYTHON_FIRST(3, 14))
			code &= ~TAGS;
		if (n_seen++ >= 2 * PYTHON_MAX_STACK || s->n == PYTHON_MAX_STACK) {
			s->is_cut = true;
			return;
		}
		if (is_shim(h, frame))
			continue;
		if (python_kind(h, code) != PYTHON_CODE) {
			s->is_cut = true;
			return;
		}
		s->frames[s->n++] = (struct raw_frame){ frame, code, frame_instr(h, frame) };
	}
}

/* The innermost function may go on meanwhile, the others are where they call it. */
static bool is_same(const struct stack *a, const struct stack *b)
{
	if (a->n != b->n || !a->n)
		return a->n == b->n;
	return a->frames[0].frame == b->frames[0].frame && a->frames[0].code == b->frames[0].code &&
	       !memcmp(a->frames + 1, b->frames + 1, (a->n - 1) * sizeof(*a->frames));
}

/* Twice with fresh memory, until both are the same. */
static bool walk_settled(struct python_heap *h, uint64_t thread, struct stack *s,
			 struct stack *again)
{
	for (int i = 0; i < TRIES; i++) {
		mem_cache_forget(h->mem);
		walk(h, top_frame(h, thread), s);
		mem_cache_forget(h->mem);
		walk(h, top_frame(h, thread), again);
		if (is_same(s, again))
			return true;
	}
	return false;
}

int python_threads_read_stack(struct python_heap *h, struct python_functions *fs,
			      struct python_threads *ts, struct python_thread *t)
{
	SCOPED(free) struct stack *s = malloc(sizeof(*s));
	SCOPED(free) struct stack *again = malloc(sizeof(*again));

	if (!s || !again)
		return -ENOMEM;
	t->is_torn = !walk_settled(h, t->addr, s, again);
	t->is_cut = s->is_cut;
	if (s->n > PYTHON_MAX_FRAMES - ts->n_frames) {
		s->n = PYTHON_MAX_FRAMES - ts->n_frames;
		t->is_cut = true;
	}
	ts->n_frames += s->n;
	t->frames = calloc(s->n + 1, sizeof(*t->frames));
	if (!t->frames)
		return -ENOMEM;
	for (size_t i = 0; i < s->n; i++) {
		const struct raw_frame *f = &s->frames[i];

		t->frames[t->n_frames++] = (struct python_thread_frame){
			f->frame, python_functions_place(fs, h, f->code, 0, f->instr)
		};
	}
	return 0;
}

static bool holds_gil(struct python_heap *h, uint64_t runtime, uint64_t interp, uint64_t thread)
{
	const struct python_layout *l = h->layout;
	uint64_t gil = l->runtime.gil ? runtime + l->runtime.gil : 0;

	if (l->interp.gil)
		gil = python_word(h, interp + l->interp.gil);
	return gil && python_int(h, gil + PYTHON_GIL_LOCKED) == 1 &&
	       python_word(h, gil + PYTHON_GIL_LAST_HOLDER) == thread;
}

struct named {
	struct python_heap *heap;
	uint64_t id, thread;
};

static bool is_named(void *ctx, uint64_t key, uint64_t value)
{
	struct named *n = ctx;
	uint64_t id;

	if (!python_int_value(n->heap, key, &id) || id != n->id)
		return true;
	n->thread = value;
	return false;
}

/* threading._active[thread_id]._name */
static char *thread_name(struct python_heap *h, uint64_t modules, uint64_t thread_id)
{
	uint64_t threading = python_module_dict(h, modules, "threading");
	struct named n = { h, thread_id, 0 };
	uint64_t name;
	char *text = NULL;
	size_t len;

	python_dict_each(h, python_dict_get(h, threading, "_active"), is_named, &n);
	name = n.thread ? python_attribute(h, n.thread, "_name") : 0;
	if (name && python_str_read(h->mem, h->layout, name, MAX_NAME, &text, &len) < 0)
		text = NULL;
	return text;
}

static int add_thread(struct python_heap *h, const struct python_tids *tids, uint64_t runtime,
		      uint64_t addr, struct python_functions *fs, struct python_threads *ts)
{
	const struct python_interp *interp = &ts->interps[ts->n_interps - 1];
	struct python_thread t = { .addr = addr, .interp = (uint32_t)ts->n_interps - 1 };
	int err;

	if (ARRAY_RESERVE(ts->threads, ts->cap_threads, ts->n_threads) < 0)
		return -ENOMEM;
	t.thread_id = python_word(h, addr + h->layout->thread.thread_id);
	t.tid = python_tid(tids, h, addr, t.thread_id);
	t.name = thread_name(h, interp->modules, t.thread_id);
	err = fs ? python_threads_read_stack(h, fs, ts, &t) : 0;
	t.has_gil = holds_gil(h, runtime, interp->addr, addr);
	ts->threads[ts->n_threads++] = t;
	return err;
}

/* False: it was there already, so the list goes in a circle. */
static bool is_new(struct intern *seen, uint64_t addr)
{
	uint32_t n = intern_count(seen);

	return intern_add(seen, &addr, sizeof(addr)) > n;
}

static int add_interp(struct python_heap *h, uint64_t addr, struct python_threads *ts)
{
	const struct python_layout *l = h->layout;
	struct python_interp interp = { .addr = addr };

	if (ARRAY_RESERVE(ts->interps, ts->cap_interps, ts->n_interps) < 0)
		return -ENOMEM;
	interp.id = (int64_t)python_word(h, addr + l->interp.id);
	interp.modules = python_word(h, addr + l->interp.modules);
	interp.tasks_module = python_module_dict(h, interp.modules, "asyncio.tasks");
	interp.has_c_tasks = python_module_dict(h, interp.modules, "_asyncio") != 0;
	ts->interps[ts->n_interps++] = interp;
	return 0;
}

static int read_interps(struct python_heap *h, const struct python_tids *tids, uint64_t runtime,
			struct python_functions *fs, struct intern *seen,
			struct python_threads *out)
{
	const struct python_layout *l = h->layout;
	uint64_t interp = python_word(h, runtime + l->runtime.interpreters_head);

	for (; interp && is_new(seen, interp) && out->n_interps < PYTHON_MAX_INTERPS;
	     interp = python_word(h, interp + l->interp.next)) {
		uint64_t thread = python_word(h, interp + l->interp.threads_head);
		int err = add_interp(h, interp, out);

		for (;
		     thread && is_new(seen, thread) && !err && out->n_threads < PYTHON_MAX_THREADS;
		     thread = python_word(h, thread + l->thread.next)) {
			if (python_word(h, thread + l->thread.interp) != interp)
				break; /* it ended just now */
			err = add_thread(h, tids, runtime, thread, fs, out);
		}
		if (err < 0)
			return err;
	}
	return out->n_threads ? 0 : -EBADMSG;
}

int python_threads_read(struct python_heap *h, pid_t pid, uint64_t runtime,
			struct python_functions *fs, struct python_threads *out)
{
	SCOPED(intern_free) struct intern *seen = intern_new();
	struct python_tids tids = { 0 };
	int err = seen ? python_tids_read(pid, &tids) : -ENOMEM;

	if (!err)
		err = read_interps(h, &tids, runtime, fs, seen, out);
	out->inner_pid = python_tids_inner(&tids, pid);
	python_tids_deinit(&tids);
	return err;
}

void python_threads_deinit(struct python_threads *ts)
{
	for (size_t i = 0; i < ts->n_threads; i++) {
		free(ts->threads[i].name);
		free(ts->threads[i].frames);
	}
	free(ts->threads);
	free(ts->interps);
	*ts = (struct python_threads){ 0 };
}
