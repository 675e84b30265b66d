// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_kernel_tid.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/scoped.h"
#include "runtimes/procfs.h"

/* Of glibc's struct pthread on x86-64, from 2.4 on; the value is checked against /proc. */
#define PTHREAD_TID 0x2d0

/* The thread of a process that has this id in its own namespace. */
static pid_t from_namespace(pid_t pid, pid_t inner)
{
	SCOPED(closedir) DIR *tasks = NULL;
	struct proc_status status;
	struct dirent *entry;
	char path[64];

	if (inner <= 0)
		return 0;
	if (!procfs_status(inner, &status) && status.pid == pid && status.ns_pid == inner)
		return inner;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		pid_t tid = atoi(entry->d_name);

		if (tid > 0 && !procfs_status(tid, &status) && status.pid == pid &&
		    status.ns_pid == inner)
			return tid;
	}
	return 0;
}

pid_t python_kernel_tid(struct python_heap *h, pid_t pid, uint64_t thread, uint64_t thread_id)
{
	uint64_t inner = 0;

	if (h->layout->thread.native_thread_id)
		inner = python_word(h, thread + h->layout->thread.native_thread_id);
#ifdef __x86_64__
	else
		inner = python_int(h, thread_id + PTHREAD_TID);
#endif
	return inner <= INT32_MAX ? from_namespace(pid, (pid_t)inner) : 0;
}
