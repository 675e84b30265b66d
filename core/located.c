// SPDX-License-Identifier: Apache-2.0
#include "core/located.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef RESOLVE_CACHED /* headers before 5.12 */
#define RESOLVE_CACHED 0x20
#endif

static int locate(int dir, const char *path, int flags, uint64_t resolve)
{
	struct open_how how = { .flags = (unsigned int)flags | O_PATH | O_CLOEXEC,
				.resolve = resolve };
	long fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

int located_below(int root_fd, const char *path, int flags)
{
	return locate(root_fd, path, flags, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
}

int located_known(int root_fd, const char *path)
{
	const uint64_t resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS;
	int fd = locate(root_fd, path, 0, resolve | RESOLVE_CACHED);

	/* Before 5.12 there is no such thing. */
	return fd == -EINVAL ? locate(root_fd, path, 0, resolve) : fd;
}

int located_own(const char *path)
{
	return locate(AT_FDCWD, path, 0, RESOLVE_NO_MAGICLINKS);
}

int located_open(int located, struct stat *st)
{
	char path[32];
	int fd;

	if (fstat(located, st) < 0)
		return -errno;
	if (!S_ISREG(st->st_mode))
		return S_ISLNK(st->st_mode) ? -ELOOP : -EINVAL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", located);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}
