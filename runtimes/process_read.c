// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/scoped.h"
#include "core/array.h"
#include "runtimes/files.h"
#include "runtimes/mappings.h"
#include "runtimes/process_table.h"
#include "runtimes/procfs.h"

/* Between two readings of a process's maps; doubled while they change nothing. */
#define REREAD_MIN_NS (10 * UINT64_C(1000000))
#define REREAD_MAX_NS NS_PER_S
/* Readings in a row that do not explain the number of code pages, whatever it was: then it is
   believed. */
#define MAX_UNEXPLAINED 4
/* The longest wait when it is only that number that changes. */
#define CHECK_MAX_NS (16 * NS_PER_S)
#define PAGE 4096
/* Reading takes at most this share of the time: 1 of 50. */
#define REREAD_COST_FACTOR 50
/* A program that replaced another is believed without its exec event after that long. */
#define LOST_EXEC_NS NS_PER_S

/* What a reading of maps collects. */
struct reading {
	struct processes *ps;
	struct mapping *list;
	size_t n, cap;
};

static int add_line(void *ctx, const struct maps_line *line)
{
	struct reading *r = ctx;

	if (r->n == MAX_MAPPINGS)
		return -E2BIG;
	/* The kernel lists them in order; anything else is not the kernel's. */
	if (r->n && line->start < r->list[r->n - 1].end)
		return 0;
	if (ARRAY_RESERVE(r->list, r->cap, r->n) < 0)
		return -ENOMEM;
	r->list[r->n] = (struct mapping){ .start = line->start,
					  .end = line->end,
					  .pgoff = line->pgoff,
					  .dev = line->dev,
					  .ino = line->ino };
	table_name_mapping(r->ps, &r->list[r->n++], line->name);
	return 0;
}

/* Is the process that has the pid now the one of e? Also true when e's start is not known. */
bool table_is_alive(const struct processes *ps, const struct entry *e)
{
	struct proc_stat st;
	uint64_t start = e->p.start_time_ns ? e->p.start_time_ns : e->birth_ns, slack, now;

	if (procfs_stat(e->p.pid, &st) < 0)
		return false;
	if (!start)
		return true;
	slack = e->p.start_time_ns ? ps->tick_ns : BIRTH_SLACK_NS;
	now = st.start_ticks * ps->tick_ns;
	return now <= start + slack && start <= now + slack;
}

static int read_list(struct processes *ps, struct entry *e, struct reading *r)
{
	int err = procfs_maps(e->p.pid, add_line, r);

	if (err == -E2BIG)
		ps->counters[MEMORY_OVER_BUDGET]++;
	e->p.maps_err = err;
	if (err < 0 && err != -E2BIG)
		return err;
	/* The pid may have become another process's while we read. */
	return table_is_alive(ps, e) ? 0 : -ESRCH;
}

/* 1 the mappings changed, 0 they did not, or -errno. */
static int assign(struct processes *ps, struct entry *e, const struct reading *r)
{
	int err = mappings_assign(&e->p, r->list, r->n);

	if (err > 0)
		e->p.generation = processes_unique(ps);
	return err;
}

static int read_maps(struct processes *ps, struct entry *e)
{
	struct reading r = { .ps = ps };
	int err = read_list(ps, e, &r);
	SCOPED(free) struct mapping *list = r.list;

	return err < 0 ? err : assign(ps, e, &r);
}

/* Does the list hold a place for pc? */
static bool is_mapped(const struct reading *r, uint64_t pc)
{
	for (size_t i = 0; i < r->n; i++)
		if (pc >= r->list[i].start && pc < r->list[i].end)
			return true;
	return false;
}

/* Is this list of the program that e runs? Another one has nothing at the same place. */
static bool is_same_program(const struct entry *e, const struct reading *r)
{
	if (!e->p.n_mappings)
		return true;
	for (size_t i = 0; i < r->n; i++) {
		const struct mapping *new = &r->list[i], *old = mappings_find(&e->p, new->start);

		if (new->kind != MAPPING_OTHER && old && old->start == new->start &&
		    old->kind == new->kind)
			return true;
	}
	return false;
}

/*
 * The maps show what is there now, samples and events are from a little earlier. So they are taken
 * only when they explain the pc that was asked for, and not when the program was replaced
 * meanwhile: its exec event is on the way, unless it was lost. is_for_files: nor when only
 * generated code is elsewhere.
 */
static int read_again(struct processes *ps, struct entry *e, uint64_t pc, bool is_for_files)
{
	struct reading r = { .ps = ps };
	int err = table_is_alive(ps, e) ? read_list(ps, e, &r) : -ESRCH;
	SCOPED(free) struct mapping *list = r.list;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (err < 0)
		return err;
	ps->counters[MAPS_REREAD]++;
	if (!is_same_program(e, &r)) {
		if (!e->replaced_ns)
			e->replaced_ns = now;
		if (now - e->replaced_ns < LOST_EXEC_NS)
			return 0;
		table_drop_image(ps, e);
	} else if ((pc && !is_mapped(&r, pc)) ||
		   (is_for_files && mappings_have_files(&e->p, r.list, r.n))) {
		return 0;
	}
	return assign(ps, e, &r);
}

