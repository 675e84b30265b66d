// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_tids.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/array.h"
#include "core/scoped.h"
#include "runtimes/procfs.h"
#include "unwinders/arch.h"

static int by_inner(const void *a, const void *b)
{
	const struct python_tid *x = a, *y = b;

	return x->inner < y->inner ? -1 : x->inner > y->inner;
}

int python_tids_read(pid_t pid, struct python_tids *out)
{
	SCOPED(closedir) DIR *tasks = NULL;
	struct proc_status status;
	struct dirent *entry;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		pid_t tid = atoi(entry->d_name);

		if (tid <= 0 || procfs_status(tid, &status) || status.pid != pid)
			continue;
		if (ARRAY_RESERVE(out->items, out->cap, out->n) < 0)
			return -ENOMEM;
		out->items[out->n++] = (struct python_tid){ status.ns_pid, tid };
	}
	if (out->n)
		qsort(out->items, out->n, sizeof(*out->items), by_inner);
	return 0;
}

pid_t python_tids_inner(const struct python_tids *ts, pid_t tid)
{
	for (size_t i = 0; i < ts->n; i++)
		if (ts->items[i].tid == tid)
			return ts->items[i].inner;
	return 0;
}

void python_tids_deinit(struct python_tids *ts)
{
	free(ts->items);
	*ts = (struct python_tids){ 0 };
}

pid_t python_tid(const struct python_tids *ts, struct python_heap *h, uint64_t thread,
		 uint64_t thread_id)
{
	uint64_t inner = 0;
	size_t n;

	if (h->layout->thread.native_thread_id)
		inner = python_word(h, thread + h->layout->thread.native_thread_id);
	else /* checked against /proc */
		inner = python_int(h, thread_id + PTHREAD_TID);
	if (inner > INT32_MAX)
		return 0;
	n = ARRAY_COUNT_UP_TO(ts->items, ts->n, inner, (pid_t)inner);
	return n && ts->items[n - 1].inner == (pid_t)inner ? ts->items[n - 1].tid : 0;
}
