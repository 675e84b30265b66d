// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_dump.h"

#include <errno.h>

#include "core/array.h"
#include "core/clock.h"
#include "core/intern.h"
#include "core/mem_cache.h"
#include "core/scoped.h"
#include "runtimes/process.h"
#include "runtimes/process_table.h"
#include "runtimes/python_chain.h"
#include "runtimes/python_image.h"
#include "runtimes/python_task_list.h"
#include "symbolizer/object.h"

/* Of target memory, kept while it is read. */
#define CACHE_BYTES (32u << 20)
/* Pages read in all; 10,000 tasks take some thousands. */
#define MAX_PAGES (1u << 20)

/* So many lie close enough together that reading ahead saves time. */
#define FEW_TASKS 500

SCOPED_DEFINE(struct mem, mem_free)
SCOPED_DEFINE(struct intern, intern_free)

/* The interpreter of a process, and what asyncio in it says of itself. */
struct found {
	const struct python_image *image;
	uint64_t runtime; /* address of _PyRuntime in the process */
	const void *asyncio;
	size_t asyncio_len;
};

static int find(struct processes *ps, struct process *proc, struct found *out)
{
	process_open_files(ps, proc);
	for (size_t i = 0; i < proc->n_mappings; i++) {
		struct object *o = proc->mappings[i].object;
		const struct python_image *image;
		uint64_t vaddr;

		if (!o)
			continue;
		image = out->image ? NULL : python_images_get(ps->pythons, o);
		if (image) {
			out->image = image;
			out->runtime = image->runtime + proc->mappings[i].bias;
		}
		if (!out->asyncio)
			object_section(o, ".AsyncioDebug", &out->asyncio, &out->asyncio_len,
				       &vaddr);
	}
	return out->image ? 0 : -ENOENT;
}

static int list_tasks(struct python_heap *h, const struct python_threads *ts,
		      struct intern *addresses)
{
	bool is_whole = true;

	mem_cache_renew(h->mem);
	for (size_t i = 0; i < ts->n_threads; i++)
		is_whole &= python_tasks_of_thread(h, ts->threads[i].addr, addresses);
	for (size_t i = 0; i < ts->n_interps; i++)
		is_whole &= python_tasks_of_interp(h, ts->interps[i].addr,
						   ts->interps[i].tasks_module, addresses);
	return is_whole;
}

static void find_loops(struct python_heap *h, struct python_threads *ts, struct intern *loops)
{
	for (size_t i = 0; i < ts->n_threads; i++) {
		struct python_thread *t = &ts->threads[i];
		const struct python_loops where = { loops, (uint32_t)ts->inner_pid,
						    ts->interps[t->interp].has_c_tasks };

		t->loop = python_running_loop(h, t->addr, &where);
		t->task = python_running_task(h, t->addr, t->loop,
					      ts->interps[t->interp].tasks_module);
	}
}

/* The frames of the task that a thread runs, from its coroutine's on, are on the thread's stack. */
static int take_stack(struct python_heap *h, const struct python_thread *thread,
		      struct python_tasks *ts, struct python_task *task)
{
	uint64_t frame = python_generator_frame(h, task->coro);
	size_t n = 0;

	while (n < thread->n_frames && thread->frames[n].frame != frame)
		n++;
	if (!frame || n == thread->n_frames)
		return 0; /* it began or ended meanwhile */
	task->first_place = (uint32_t)ts->n_places;
	task->n_places = (uint32_t)n + 1;
	for (size_t i = n + 1; i > 0; i--) {
		if (ARRAY_RESERVE(ts->places, ts->cap_places, ts->n_places) < 0)
			return -ENOMEM;
		ts->places[ts->n_places++] = thread->frames[i - 1].place;
	}
	/* Its coroutine knows its own name better than the code object did before 3.11. */
	ts->places[task->first_place].function = task->coroutine;
	return 0;
}

static int take_stacks(struct python_heap *h, enum python_dump_what what, struct python_dump *d)
{
	int err = 0;

	mem_cache_renew(h->mem);
	for (size_t i = 0; i < d->tasks.n && !err; i++) {
		struct python_task *task = &d->tasks.tasks[i];
		struct python_thread *thread =
			task->thread ? &d->threads.threads[task->thread - 1] : NULL;

		if (task->state != PYTHON_TASK_RUNNING || !thread || thread->task != task->addr)
			continue;
		if (what == PYTHON_DUMP_TASKS && !thread->frames)
			err = python_threads_read_stack(h, d->functions, &d->threads, thread);
		if (!err && !thread->is_torn)
			err = take_stack(h, thread, &d->tasks, task);
	}
	return err;
}

/* Who runs the loops of the tasks. */
static int find_threads(struct python_dump *d)
{
	SCOPED(intern_free) struct intern *loops = intern_new();
	SCOPED(free) uint32_t *threads = calloc(d->threads.n_threads + 2, sizeof(*threads));

	if (!loops || !threads)
		return -ENOMEM;
	for (size_t i = 0; i < d->threads.n_threads; i++) {
		uint64_t loop = d->threads.threads[i].loop;

		if (loop)
			threads[intern_add(loops, &loop, sizeof(loop))] = (uint32_t)i + 1;
	}
	threads[0] = 0; /* of loops that are not there, and where memory ended */
	for (size_t i = 0; i < d->tasks.n; i++) {
		struct python_task *t = &d->tasks.tasks[i];

		t->thread = threads[intern_find(loops, &t->loop, sizeof(t->loop))];
	}
	return 0;
}

