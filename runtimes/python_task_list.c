// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_task_list.h"

#include <string.h>

#include "core/intern.h"
#include "runtimes/python_ahead.h"
#include "runtimes/python_dict.h"
#include "runtimes/python_task_head.h"

#define MAX_LOOPS 256 /* asked which thread runs them, for each thread */
#define HOLDER_PID 24 /* in what holds the running loop to 3.11 */

struct collect {
	struct python_heap *heap;
	struct intern *tasks;
};

static bool is_full(const struct intern *tasks)
{
	return intern_count(tasks) >= PYTHON_MAX_TASKS;
}

static bool collect_task(void *ctx, uint64_t object)
{
	struct collect *c = ctx;
	enum python_kind kind = python_kind(c->heap, object);

	if (python_kind_is_task(kind))
		intern_add(c->tasks, &object, sizeof(object));
	return !is_full(c->tasks);
}

static bool collect_reference(void *ctx, uint64_t element)
{
	struct collect *c = ctx;

	if (python_kind(c->heap, element) != PYTHON_WEAKREF)
		return true;
	return collect_task(ctx, python_field(c->heap, element, PYTHON_FIRST_FIELD));
}

/* A circle of nodes that are parts of tasks, from and to a head that is none. */
static void collect_nodes(struct collect *c, uint64_t head)
{
	struct python_heap *h = c->heap;
	uint64_t node = python_word(h, head);

	while (node && node != head && !is_full(c->tasks)) {
		uint32_t n = intern_count(c->tasks);

		collect_task(c, node - h->at.task.node);
		if (intern_count(c->tasks) == n)
			return; /* no task, or a circle without the head */
		node = python_word(h, node);
	}
}

bool python_tasks_of_interp(struct python_heap *h, uint64_t interp, uint64_t module,
			    struct intern *tasks)
{
	/* To 3.11; from 3.12 on, where later versions have only tasks of other classes in it. */
	static const char *const weak[] = { "_all_tasks", "_scheduled_tasks" };
	struct collect c = { h, tasks };

	if (h->at.interp.tasks)
		collect_nodes(&c, interp + h->at.interp.tasks);
	if (!module)
		return !is_full(tasks);
	for (size_t i = 0; i < sizeof(weak) / sizeof(*weak); i++) {
		uint64_t set = python_dict_get(h, module, weak[i]);
		uint64_t data = set ? python_attribute(h, set, "data") : 0;

		if (!data)
			continue;
		python_ahead_references(h, data);
		python_set_each(h, data, collect_reference, &c);
	}
	python_set_each(h, python_dict_get(h, module, "_eager_tasks"), collect_task, &c);
	return !is_full(tasks);
}

bool python_tasks_of_thread(struct python_heap *h, uint64_t thread, struct intern *tasks)
{
	struct collect c = { h, tasks };

	if (h->at.thread.tasks)
		collect_nodes(&c, thread + h->at.thread.tasks);
	return !is_full(tasks);
}

void python_tasks_loops(struct python_heap *h, const struct intern *tasks, struct intern *loops)
{
	for (uint32_t i = 1; i <= intern_count(tasks); i++) {
		uint64_t addr, loop;

		memcpy(&addr, intern_get(tasks, i, NULL), sizeof(addr));
		loop = python_task_loop(h, addr);
		if (loop)
			intern_add(loops, &loop, sizeof(loop));
	}
}

static bool is_known(const struct intern *known, uint64_t loop)
{
	return intern_find(known, &loop, sizeof(loop)) != 0;
}

/* What the loops of asyncio say themselves, while they run. */
static uint64_t loop_of_thread(struct python_heap *h, uint64_t thread, const struct intern *known)
{
	uint64_t want = python_word(h, thread + h->layout->thread.thread_id), id, loop;

	for (uint32_t i = 1; i <= intern_count(known) && i <= MAX_LOOPS; i++) {
		memcpy(&loop, intern_get(known, i, NULL), sizeof(loop));
		if (python_int_value(h, python_attribute(h, loop, "_thread_id"), &id) && id &&
		    id == want)
			return loop;
	}
	return 0;
}

/* Itself in 3.12; before, the C half has it in an object of its own, the Python half in a tuple,
   each with the pid. */
static uint64_t loop_in_dict(struct python_heap *h, uint64_t thread,
			     const struct python_loops *loops)
{
	uint64_t dict = python_word(h, thread + h->at.thread.dict), held, pid;

	held = python_dict_get(h, dict, "__asyncio_running_event_loop__");
	if (!held || is_known(loops->known, held))
		return held;
	if (python_kind(h, held) == PYTHON_TUPLE)
		return python_item(h, held, PYTHON_TUPLE, 0);
	pid = (uint32_t)python_field(h, held, HOLDER_PID);
	return !loops->pid || pid == loops->pid ? python_field(h, held, PYTHON_FIRST_FIELD) : 0;
}

uint64_t python_running_loop(struct python_heap *h, uint64_t thread,
			     const struct python_loops *loops)
{
	uint64_t loop = h->at.thread.running_loop
				? python_word(h, thread + h->at.thread.running_loop)
				: loop_in_dict(h, thread, loops);

	if (loop && is_known(loops->known, loop))
		return loop;
	/* asyncio without its C half keeps it elsewhere. */
	return loops->has_c_half ? 0 : loop_of_thread(h, thread, loops->known);
}

struct of_loop {
	uint64_t loop, task;
};

static bool is_of_loop(void *ctx, uint64_t key, uint64_t value)
{
	struct of_loop *o = ctx;

	if (key == o->loop)
		o->task = value;
	return key != o->loop;
}

uint64_t python_running_task(struct python_heap *h, uint64_t thread, uint64_t loop, uint64_t module)
{
	struct of_loop o = { loop, 0 };
	uint64_t dict;

	if (!loop)
		return 0;
	if (h->at.thread.running_task)
		o.task = python_word(h, thread + h->at.thread.running_task);
	if (o.task)
		return o.task;
	dict = python_dict_get(h, module, "_current_tasks");
	if (dict)
		python_dict_each(h, dict, is_of_loop, &o);
	return o.task;
}
