// SPDX-License-Identifier: Apache-2.0
#include "bpf/targets.h"

#include <bpf/bpf.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "bpf/cgroup.h"
#include "bpf/shared.h"
#include "core/log.h"
#include "core/options.h"
#include "core/scoped.h"
#include "runtimes/process.h"
#include "runtimes/procfs.h"
#include "weft.skel.h"

#define MAX_PIDS 16384	/* target processes at a time, all their children included */
#define MAX_LISTED 1024 /* threads, names, cgroups */

static int add_cgroup_pid(void *ctx, pid_t pid)
{
	struct targets *t = ctx;

	return pid_set_add(&t->pids, pid);
}

/* In a version 1 hierarchy a task has no cgroup id to compare: its members are taken. */
static int init_cgroups(struct targets *t, const struct options *opt)
{
	t->cgroups = opt->cgroups.items;
	t->n_cgroups = opt->cgroups.n;
	for (size_t i = 0; i < opt->cgroups.n; i++) {
		const char *path = opt->cgroups.items[i];
		bool is_v2;
		int err = cgroup_find(path, &is_v2, NULL, 0);

		if (!err && is_v2) {
			t->flags |= TARGET_CGROUPS;
			continue;
		}
		if (!err)
			err = cgroup_for_each_pid(path, add_cgroup_pid, t);
		if (err) {
			log_error("no such cgroup: %s", path);
			return err;
		}
		t->flags |= TARGET_PIDS;
		t->follows_children = true;
	}
	return 0;
}

int targets_init(struct targets *t, const struct options *opt)
{
	int err;

	*t = (struct targets){ .follows_children = !opt->no_children, .comms = opt->comms };
	if (opt->pids.n)
		t->flags |= TARGET_PIDS;
	if (opt->tids.n)
		t->flags |= TARGET_TIDS;
	if (opt->comms.n)
		t->flags |= TARGET_COMMS;
	for (size_t i = 0; i < opt->pids.n; i++) {
		if (pid_set_add(&t->pids, opt->pids.items[i]) == -ENOMEM)
			return -ENOMEM;
	}
	for (size_t i = 0; i < opt->tids.n; i++) {
		if (pid_set_add(&t->pids, procfs_process(opt->tids.items[i])) == -ENOMEM)
			return -ENOMEM;
	}
	err = init_cgroups(t, opt);
	if (err)
		return err;
	if (opt->all || !t->flags)
		t->flags = TARGET_ALL;
	if ((t->flags & TARGET_PIDS) && t->follows_children)
		t->flags |= TARGET_CHILDREN;
	return 0;
}

void targets_configure(const struct targets *t, struct weft_bpf *skel)
{
	bpf_map__set_max_entries(skel->maps.target_pids, t->flags & TARGET_PIDS ? MAX_PIDS : 1);
	bpf_map__set_max_entries(skel->maps.target_tids, t->flags & TARGET_TIDS ? MAX_LISTED : 1);
	bpf_map__set_max_entries(skel->maps.target_comms, t->flags & TARGET_COMMS ? MAX_LISTED : 1);
	bpf_map__set_max_entries(skel->maps.target_cgroups,
				 t->flags & TARGET_CGROUPS ? MAX_LISTED : 1);
	skel->rodata->target_flags = t->flags;
}

static int put(struct bpf_map *map, const void *key)
{
	const uint32_t one = 1;

	return bpf_map_update_elem(bpf_map__fd(map), key, &one, BPF_ANY) ? -errno : 0;
}

static pid_t parent_of(pid_t pid)
{
	struct proc_stat stat;

	return procfs_stat(pid, &stat) == 0 ? stat.parent : 0;
}

/* Adds processes whose parent is in the set. Returns how many that were, or -errno. */
static int add_children(struct targets *t, struct bpf_map *map)
{
	SCOPED(closedir) DIR *proc = opendir("/proc");
	const struct dirent *e;
	int n = 0;

	while (proc && (e = readdir(proc))) {
		pid_t pid = isdigit((unsigned char)e->d_name[0])
				    ? (pid_t)strtol(e->d_name, NULL, 10)
				    : 0;
		int err;

		if (!pid || pid_set_has(&t->pids, pid) || !pid_set_has(&t->pids, parent_of(pid)))
			continue;
		err = pid_set_add(&t->pids, pid);
		err = err ? err : put(map, &pid);
		if (err)
			return err;
		n++;
	}
	return n;
}

static int fill_pids(struct targets *t, struct bpf_map *map, const struct options *opt)
{
	/* Threads' processes are in the set for their events, but are no targets. */
	for (size_t i = 0; i < t->pids.n_slots; i++) {
		pid_t pid = t->pids.slots[i];
		bool is_listed = pid && !opt->tids.n;

		for (size_t k = 0; pid && k < opt->pids.n; k++)
			is_listed |= opt->pids.items[k] == pid;
		if (is_listed && put(map, &pid))
			return -E2BIG;
	}
	while (t->flags & TARGET_CHILDREN) {
		int n = add_children(t, map);

		if (n <= 0)
			return n;
	}
	return 0;
}

