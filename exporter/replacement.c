// SPDX-License-Identifier: Apache-2.0
#include "exporter/replacement.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/privileges.h"
#include "core/scoped.h"

#define MAX_TRIES 3	    /* when the file is replaced by others while we look at it */
#define MAX_LINKS 8	    /* one to the next, the last of which leads to nothing */
#define MAX_TEMPORARIES 100 /* names of killed runs that are passed over */

static void release(struct replacement *r)
{
	if (r->fd >= 0)
		close(r->fd);
	if (r->dir >= 0)
		close(r->dir);
	free(r->name);
	r->fd = r->dir = -1;
	r->name = NULL;
}

/* Sets the directory and the name in it; a relative path begins at the directory `at`. */
static int set_place(struct replacement *r, int at, const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	SCOPED(free) char *dir = slash ? strndup(path, (size_t)(base - path)) : strdup(".");
	SCOPED(close) int fd = -1;

	if (!*base)
		return slash ? -EISDIR : -ENOENT;
	if (!dir)
		return -ENOMEM;
	fd = openat(at, dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	release(r);
	r->dir = TAKE_FD(fd);
	r->name = strdup(base);
	return r->name ? 0 : -ENOMEM;
}

/* The place of an open file is where the kernel says that it is, as long as it is. */
static int follow_to(struct replacement *r, int fd)
{
	char link[32], path[PATH_MAX];
	struct stat opened, there;
	ssize_t len;
	int err;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path));
	if (len < 0 || (size_t)len == sizeof(path))
		return len < 0 ? -errno : -ENAMETOOLONG;
	path[len] = 0;
	err = *path == '/' ? set_place(r, AT_FDCWD, path) : -ESTALE;
	if (err)
		return err == -ENOENT || err == -ENOTDIR ? -ESTALE : err;
	if (fstat(fd, &opened) < 0 || fstatat(r->dir, r->name, &there, AT_SYMLINK_NOFOLLOW) < 0 ||
	    opened.st_dev != there.st_dev || opened.st_ino != there.st_ino)
		return -ESTALE;
	return 0;
}

static int open_old(struct replacement *r, unsigned int links_left);

/*
 * A link that leads to nothing has a place for a new file all the same. The kernel let us follow
 * what had the name a moment ago, which need not be what has it now: so it has to be our own.
 */
static int follow_missing(struct replacement *r, unsigned int links_left)
{
	SCOPED(close) int link = openat(r->dir, r->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char path[PATH_MAX];
	struct stat st;
	ssize_t len;
	int err;

	if (link < 0 || fstat(link, &st) < 0 || !S_ISLNK(st.st_mode))
		return -ESTALE;
	if (st.st_uid != geteuid())
		return -EACCES;
	len = readlinkat(link, "", path, sizeof(path));
	if (len < 0 || (size_t)len == sizeof(path))
		return len < 0 ? -errno : -ENAMETOOLONG;
	path[len] = 0;
	err = links_left ? set_place(r, r->dir, path) : -ELOOP;
	return err ? err : open_old(r, links_left - 1);
}

/*
 * Opening the old file asks the kernel whether we may: it refuses links that someone planted in
 * /tmp, and files that are read-only. 0 when there is a place for a new file, 1 when fd is to be
 * written to.
 */
static int open_old(struct replacement *r, unsigned int links_left)
{
	const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY;
	SCOPED(close) int fd = openat(r->dir, r->name, flags | O_NOFOLLOW);
	bool is_link = fd < 0 && errno == ELOOP;
	struct stat st;

	if (is_link)
		fd = openat(r->dir, r->name, flags);
	if (fd < 0 && errno == ENOENT)
		return is_link ? follow_missing(r, links_left) : 0;
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISREG(st.st_mode))
		return is_link ? follow_to(r, fd) : 0;
	close(r->dir);
	r->dir = -1;
	r->fd = TAKE_FD(fd);
	return 1;
}

static int find_place(struct replacement *r, const char *path)
{
	int found = -ESTALE;

	for (int i = 0; found == -ESTALE && i < MAX_TRIES; i++) {
		found = set_place(r, AT_FDCWD, path);
		if (!found)
			found = open_old(r, MAX_LINKS);
	}
	return found;
}

static void block_signals(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, before);
}

static void unblock_signals(const sigset_t *before)
{
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* Does something with a temporary name that nobody has: 0 or more, or -errno. */
static int with_temporary(struct replacement *r, int (*fn)(struct replacement *r, mode_t mode),
			  mode_t mode)
{
	int done = -EEXIST;

	for (unsigned int i = 0; done == -EEXIST && i < MAX_TEMPORARIES; i++) {
		snprintf(r->temporary, sizeof(r->temporary), ".weft-%d-%u.tmp", getpid(), i);
		done = fn(r, mode);
	}
	if (done < 0)
		*r->temporary = 0;
	return done;
}

static int create(struct replacement *r, mode_t mode)
{
	r->fd = openat(r->dir, r->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	return r->fd < 0 ? -errno : 0;
}

static int link_as(struct replacement *r, const char *name)
{
	char link[32];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", r->fd);
	return linkat(AT_FDCWD, link, r->dir, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

static int link_temporary(struct replacement *r, mode_t mode)
{
	(void)mode;
	return link_as(r, r->temporary);
}

static int rename_temporary(struct replacement *r)
{
	int err = renameat(r->dir, r->temporary, r->dir, r->name) < 0 ? -errno : 0;

	if (err)
		unlinkat(r->dir, r->temporary, 0);
	unfinished_clear();
	return err;
}

/* A named file, for file systems without nameless ones. */
static int open_named(struct replacement *r, mode_t mode)
{
	sigset_t before;
	int err;

	block_signals(&before);
	err = with_temporary(r, create, mode);
	if (!err)
		unfinished_set(r->dir, r->temporary);
	unblock_signals(&before);
	return err;
}

static int open_new(struct replacement *r, bool is_private)
{
	mode_t mode = is_private ? 0600 : 0666;
	int err = 0;

	/* Through /proc it will get its name. */
	if (!access("/proc/self/fd", X_OK))
		r->fd = openat(r->dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
	if (r->fd < 0)
		err = open_named(r, mode);
	if (!err && is_private)
		privileges_hand_over(r->fd);
	return err;
}

int replacement_open(struct replacement *r, const char *path, bool is_private)
{
	int found;

	*r = (struct replacement){ .fd = -1, .dir = -1 };
	found = find_place(r, path);
	if (!found)
		found = open_new(r, is_private);
	if (found < 0)
		release(r);
	return found < 0 ? found : 0;
}

/* No link can replace a file, so the new one has a name of its own for a moment, in which only
   SIGKILL could leave it behind. */
static int link_over(struct replacement *r)
{
	sigset_t before;
	int err;

	block_signals(&before);
	err = with_temporary(r, link_temporary, 0);
	if (!err)
		err = rename_temporary(r);
	unblock_signals(&before);
	return err;
}

int replacement_finish(struct replacement *r)
{
	int err = 0;

	if (r->dir >= 0 && *r->temporary) {
		err = rename_temporary(r);
	} else if (r->dir >= 0) {
		err = link_as(r, r->name);
		if (err == -EEXIST)
			err = link_over(r);
	}
	release(r);
	return err;
}

void replacement_abandon(struct replacement *r)
{
	if (*r->temporary) {
		unlinkat(r->dir, r->temporary, 0);
		unfinished_clear();
	}
	release(r);
}
