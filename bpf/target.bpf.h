/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Is the current task one that was asked for? A task that any rule names is. */
#ifndef BPF_TARGET_BPF_H
#define BPF_TARGET_BPF_H

#include "bpf/maps.bpf.h"

/* A group deeper than this is a target only for the tasks in itself. */
#define MAX_CGROUP_LEVELS 32

static __always_inline bool target_has_comm(void)
{
	struct comm comm = {};

	bpf_get_current_comm(&comm, sizeof(comm));
	return bpf_map_lookup_elem(&target_comms, &comm);
}

/* The id of the group that has this level among those the task is in; 0: none has. A group knows
   the ids of those above it; kernels that keep them elsewhere have the helper. */
static __always_inline __u64 target_ancestor(int level)
{
	struct task_struct *task;
	struct cgroup *group;
	__u64 id;

	if (has_cgroup_ancestors)
		return bpf_get_current_ancestor_cgroup_id(level);
	task = (void *)bpf_get_current_task();
	group = BPF_CORE_READ(task, cgroups, dfl_cgrp);
	if (level > BPF_CORE_READ(group, level) ||
	    bpf_probe_read_kernel(&id, sizeof(id),
				  (void *)group +
					  bpf_core_field_offset(struct cgroup, ancestor_ids) +
					  level * sizeof(id)))
		return 0;
	return id;
}

/* Of the groups that the task's is in, up to the root: one made later below a target counts too. */
static __always_inline bool target_has_cgroup(void)
{
	__u64 id = bpf_get_current_cgroup_id();

	if (bpf_map_lookup_elem(&target_cgroups, &id))
		return true;
	for (int level = 0; level < MAX_CGROUP_LEVELS; level++) {
		id = target_ancestor(level);
		if (!id)
			return false;
		if (bpf_map_lookup_elem(&target_cgroups, &id))
			return true;
	}
	return false;
}

/* A process that is a target by its pid is one as long as it lives. */
static __always_inline bool is_last_target(const struct last_process *last, __u32 pid)
{
	struct task_struct *task;

	if (!has_task_btf || (target_flags & ~TARGET_CHILDREN) != TARGET_PIDS || last->pid != pid)
		return false;
	task = bpf_get_current_task_btf();
	return task->group_leader->start_boottime == last->known.start_time_ns;
}

static __always_inline bool is_target(__u32 pid, __u32 tid)
{
	if (target_flags & TARGET_ALL)
		return true;
	if ((target_flags & TARGET_PIDS) && bpf_map_lookup_elem(&target_pids, &pid))
		return true;
	if ((target_flags & TARGET_TIDS) && bpf_map_lookup_elem(&target_tids, &tid))
		return true;
	if ((target_flags & TARGET_COMMS) && target_has_comm())
		return true;
	return (target_flags & TARGET_CGROUPS) && target_has_cgroup();
}

#endif
