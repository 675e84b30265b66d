/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Is the current task one that was asked for? A task that any rule names is. */
#ifndef BPF_TARGET_BPF_H
#define BPF_TARGET_BPF_H

#include "bpf/maps.bpf.h"

static __always_inline bool target_has_comm(void)
{
	struct comm comm = {};

	bpf_get_current_comm(&comm, sizeof(comm));
	return bpf_map_lookup_elem(&target_comms, &comm);
}

static __always_inline bool is_target(__u32 pid, __u32 tid)
{
	__u64 cgroup;

	if (target_flags & TARGET_ALL)
		return true;
	if ((target_flags & TARGET_PIDS) && bpf_map_lookup_elem(&target_pids, &pid))
		return true;
	if ((target_flags & TARGET_TIDS) && bpf_map_lookup_elem(&target_tids, &tid))
		return true;
	if ((target_flags & TARGET_COMMS) && target_has_comm())
		return true;
	if (!(target_flags & TARGET_CGROUPS))
		return false;
	cgroup = bpf_get_current_cgroup_id();
	return bpf_map_lookup_elem(&target_cgroups, &cgroup);
}

#endif
