// SPDX-License-Identifier: Apache-2.0
#include "bpf/sweep.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "bpf/sweep_labels.h"
#include "core/intern.h"
#include "core/log.h"
#include "core/profile.h"
#include "core/scoped.h"
#include "runtimes/process.h"
#include "runtimes/python_dump.h"
#include "runtimes/python_logical.h"
#include "runtimes/python_task_list.h"

SCOPED_DEFINE(struct intern, intern_free)
SCOPED_DEFINE(struct python_logical, python_logical_free)

struct sweep {
	struct processes *ps;
	struct profile *profile;
	struct budget *budget;
	struct sweep_labels *labels;
	uint64_t unix_offset_ns;
	uint64_t n_samples, n_torn, n_whole, n_cut, n_lost_parents, n_stopped, n_over_budget;
	bool is_more_said;
	uint32_t locations[PYTHON_LOGICAL_MAX];
};

/* One sweep. */
struct look {
	struct sweep *sweep;
	const struct process *proc;
	const struct python_dump *dump;
	const struct python_logical *logical;
	uint32_t *stacks; /* of the profile, by number in logical; 0: not made yet */
	uint64_t time_ns, weight_ns;
};

/* Tasks that nobody could tell apart are one sample. No padding: these are compared as bytes. */
struct alike {
	uint32_t stack;	 /* number in struct python_logical */
	uint32_t thread; /* as in struct python_task */
	uint32_t state, wait, name, trace, span, span_name;
};

struct sweep *sweep_new(struct processes *ps, struct profile *p, struct budget *budget,
			uint64_t unix_offset_ns)
{
	struct sweep *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->ps = ps;
	s->profile = p;
	s->budget = budget;
	s->unix_offset_ns = unix_offset_ns;
	s->labels = sweep_labels_new(p, budget->bytes / 16);
	if (s->labels)
		return s;
	free(s);
	return NULL;
}

void sweep_free(struct sweep *s)
{
	if (!s)
		return;
	sweep_labels_free(s->labels);
	free(s);
}

/* 3.7 has no names: there it is the coroutine's, as on CPU samples. */
static const char *name_of(const struct python_dump *d, const struct python_task *t)
{
	const struct python_function *f = python_functions_get(d->functions, t->coroutine);

	if (t->name || d->version >= PYTHON_FIRST(3, 8) || !f)
		return t->name;
	return f->name;
}

static struct alike describe(const struct look *k, size_t i)
{
	const struct python_task *t = &k->dump->tasks.tasks[i];
	struct profile *p = k->sweep->profile;
	char reason[PYTHON_REASON_MAX];

	struct alike alike = {
		.stack = python_logical_id(k->logical, i),
		.thread = t->thread,
		.state =
			profile_string(p, python_task_state_name((enum python_task_state)t->state)),
		.wait = profile_string(p, python_task_reason(t, k->dump->functions, reason)),
		.name = sweep_labels_name(k->sweep->labels, name_of(k->dump, t)),
	};

	if (t->has_span)
		sweep_labels_span(k->sweep->labels, t, &alike.trace, &alike.span, &alike.span_name);
	return alike;
}

/* Over the budget a new stack is a mark, so that the sample with its time is not lost. */
static uint32_t make_stack(const struct look *k, uint32_t id)
{
	struct sweep *s = k->sweep;
	enum budget_state state = budget_check(s->budget, k->time_ns);
	uint32_t stack = 0, mark;
	size_t n;

	if (state != BUDGET_FAR_OVER) {
		n = python_logical_locations(k->logical, id, s->profile, s->locations);
		stack = state == BUDGET_FITS ? profile_stack(s->profile, s->locations, n)
					     : profile_find_stack(s->profile, s->locations, n);
	}
	if (stack)
		return stack;
	s->n_over_budget++;
	mark = profile_mark(s->profile, "[over memory budget]");
	return profile_stack(s->profile, &mark, 1);
}

static uint32_t stack_of(const struct look *k, uint32_t id)
{
	if (!k->stacks[id])
		k->stacks[id] = make_stack(k, id);
	return k->stacks[id];
}

