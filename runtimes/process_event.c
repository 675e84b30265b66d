// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "runtimes/files.h"
#include "runtimes/mappings.h"
#include "runtimes/process_table.h"

static uint64_t boottime_of(uint64_t monotonic_ns)
{
	return monotonic_ns + (clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC));
}

static void inherit(struct processes *ps, struct entry *e, const struct process *parent)
{
	e->n_lost = ((const struct entry *)parent)->n_lost;
	e->p.comm = parent->comm;
	e->p.container = parent->container;
	e->p.root = root_ref(parent->root);
	e->p.is_from_proc = parent->is_from_proc;
	mappings_share(&e->p, parent);
	if (e->p.n_mappings)
		e->p.generation = parent->generation;
	else
		e->p.generation = processes_unique(ps);
}

static int apply_fork(struct processes *ps, const struct process_event *ev)
{
	uint64_t birth = boottime_of(ev->time_ns);
	struct entry *e = table_newest(ps, ev->pid), *parent;

	if (ev->pid == ev->parent)
		return 0;
	if (e && !e->p.exit_time_ns) {
		/* /proc was read before this event arrived. */
		if (e->p.is_from_proc && e->p.start_time_ns &&
		    is_near(e->p.start_time_ns, birth, 2 * ps->tick_ns))
			return 0;
		e->p.exit_time_ns = ev->time_ns;
	}
	parent = table_newest(ps, ev->parent);
	if (!parent)
		parent = table_read(ps, ev->parent, 0);
	e = table_add(ps, ev->pid);
	if (!e)
		return -ENOMEM;
	e->p.parent = ev->parent;
	e->first_ns = ev->time_ns;
	e->birth_ns = birth;
	if (parent)
		inherit(ps, e, &parent->p);
	return 0;
}

/* Runtimes of containers change the root between fork and exec. */
static void check_root(struct processes *ps, struct process *proc)
{
	struct root *now = files_root(ps->files, proc->pid);

	if (!now)
		return;
	if (now != proc->root)
		table_read_container(ps, proc);
	files_unref(ps->files, proc->root);
	proc->root = now;
}

static int apply_exec(struct processes *ps, const struct process_event *ev)
{
	struct entry *e = table_newest(ps, ev->pid);

	if (e) {
		table_drop_image(ps, e);
	} else {
		e = table_add(ps, ev->pid);
		if (!e)
			return -ENOMEM;
		e->first_ns = ev->time_ns;
	}
	e->p.exit_time_ns = 0;
	check_root(ps, &e->p);
	if (ev->name)
		e->p.comm = table_string(ps, ev->name, strnlen(ev->name, 15));
	return 0;
}

static int apply_mmap(struct processes *ps, const struct process_event *ev)
{
	struct entry *e = table_newest(ps, ev->pid);
	struct mapping m = { .start = ev->start,
			     .end = ev->start + ev->len,
			     .pgoff = ev->pgoff,
			     .dev = ev->dev,
			     .ino = ev->ino,
			     .ino_generation = ev->ino_generation };
	int err;

	if (!e || m.start >= m.end)
		return 0;
	table_name_mapping(ps, &m, ev->name ? ev->name : "");
	err = mappings_add(&e->p, &m);
	if (err == -E2BIG)
		ps->counters[MEMORY_OVER_BUDGET]++;
	if (err > 0)
		e->p.generation = processes_unique(ps);
	return err == -ENOMEM ? err : 0;
}

static int apply_exit(struct processes *ps, const struct process_event *ev)
{
	struct entry *e = table_newest(ps, ev->pid);

	/* A process ends with its last thread, which may not be the main one. */
	if (e && (ev->pid == ev->tid || e->p.exit_time_ns))
		e->p.exit_time_ns = ev->time_ns;
	return 0;
}

int processes_apply(struct processes *ps, const struct process_event *ev)
{
	struct entry *e;

	switch (ev->type) {
	case PROCESS_FORK:
		return apply_fork(ps, ev);
	case PROCESS_EXEC:
		return apply_exec(ps, ev);
	case PROCESS_MMAP:
		return apply_mmap(ps, ev);
	case PROCESS_EXIT:
		return apply_exit(ps, ev);
	case PROCESS_COMM:
		e = table_newest(ps, ev->pid);
		if (e && ev->pid == ev->tid && ev->name)
			e->p.comm = table_string(ps, ev->name, strnlen(ev->name, 15));
		return 0;
	}
	return -EINVAL;
}
