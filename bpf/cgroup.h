/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control groups by path: a directory, or a path below the hierarchy's root. In version 2 a task
 * has one, known by its id (the inode of its directory); in version 1 the members are listed.
 */
#ifndef BPF_CGROUP_H
#define BPF_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Where it is (dir may be NULL) and of which version; -ENOENT. */
int cgroup_find(const char *path, bool *is_v2, char *dir, size_t len);
/* The id of a version 2 group; -ENOENT. */
int cgroup_id(const char *path, uint64_t *id);
/* The processes of a group and of all groups below it. */
int cgroup_for_each_pid(const char *path, int (*fn)(void *ctx, pid_t pid), void *ctx);

#endif
