// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/clock.h"
#include "core/mem.h"
#include "core/scoped.h"
#include "runtimes/process.h"
#include "runtimes/procfs.h"
#include "runtimes/python_dict.h"
#include "runtimes/python_share.h"
#include "runtimes/python_str.h"
#include "unwinders/arch.h"

#define MAX_NAMES 4096 /* threads of one process; further ones have no name */
#define MAX_CHARS 1024 /* of one name */
#define MAX_INTERPS 8
#define CACHE_BYTES (4u << 20)
/* How long names hold, and between two looks for a thread that has none: looking takes a twentieth
   of the time at most, and happens ever less while it finds nothing new. */
#define HOLD_NS (10 * NS_PER_S)
#define MIN_PAUSE_NS (20 * UINT64_C(1000000))
#define MAX_PAUSE_NS (2 * NS_PER_S)
#define LOOK_SHARE 20

struct look {
	struct python_heap *heap;
	struct python_names *names;
	uint64_t tid_at; /* in what pthread_self() points to */
};

static int by_tid(const void *a, const void *b)
{
	const struct python_named *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* At a whole character where it is too long. */
static void set_name(char out[PYTHON_THREAD_NAME_MAX], const char *text)
{
	static const char more[] = "…";
	size_t n = PYTHON_THREAD_NAME_MAX - sizeof(more);

	if (strlen(text) < PYTHON_THREAD_NAME_MAX) {
		snprintf(out, PYTHON_THREAD_NAME_MAX, "%s", text);
		return;
	}
	while (n && (text[n] & 0xc0) == 0x80)
		n--;
	snprintf(out, PYTHON_THREAD_NAME_MAX, "%.*s%s", (int)n, text, more);
}

/* An entry of threading._active: the thread's pthread_self(), its Thread. */
static bool add_thread(void *ctx, uint64_t key, uint64_t value)
{
	const struct look *look = ctx;
	struct python_names *ns = look->names;
	struct python_heap *h = look->heap;
	SCOPED(free) char *text = NULL;
	uint64_t self, tid, name;
	size_t len;

	if (!python_int_value(h, key, &self))
		return true;
	tid = python_int(h, self + look->tid_at);
	name = python_attribute(h, value, "_name");
	if (!tid || tid > INT32_MAX || python_kind(h, name) != PYTHON_STR ||
	    python_str_read(h->mem, h->layout, name, MAX_CHARS, &text, &len) < 0 || !*text ||
	    !strcmp(text, "MainThread"))
		return true;
	if (ns->n == MAX_NAMES || ARRAY_RESERVE(ns->items, ns->cap, ns->n) < 0)
		return false;
	ns->items[ns->n].tid = (pid_t)tid;
	set_name(ns->items[ns->n++].name, text);
	return true;
}

static void read_names(struct look *look, uint64_t runtime)
{
	struct python_heap *h = look->heap;
	uint64_t interp = python_word(h, runtime + h->layout->runtime.interpreters_head);

	for (int i = 0; interp && i < MAX_INTERPS; i++) {
		uint64_t modules = python_word(h, interp + h->layout->interp.modules);
		uint64_t threading = python_module_dict(h, modules, "threading");

		if (threading)
			python_dict_each(h, python_dict_get(h, threading, "_active"), add_thread,
					 look);
		interp = python_word(h, interp + h->layout->interp.next);
	}
	if (look->names->n)
		qsort(look->names->items, look->names->n, sizeof(*look->names->items), by_tid);
}

const char *python_names_get(const struct python_names *ns, pid_t tid, uint64_t now_ns)
{
	size_t n = ARRAY_COUNT_UP_TO(ns->items, ns->n, tid, tid);

	if (!n || ns->items[n - 1].tid != tid || now_ns >= ns->good_until_ns)
		return NULL;
	return ns->items[n - 1].name;
}

bool python_names_is_due(const struct python_names *ns, bool is_main, uint64_t now_ns)
{
	return now_ns >= ns->next_look_ns && (!is_main || now_ns >= ns->good_until_ns);
}

void python_names_look(struct python_names *ns, struct mem *m,
		       const struct python_names_source *source, uint64_t now_ns)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC), least;
	struct python_search search;
	size_t before = ns->n;
	struct python_heap h;

	if (!python_search_begin(&search, source->part, m, source->layout, CACHE_BYTES, &h)) {
		struct look look = { &h, ns, source->is_musl ? MUSL_TID : PTHREAD_TID };

		ns->n = 0;
		read_names(&look, source->runtime);
		python_search_end(&search, source->part, &h);
		ns->good_until_ns = now_ns + HOLD_NS;
	}
	least = (clock_ns(CLOCK_MONOTONIC) - start) * LOOK_SHARE;
	ns->pause_ns = ns->n != before || !ns->pause_ns ? MIN_PAUSE_NS : ns->pause_ns * 2;
	ns->pause_ns = ns->pause_ns < MAX_PAUSE_NS ? ns->pause_ns : MAX_PAUSE_NS;
	ns->next_look_ns = now_ns + (ns->pause_ns > least ? ns->pause_ns : least);
}

/* As the process itself knows it; 0: nobody knows. */
static pid_t inner_tid(struct python_names *ns, struct processes *ps, struct process *proc,
		       pid_t tid)
{
	__auto_type known = &ns->inner[(unsigned int)tid % PYTHON_INNER_TIDS];
	struct proc_status status;

	if (!process_credentials(ps, proc) || proc->ns_pid == proc->pid)
		return tid;
	if (known->tid != tid && !procfs_status(tid, &status)) {
		known->tid = tid;
		known->inner = status.ns_pid;
	}
	return known->tid == tid ? known->inner : 0;
}

const char *python_names_of(struct python_names *ns, struct processes *ps, struct process *proc,
			    const struct python_names_source *source, pid_t tid)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	bool is_main = tid == proc->pid;
	const char *name;
	struct mem *mem;

	tid = inner_tid(ns, ps, proc, tid);
	name = python_names_get(ns, tid, now_ns);
	if (name || proc->exit_time_ns || !python_names_is_due(ns, is_main, now_ns))
		return name;
	mem = mem_live(proc->pid, &proc->patience);
	if (mem)
		python_names_look(ns, mem, source, now_ns);
	mem_free(mem);
	return python_names_get(ns, tid, now_ns);
}

void python_names_deinit(struct python_names *ns)
{
	free(ns->items);
	*ns = (struct python_names){ 0 };
}