const struct python_thread *python_dump_thread(const struct python_dump *d,
					       const struct python_task *t)
{
	return t->thread ? &d->threads.threads[t->thread - 1] : NULL;
}

/* Of the oldest interpreter that has imported the API. */
static void find_spans(struct python_heap *h, struct python_dump *d)
{
	bool is_half = false;

	for (size_t i = d->threads.n_interps; i > 0; i--)
		if (python_spans_find(h, d->threads.interps[i - 1].modules, &d->tasks.spans,
				      &is_half))
			return;
}

static int read_tasks(struct python_heap *h, enum python_dump_what what, struct python_dump *d)
{
	SCOPED(intern_free) struct intern *addresses = intern_new();
	SCOPED(intern_free) struct intern *still = intern_new();
	SCOPED(intern_free) struct intern *loops = intern_new();
	uint64_t left, kept;
	int err;

	if (!addresses || !still || !loops)
		return -ENOMEM;
	left = h->n_left;
	d->has_more = !list_tasks(h, &d->threads, addresses);
	/* So that it can be told in the end which are there still. */
	kept = 2 * (left - h->n_left);
	kept = kept < h->n_left ? kept : h->n_left;
	h->n_left -= kept;
	if (intern_count(addresses) > FEW_TASKS)
		mem_cache_read_ahead(h->mem, false);
	python_tasks_loops(h, addresses, loops);
	find_loops(h, &d->threads, loops);
	find_spans(h, d);
	d->time_ns = clock_ns(CLOCK_MONOTONIC);
	d->tasks.has_timers = what == PYTHON_DUMP_ALL;
	err = python_tasks_read(h, addresses, d->functions, &d->tasks);
	d->is_cut |= d->has_more || !h->n_left;
	h->n_left += kept;
	if (err < 0)
		return err;
	/* What ended meanwhile may have been anything by the time it was read. */
	list_tasks(h, &d->threads, still);
	python_tasks_keep(&d->tasks, still);
	err = find_threads(d);
	return err < 0 ? err : take_stacks(h, what, d);
}

static int read_all(struct python_heap *h, pid_t pid, uint64_t runtime, enum python_dump_what what,
		    struct python_dump *d)
{
	struct python_functions *of_threads = what == PYTHON_DUMP_ALL ? d->functions : NULL;
	int err = python_threads_read(h, pid, runtime, of_threads, &d->threads);

	if (!err)
		err = read_tasks(h, what, d);
	if (!err && what == PYTHON_DUMP_ALL)
		python_functions_qualify(d->functions, h, d->threads.interps[0].addr);
	d->is_cut |= !h->n_left || d->tasks.is_cut;
	return err;
}

int python_dump_memory(struct mem *m, pid_t pid, const struct python_layout *l, uint64_t runtime,
		       const void *asyncio, size_t asyncio_len, enum python_dump_what what,
		       struct python_memory *memory, struct python_dump *out)
{
	SCOPED(mem_free) struct mem *cache = mem_cache_new(m, CACHE_BYTES, MAX_PAGES);
	struct python_heap heap;
	int err;

	*out = (struct python_dump){
		.version = l->version,
		.functions = memory ? python_memory_functions(memory) : python_functions_new(),
		.borrows_functions = memory,
	};
	if (!cache || !out->functions)
		return -ENOMEM;
	mem_cache_read_ahead(cache, true);
	err = python_heap_init(&heap, cache, l);
	if (err < 0)
		return err;
	if (asyncio && heap.at.interp.tasks)
		python_heap_layout_learn(&heap.at, asyncio, asyncio_len);
	if (memory) {
		python_heap_recall(&heap, &memory->heap);
		mem_cache_expect(cache, memory->pages, memory->n_pages);
	}
	err = read_all(&heap, pid, runtime, what, out);
	if (memory && !err) {
		python_heap_remember(&heap, &memory->heap);
		memory->n_pages = mem_cache_asked(cache, memory->pages, PYTHON_MEMORY_PAGES);
	}
	python_heap_deinit(&heap);
	return err;
}

int python_dump_read(struct processes *ps, pid_t pid, enum python_dump_what what,
		     struct python_memory *memory, struct python_dump *out)
{
	struct process *proc = processes_find(ps, pid, 0, 0);
	SCOPED(mem_free) struct mem *live = proc ? mem_live(pid, &proc->patience) : NULL;
	struct found found = { 0 };
	uint8_t byte;
	int err;

	*out = (struct python_dump){ 0 };
	if (!live)
		return proc ? -ENOMEM : -ESRCH;
	err = mem_read(live, 0, &byte, 1); /* may it be read at all? */
	if (err == 0 || err == -EFAULT)
		err = find(ps, proc, &found);
	if (err < 0)
		return err;
	out->version = found.image->layout.version;
	if (found.image->err)
		return found.image->err;
	err = python_dump_memory(live, pid, &found.image->layout, found.runtime, found.asyncio,
				 found.asyncio_len, what, memory, out);
	/* Whatever was read last, it may have ended before. */
	return err == 0 || err == -EBADMSG ? mem_read(live, found.runtime, &byte, 1) ?: err : err;
}

void python_dump_deinit(struct python_dump *d)
{
	if (!d->borrows_functions)
		python_functions_free(d->functions);
	python_threads_deinit(&d->threads);
	python_tasks_deinit(&d->tasks);
	*d = (struct python_dump){ 0 };
}
