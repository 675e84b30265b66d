// SPDX-License-Identifier: Apache-2.0
#include "bpf/follow.h"

#include <stdlib.h>

#include "bpf/pid_set.h"
#include "bpf/shared.h"
#include "bpf/tables.h"
#include "bpf/targets.h"
#include "bpf/unwind_maps.h"
#include "core/scoped.h"
#include "runtimes/procfs.h"
#include "runtimes/python.h"
#include "runtimes/thread_context.h"

/* What the kernel half knows of a process: its `unwind`. */
struct told {
	struct vector *vector;
	uint32_t generation;	/* of the mappings told; 0 none */
	uint64_t start_time_ns; /* as a sample had it; 0 not yet */
};

struct follower {
	struct processes *ps;
	struct unwind_maps *maps;
	struct tables *tables;
	const struct targets *targets;
	struct pid_set followed; /* that ran exec or were sampled */
	struct pid_set changed;	 /* since the last flush */
};

struct follower *follower_new(struct processes *ps, struct unwind_maps *maps, struct tables *tables,
			      const struct targets *targets)
{
	struct follower *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->ps = ps;
	f->maps = maps;
	f->tables = tables;
	f->targets = targets;
	return f;
}

void follower_free(struct follower *f)
{
	if (!f)
		return;
	pid_set_deinit(&f->followed);
	pid_set_deinit(&f->changed);
	free(f);
}

static struct told *told_of(struct process *proc)
{
	if (!proc->unwind)
		proc->unwind = calloc(1, sizeof(struct told));
	return proc->unwind;
}

static struct unwind_mapping describe(const struct mapping *m)
{
	struct unwind_mapping out = { .start = m->start,
				      .len = m->end - m->start,
				      .bias = m->bias };

	if (m->object)
		out.table = tables_loaded(m->object);
	if (m->object ? tables_is_without(m->object) : m->kind != MAPPING_FILE)
		out.flags = UNWIND_MAPPING_USER_ONLY;
	else if (!m->object && m->is_tried && !m->build_id)
		out.flags = UNWIND_MAPPING_UNIDENTIFIED;
	return out;
}

/* The vdso's place is what the kernel half knows the program by, until it has sampled it. */
static void tell(struct follower *f, struct process *proc, struct told *told)
{
	size_t n = proc->n_mappings;
	SCOPED(free) struct unwind_mapping *mappings = calloc(n + 1, sizeof(*mappings));
	SCOPED(free) const void **owners = calloc(n + 1, sizeof(*owners));
	struct python_process python;
	struct python_slot_at context;
	struct process_image image = { .pid = proc->pid, .start_time_ns = told->start_time_ns };

	if (!mappings || !owners)
		return;
	for (size_t i = 0; i < n; i++) {
		const struct mapping *m = &proc->mappings[i];

		mappings[i] = describe(m);
		owners[i] = m->object;
		if (m->kind == MAPPING_VDSO)
			image.vdso = m->start;
	}
	if (python_attach(f->ps, proc, &python))
		image.python = &python;
	if (thread_context_attach(proc, &context))
		image.context = &context;
	image.mappings = mappings;
	image.owners = owners;
	image.n = n;
	unwind_maps_set_process(f->maps, &told->vector, &image);
	told->generation = proc->generation;
}

/* After the process was told of: what is ready serves it while others are made. */
static void preload(struct follower *f, const struct process *proc)
{
	for (size_t i = 0; i < proc->n_mappings; i++) {
		if (proc->mappings[i].object)
			tables_preload(f->tables, proc->mappings[i].object);
	}
}

static void update(struct follower *f, struct process *proc, bool is_target)
{
	struct told *told = told_of(proc);

	if (!told || (told->vector && told->generation == proc->generation))
		return;
	process_open_files(f->ps, proc);
	tell(f, proc, told);
	if (is_target)
		preload(f, proc);
}

void follower_event(struct follower *f, const struct process_event *ev)
{
	switch (ev->type) {
	case PROCESS_EXEC:
		pid_set_add(&f->followed, ev->pid);
		pid_set_add(&f->changed, ev->pid);
		break;
	case PROCESS_MMAP:
		if (pid_set_has(&f->followed, ev->pid))
			pid_set_add(&f->changed, ev->pid);
		break;
	case PROCESS_EXIT:
		if (ev->pid != ev->tid)
			break;
		/* If other threads go on, the next sample brings it back. */
		pid_set_remove(&f->changed, ev->pid);
		unwind_maps_drop_pid(f->maps, ev->pid);
		if (pid_set_has(&f->followed, ev->pid)) {
			struct process *proc = processes_find(f->ps, ev->pid, 0, ev->time_ns);

			if (proc)
				follower_drop(f, proc);
		}
		break;
	case PROCESS_FORK:
	case PROCESS_COMM:
		break;
	}
}

void follower_sample(struct follower *f, struct process *proc, uint64_t start_time_ns,
		     uint64_t time_ns, bool is_stale)
{
	struct told *told = told_of(proc);

	if (!told)
		return;
	unwind_maps_touch(told->vector, time_ns);
	if (!is_stale)
		return;
	pid_set_add(&f->followed, proc->pid);
	/* The entry may be one that a fork copied, or was made before the start was known. */
	if (told->start_time_ns != start_time_ns)
		told->generation = 0;
	told->start_time_ns = start_time_ns;
	/* A main thread that ended before others did is not the end of the process. */
	if (!proc->exit_time_ns || proc->exit_time_ns <= time_ns)
		update(f, proc, targets_are_few(f->targets));
}

void follower_begin(struct follower *f, pid_t pid)
{
	pid_set_add(&f->followed, pid);
	pid_set_add(&f->changed, pid);
}

static void begin(void *ctx, pid_t pid)
{
	follower_begin(ctx, pid);
}

void follower_flush(struct follower *f)
{
	for (size_t i = 0; i < f->changed.n_slots; i++) {
		struct process *proc;

		if (!f->changed.slots[i])
			continue;
		proc = processes_find(f->ps, f->changed.slots[i], 0, 0);
		if (proc && !proc->exit_time_ns)
			update(f, proc,
			       targets_are_listed(f->targets, processes_string(f->ps, proc->comm)));
	}
	pid_set_deinit(&f->changed);
}

void follower_begin_targets(struct follower *f, bool with_others)
{
	const struct pid_set *pids = &f->targets->pids;

	for (size_t i = 0; i < pids->n_slots; i++)
		if (pids->slots[i])
			follower_begin(f, pids->slots[i]);
	if (with_others &&
	    (!targets_are_few(f->targets) || f->targets->flags & (TARGET_COMMS | TARGET_CGROUPS)))
		procfs_each(f, begin);
	follower_flush(f);
}

void follower_drop(struct follower *f, struct process *proc)
{
	struct told *told = proc->unwind;

	pid_set_remove(&f->followed, proc->pid);
	if (!told)
		return;
	unwind_maps_drop_process(f->maps, &told->vector);
	free(told);
	proc->unwind = NULL;
}
