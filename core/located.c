// SPDX-License-Identifier: Apache-2.0
#include "core/located.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int located_below(int root_fd, const char *path, int flags)
{
	struct open_how how = { .flags = (unsigned int)flags | O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	long fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
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