static int fill_cgroups(struct weft_bpf *skel, const struct options *opt)
{
	int err = 0;

	for (size_t i = 0; !err && i < opt->cgroups.n; i++) {
		uint64_t id;
		bool is_v2;

		err = cgroup_find(opt->cgroups.items[i], &is_v2, NULL, 0);
		if (err || !is_v2)
			continue;
		err = cgroup_id(opt->cgroups.items[i], &id);
		err = err ? err : put(skel->maps.target_cgroups, &id);
	}
	return err;
}

int targets_fill(struct targets *t, struct weft_bpf *skel, const struct options *opt)
{
	int err = 0;

	t->pids_fd = bpf_map__fd(skel->maps.target_pids);
	if (t->flags & TARGET_PIDS)
		err = fill_pids(t, skel->maps.target_pids, opt);
	for (size_t i = 0; !err && i < opt->tids.n; i++)
		err = put(skel->maps.target_tids, &opt->tids.items[i]);
	for (size_t i = 0; !err && i < opt->comms.n; i++) {
		char comm[WIRE_COMM_LEN] = "";

		snprintf(comm, sizeof(comm), "%s", opt->comms.items[i]);
		err = put(skel->maps.target_comms, comm);
	}
	if (!err && (t->flags & TARGET_CGROUPS))
		err = fill_cgroups(skel, opt);
	if (err)
		log_error("too many targets: %s", strerror(-err));
	return err;
}

void targets_deinit(struct targets *t)
{
	pid_set_deinit(&t->pids);
	pid_set_deinit(&t->ending);
}

bool targets_want(struct targets *t, const struct process_event *ev)
{
	bool is_wanted;

	if (t->flags & (TARGET_ALL | TARGET_COMMS | TARGET_CGROUPS))
		return true;
	if (ev->type == PROCESS_FORK && ev->pid != ev->parent) {
		/* A pid is new: whatever had it before is gone. */
		pid_set_remove(&t->ending, ev->pid);
		if (t->follows_children && pid_set_has(&t->pids, ev->parent))
			pid_set_add(&t->pids, ev->pid);
		else
			pid_set_remove(&t->pids, ev->pid);
	}
	is_wanted = pid_set_has(&t->pids, ev->pid);
	if (is_wanted && ev->type == PROCESS_EXIT && ev->pid == ev->tid)
		pid_set_add(&t->ending, ev->pid);
	return is_wanted;
}

bool targets_are_few(const struct targets *t)
{
	return !(t->flags & TARGET_ALL);
}

bool targets_are_listed(const struct targets *t, const char *comm)
{
	if (!targets_are_few(t) || (t->flags & TARGET_CGROUPS))
		return false;
	if (!(t->flags & TARGET_COMMS))
		return true;
	for (size_t i = 0; comm && i < t->comms.n; i++) {
		/* The kernel keeps 15 letters of a name. */
		if (!strncmp(comm, t->comms.items[i], WIRE_COMM_LEN - 1))
			return true;
	}
	return false;
}

/* True when nothing of it runs any more. The event comes before the memory is given back, which is
   the process's time too; and the main thread may end before others do. */
static bool is_gone(pid_t pid)
{
	struct proc_stat main_thread;
	struct stat tasks;
	char path[64];
	int err = procfs_stat(pid, &main_thread);

	if (err)
		return err == -ESRCH;
	if (main_thread.state != 'Z' && main_thread.state != 'X')
		return false;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	return stat(path, &tasks) || tasks.st_nlink <= 3;
}

static int join(void *ctx, pid_t pid)
{
	struct targets *t = ctx;
	const uint32_t one = 1;

	if (pid_set_has(&t->pids, pid) || pid_set_add(&t->pids, pid))
		return 0;
	bpf_map_update_elem(t->pids_fd, &pid, &one, BPF_ANY);
	return 0;
}

static void join_cgroups(struct targets *t)
{
	for (size_t i = 0; i < t->n_cgroups; i++) {
		bool is_v2;

		if (!cgroup_find(t->cgroups[i], &is_v2, NULL, 0) && !is_v2)
			cgroup_for_each_pid(t->cgroups[i], join, t);
	}
}

void targets_settle(struct targets *t)
{
	struct pid_set left = { 0 };

	for (size_t i = 0; i < t->ending.n_slots; i++) {
		pid_t pid = t->ending.slots[i];
		uint32_t key = (uint32_t)pid;

		if (!pid)
			continue;
		if (!is_gone(pid)) {
			pid_set_add(&left, pid);
			continue;
		}
		pid_set_remove(&t->pids, pid);
		bpf_map_delete_elem(t->pids_fd, &key);
	}
	pid_set_deinit(&t->ending);
	t->ending = left;
	join_cgroups(t);
}
