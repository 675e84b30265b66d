// SPDX-License-Identifier: Apache-2.0
#include "bpf/target_list.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "bpf/cgroup.h"
#include "bpf/shared.h"
#include "bpf/targets.h"
#include "bpf/weft.h"
#include "core/scoped.h"
#include "runtimes/procfs.h"

#define ELSEWHERE (TARGET_ALL | TARGET_COMMS | TARGET_CGROUPS)

bool target_list_is_dear(const struct targets *t)
{
	return t->flags & ELSEWHERE;
}

static int add(void *ctx, pid_t pid)
{
	return pid_set_add(ctx, pid);
}

/* By the name of its main thread; threads may have others. The kernel keeps 15 letters. */
static bool has_comm(const struct targets *t, pid_t pid)
{
	struct proc_stat stat;

	if (procfs_stat(pid, &stat) < 0)
		return false;
	for (size_t i = 0; i < t->comms.n; i++)
		if (!strncmp(stat.comm, t->comms.items[i], WIRE_COMM_LEN - 1))
			return true;
	return false;
}

static int add_running(const struct targets *t, struct pid_set *out)
{
	SCOPED(closedir) DIR *proc = opendir("/proc");
	const struct dirent *e;
	int err = 0;

	while (proc && !err && (e = readdir(proc))) {
		pid_t pid = isdigit((unsigned char)e->d_name[0])
				    ? (pid_t)strtol(e->d_name, NULL, 10)
				    : 0;

		if (pid && pid != getpid() && ((t->flags & TARGET_ALL) || has_comm(t, pid)))
			err = pid_set_add(out, pid);
	}
	return err;
}

int target_list(const struct targets *t, struct pid_set *out)
{
	int err = 0;

	for (size_t i = 0; i < t->pids.n_slots && !err; i++)
		if (t->pids.slots[i])
			err = pid_set_add(out, t->pids.slots[i]);
	if (!err && (t->flags & (TARGET_ALL | TARGET_COMMS)))
		err = add_running(t, out);
	for (size_t i = 0; i < t->n_cgroups && !err; i++) {
		err = cgroup_for_each_pid(t->cgroups[i], add, out);
		err = err == -ENOMEM ? err : 0; /* a group may be gone */
	}
	return err;
}