static void count_ends(const struct look *k, uint32_t id, uint64_t n)
{
	struct sweep *s = k->sweep;

	s->n_samples += n;
	switch (python_logical_end(k->logical, id)) {
	case PYTHON_LOGICAL_WHOLE:
	case PYTHON_LOGICAL_SEVERAL: /* there is no more to one stack */
		s->n_whole += n;
		break;
	case PYTHON_LOGICAL_CHANGED:
		s->n_lost_parents += n;
		break;
	case PYTHON_LOGICAL_CIRCLE:
	case PYTHON_LOGICAL_CUT:
		s->n_cut += n;
		break;
	}
}

/* n tasks that are alike. */
static void add_alike(const struct look *k, const struct alike *a, int64_t n)
{
	struct sweep *s = k->sweep;
	const struct sweep_task task = {
		.thread = a->thread ? &k->dump->threads.threads[a->thread - 1] : NULL,
		.state = a->state,
		.wait = a->wait,
		.name = a->name,
		.trace = a->trace,
		.span = a->span,
		.span_name = a->span_name,
	};
	int64_t values[MAX_VALUES] = { n, n * (int64_t)k->weight_ns };

	count_ends(k, a->stack, (uint64_t)n);
	profile_add(s->profile, stack_of(k, a->stack),
		    sweep_labels_get(s->labels, k->proc, s->ps, &task),
		    k->time_ns + s->unix_offset_ns, values);
}

static int add_tasks(struct look *k)
{
	const struct python_tasks *ts = &k->dump->tasks;
	SCOPED(python_logical_free) struct python_logical *l = python_logical_new(k->dump);
	SCOPED(intern_free) struct intern *alikes = intern_new();
	SCOPED(free) int64_t *counts = calloc(ts->n + 2, sizeof(*counts));
	SCOPED(free) uint32_t *stacks = calloc(ts->n + 2, sizeof(*stacks));

	if (!l || !alikes || !counts || !stacks)
		return -ENOMEM;
	k->logical = l;
	k->stacks = stacks;
	for (size_t i = 0; i < ts->n; i++) {
		struct alike a;

		if (ts->tasks[i].state == PYTHON_TASK_DONE)
			continue;
		/* A process that was forked has its parent's tasks, which wait for nothing there.
		 */
		if (!ts->tasks[i].thread) {
			k->sweep->n_stopped++;
			continue;
		}
		a = describe(k, i);
		counts[intern_add(alikes, &a, sizeof(a))]++;
	}
	for (uint32_t i = 1; i <= intern_count(alikes); i++)
		add_alike(k, intern_get(alikes, i, NULL), counts[i]);
	k->sweep->n_torn += ts->n_changed;
	return 0;
}

static void say_more(struct sweep *s, const struct process *proc)
{
	if (!s->is_more_said)
		log_info("pid %d has more than %u asyncio tasks: the others are in no sample",
			 (int)proc->pid, PYTHON_MAX_TASKS - 1);
	s->is_more_said = true;
}

int sweep_process(struct sweep *s, const struct process *proc, struct python_memory *memory,
		  uint64_t time_ns, uint64_t weight_ns, size_t *n_tasks)
{
	struct python_dump d;
	struct look k = {
		.sweep = s, .proc = proc, .dump = &d, .time_ns = time_ns, .weight_ns = weight_ns
	};
	int err = python_dump_read(s->ps, proc->pid, PYTHON_DUMP_TASKS, memory, &d);

	if (!err)
		err = add_tasks(&k);
	if (!err)
		*n_tasks = d.tasks.n;
	if (!err && d.has_more)
		say_more(s, proc);
	python_dump_deinit(&d);
	return err;
}

size_t sweep_memory(const struct sweep *s)
{
	return sizeof(*s);
}

void sweep_count(const struct sweep *s, uint64_t counters[N_COUNTERS])
{
	counters[TICK_SAMPLED] += s->n_samples;
	counters[END_ROOT] += s->n_whole;
	counters[END_MAX_FRAMES] += s->n_cut;
	counters[END_READ_FAULT] += s->n_lost_parents;
	counters[ASYNC_PARENTS_LOST] += s->n_lost_parents;
	counters[ASYNC_TORN] += s->n_torn;
	counters[ASYNC_STOPPED] += s->n_stopped;
	counters[LABELS_OVER_BUDGET] += sweep_labels_over_budget(s->labels);
	counters[MEMORY_OVER_BUDGET] += s->n_over_budget;
}
