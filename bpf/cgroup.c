// SPDX-License-Identifier: Apache-2.0
#include "bpf/cgroup.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "core/scoped.h"

#define MAX_DEPTH 64

/* Where distributions mount the hierarchies; a version 1 task is in all of them, so any will do. */
static const char *const roots[] = {
	"",
	"/sys/fs/cgroup/",
	"/sys/fs/cgroup/unified/",
	"/sys/fs/cgroup/systemd/",
	"/sys/fs/cgroup/cpu,cpuacct/",
	"/sys/fs/cgroup/cpu/",
	"/sys/fs/cgroup/memory/",
	"/sys/fs/cgroup/pids/",
};

static bool is_cgroup(const char *dir, bool *is_v2)
{
	char procs[PATH_MAX];
	struct statfs fs;

	if (statfs(dir, &fs))
		return false;
	*is_v2 = fs.f_type == CGROUP2_SUPER_MAGIC;
	if (snprintf(procs, sizeof(procs), "%s/cgroup.procs", dir) >= (int)sizeof(procs))
		return false;
	return (*is_v2 || fs.f_type == CGROUP_SUPER_MAGIC) && access(procs, F_OK) == 0;
}

int cgroup_find(const char *path, bool *is_v2, char *dir, size_t len)
{
	char name[PATH_MAX];

	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		if (!*roots[i] && *path != '/')
			continue;
		if (snprintf(name, sizeof(name), "%s%s", roots[i], path) >= (int)sizeof(name))
			return -ENAMETOOLONG;
		if (!is_cgroup(name, is_v2))
			continue;
		if (dir && (size_t)snprintf(dir, len, "%s", name) >= len)
			return -ENAMETOOLONG;
		return 0;
	}
	return -ENOENT;
}

int cgroup_id(const char *path, uint64_t *id)
{
	char dir[PATH_MAX];
	struct stat st;
	bool is_v2;
	int err = cgroup_find(path, &is_v2, dir, sizeof(dir));

	if (err)
		return err;
	if (stat(dir, &st))
		return -errno;
	*id = st.st_ino;
	return 0;
}

/* Calls fn for a directory and those below it. Groups come and go: one that is gone is no error. */
static int walk(const char *dir, int depth, int (*fn)(void *ctx, const char *dir), void *ctx)
{
	SCOPED(closedir) DIR *d = opendir(dir);
	const struct dirent *e;
	int err = d ? fn(ctx, dir) : 0;

	while (d && !err && depth < MAX_DEPTH && (e = readdir(d))) {
		char below[PATH_MAX];

		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		if (snprintf(below, sizeof(below), "%s/%s", dir, e->d_name) < (int)sizeof(below))
			err = walk(below, depth + 1, fn, ctx);
	}
	return err;
}

struct pid_walk {
	int (*fn)(void *ctx, pid_t pid);
	void *ctx;
};

static int pids_of(void *ctx, const char *dir)
{
	struct pid_walk *w = ctx;
	char path[PATH_MAX];
	SCOPED(fclose) FILE *f = NULL;
	int pid, err = 0;

	if (snprintf(path, sizeof(path), "%s/cgroup.procs", dir) < (int)sizeof(path))
		f = fopen(path, "re");
	while (f && !err && fscanf(f, "%d", &pid) == 1)
		err = pid > 0 ? w->fn(w->ctx, pid) : 0;
	return err;
}

int cgroup_for_each_pid(const char *path, int (*fn)(void *ctx, pid_t pid), void *ctx)
{
	struct pid_walk w = { fn, ctx };
	char dir[PATH_MAX];
	bool is_v2;
	int err = cgroup_find(path, &is_v2, dir, sizeof(dir));

	return err ? err : walk(dir, 0, pids_of, &w);
}
