// SPDX-License-Identifier: Apache-2.0
#include "jfr/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/scoped.h"

static int open_beneath(int root, const char *path, uint64_t flags)
{
	struct open_how how = {
		.flags = flags | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	long fd;

	/* It may be renamed while the kernel looks. */
	do
		fd = syscall(SYS_openat2, root, *path ? path : ".", &how, sizeof(how));
	while (fd < 0 && (errno == EAGAIN || errno == EINTR));
	return fd < 0 ? -errno : (int)fd;
}

int beneath_open_dir(int root, const char *path)
{
	return open_beneath(root, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
}

int beneath_stat(int root, const char *path, struct stat *st)
{
	SCOPED(close) int fd = open_beneath(root, path, O_PATH | O_NOFOLLOW);

	if (fd < 0)
		return fd;
	return fstat(fd, st) < 0 ? -errno : 0;
}

/* The file behind a descriptor that cannot be read; without its time of access, where we may. */
static int reopen(int path_fd)
{
	char link[32];
	int fd;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", path_fd);
	fd = open(link, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | O_NOATIME);
	if (fd < 0 && errno == EPERM)
		fd = open(link, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int beneath_open_file(int root, const char *path, struct stat *st)
{
	SCOPED(close) int fd = open_beneath(root, path, O_PATH | O_NOFOLLOW);

	if (fd < 0)
		return fd;
	if (fstat(fd, st) < 0)
		return -errno;
	return S_ISREG(st->st_mode) ? reopen(fd) : -ENOTSUP;
}