bool table_read_again(struct processes *ps, struct entry *e, uint64_t pc)
{
	uint64_t start, end, cost;
	int err;

	/* Asked for every address that a search tries: a coarse clock will do. */
	if (e->reread_at_ns && clock_ns(CLOCK_MONOTONIC_COARSE) < e->reread_at_ns)
		return false;
	start = clock_ns(CLOCK_MONOTONIC);
	err = read_again(ps, e, pc, false);
	end = clock_ns(CLOCK_MONOTONIC);
	cost = (end - start) * REREAD_COST_FACTOR;
	e->reread_wait_ns = err > 0 ? REREAD_MIN_NS : e->reread_wait_ns * 2;
	if (e->reread_wait_ns < REREAD_MIN_NS)
		e->reread_wait_ns = REREAD_MIN_NS;
	if (e->reread_wait_ns > REREAD_MAX_NS || err == -ESRCH)
		e->reread_wait_ns = REREAD_MAX_NS;
	e->reread_at_ns = end + (cost > e->reread_wait_ns ? cost : e->reread_wait_ns);
	return err > 0;
}

static int64_t beyond_mappings(struct entry *e, uint32_t n_code_pages)
{
	if (e->pages_generation != e->p.generation) {
		e->n_pages = 0;
		for (size_t i = 0; i < e->p.n_mappings; i++)
			e->n_pages += (e->p.mappings[i].end - e->p.mappings[i].start) / PAGE;
		e->pages_generation = e->p.generation;
	}
	return (int64_t)n_code_pages - (int64_t)e->n_pages;
}

/*
 * munmap and mremap leave no record. But the kernel counts a process's pages of code, and how many
 * more these are than the known mappings have is always the same (pages that are writable as well
 * count only here, for example), as long as every change is known.
 */
bool table_check_code(struct processes *ps, struct entry *e, uint32_t n_code_pages)
{
	uint64_t start, end, cost;
	int64_t found;
	bool is_changed;

	if (!n_code_pages || e->p.exit_time_ns)
		return false;
	if (!e->has_beyond) {
		e->beyond = beyond_mappings(e, n_code_pages);
		e->has_beyond = true;
	}
	if (e->beyond == beyond_mappings(e, n_code_pages)) {
		e->n_unexplained = 0;
		return false;
	}
	start = clock_ns(CLOCK_MONOTONIC);
	if (start < e->check_at_ns)
		return false;
	is_changed = read_again(ps, e, 0, true) > 0;
	end = clock_ns(CLOCK_MONOTONIC);
	cost = (end - start) * REREAD_COST_FACTOR;
	found = beyond_mappings(e, n_code_pages);
	/* Code generators that change the protection of their code would be read all the time. */
	e->check_wait_ns = is_changed || found == e->beyond || !e->check_wait_ns
				   ? REREAD_MIN_NS
				   : e->check_wait_ns * 2;
	if (e->check_wait_ns > CHECK_MAX_NS)
		e->check_wait_ns = CHECK_MAX_NS;
	e->check_at_ns = end + (cost > e->check_wait_ns ? cost : e->check_wait_ns);
	/* The maps may have moved on since the sample, or it was taken amid a change; what comes
	   again is so. */
	e->n_unexplained = found == e->beyond ? 0 : e->n_unexplained + 1;
	if ((!is_changed && e->n_unexplained > 1 && found == e->odd) ||
	    e->n_unexplained >= MAX_UNEXPLAINED)
		e->beyond = found;
	e->odd = found;
	return is_changed;
}

void processes_lost(struct processes *ps, uint64_t n)
{
	ps->n_lost = n;
}

bool process_recheck(struct processes *ps, struct process *proc, bool is_suspect,
		     uint32_t n_code_pages)
{
	struct entry *e = (struct entry *)proc;
	bool is_changed;

	if (e->n_lost == ps->n_lost && !is_suspect)
		return table_check_code(ps, e, n_code_pages);
	if (e->n_lost != ps->n_lost && !e->replaced_ns)
		e->reread_at_ns = 0;
	is_changed = table_read_again(ps, e, 0);
	/* A program that replaced another is looked at until it is believed. */
	if (!e->replaced_ns)
		e->n_lost = ps->n_lost;
	return is_changed;
}

void table_read_container(struct processes *ps, struct process *proc)
{
	char id[CONTAINER_ID_SIZE];

	if (procfs_container(proc->pid, id) == 0)
		proc->container = table_string(ps, id, strlen(id));
}

/* A process that was there before it was heard of. start_time_ns 0: whichever has the pid. */
struct entry *table_read(struct processes *ps, pid_t pid, uint64_t start_time_ns)
{
	struct proc_stat st;
	struct entry *e;

	if (procfs_stat(pid, &st) < 0)
		return NULL;
	e = table_add(ps, pid);
	if (!e)
		return NULL;
	e->p.start_time_ns = start_time_ns ? start_time_ns : st.start_ticks * ps->tick_ns;
	e->is_start_exact = start_time_ns != 0;
	e->p.parent = st.parent;
	e->p.comm = table_string(ps, st.comm, strlen(st.comm));
	e->p.root = files_root(ps->files, pid);
	e->p.is_from_proc = true;
	table_read_container(ps, &e->p);
	if (read_maps(ps, e) == -ESRCH) {
		table_remove(ps, e);
		return NULL;
	}
	return e;
}

bool process_credentials(struct processes *ps, struct process *proc)
{
	struct proc_status status;

	if (proc->has_credentials || procfs_status(proc->pid, &status) < 0 ||
	    !table_is_alive(ps, (struct entry *)proc))
		return proc->has_credentials;
	proc->uid = status.uid;
	proc->ns_pid = status.ns_pid ? status.ns_pid : proc->pid;
	return proc->has_credentials = true;
}
