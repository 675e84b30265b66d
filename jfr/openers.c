// SPDX-License-Identifier: Apache-2.0
#include "jfr/openers.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/scoped.h"

static void answer(struct open_question *questions, size_t n, const struct statx *st)
{
	uint64_t dev = makedev(st->stx_dev_major, st->stx_dev_minor);

	for (size_t i = 0; i < n; i++)
		if (questions[i].dev == dev && questions[i].ino == st->stx_ino)
			questions[i].is_open = true;
}

static DIR *open_dir_at(int at, const char *path)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !dir)
		close(fd);
	return dir;
}

/* false: we may not know. A process that is gone has nothing open. */
static bool look_at(int proc, const char *pid, struct open_question *questions, size_t n)
{
	char path[64];
	SCOPED(closedir) DIR *fds = NULL;
	const struct dirent *e;

	snprintf(path, sizeof(path), "%.20s/fd", pid);
	fds = open_dir_at(proc, path);
	if (!fds)
		return errno == ENOENT || errno == ESRCH;
	while ((e = readdir(fds))) {
		struct statx st;

		/* Such a link leads to the open file itself. No file server is asked: it may not
		   answer. */
		if (isdigit((unsigned char)*e->d_name) &&
		    !statx(dirfd(fds), e->d_name, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT,
			   STATX_TYPE | STATX_INO, &st) &&
		    S_ISREG(st.stx_mode))
			answer(questions, n, &st);
	}
	return true;
}

int openers_find(const char *proc, struct open_question *questions, size_t n)
{
	SCOPED(closedir) DIR *dir = open_dir_at(AT_FDCWD, proc);
	const struct dirent *e;
	int saw_all = 1;

	if (!dir)
		return -errno;
	for (size_t i = 0; i < n; i++)
		questions[i].is_open = false;
	while ((e = readdir(dir)))
		if (isdigit((unsigned char)*e->d_name) && atoi(e->d_name) != getpid() &&
		    !look_at(dirfd(dir), e->d_name, questions, n))
			saw_all = 0;
	return saw_all;
}
