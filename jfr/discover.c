// SPDX-License-Identifier: Apache-2.0
#include "jfr/discover.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "core/array.h"
#include "core/scoped.h"
#include "jfr/beneath.h"
#include "jfr/watches.h"

#define FILE_EVENTS (IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_MODIFY)
#define DIR_EVENTS (FILE_EVENTS | IN_MOVED_FROM | IN_DELETE_SELF | IN_ONLYDIR)
#define EVENTS_LEN (64 << 10)

struct root {
	char *path;
	int fd; /* -1 while it is gone */
};

struct discover {
	struct discover_limits limits;
	struct discover_counts counts;
	struct root *roots;
	size_t n_roots, roots_cap;
	struct watches watches;
	int inotify;
	unsigned int scan; /* counts them */
	dev_t excluded_dev;
	ino_t excluded_ino;
	/* Directories that are still to be looked at. */
	char **todo;
	size_t n_todo, todo_cap;
	_Alignas(struct inotify_event) char events[EVENTS_LEN];
};

struct discover *discover_new(const struct discover_limits *limits)
{
	struct discover *d = (struct discover *)calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->limits = *limits;
	/* Without it there are the scans. */
	d->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	return d;
}

static void drop_todo(struct discover *d)
{
	while (d->n_todo)
		free(d->todo[--d->n_todo]);
}

void discover_free(struct discover *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->n_roots; i++) {
		scoped_close(&d->roots[i].fd);
		free(d->roots[i].path);
	}
	drop_todo(d);
	free(d->todo);
	free(d->roots);
	watches_deinit(&d->watches);
	scoped_close(&d->inotify);
	free(d);
}

static int open_root(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

char *discover_real_path(const char *path)
{
	SCOPED(free) char *real = realpath(path, NULL), *dir = NULL;
	char *whole = NULL;

	if (!real)
		return NULL;
	/* The kernel's own links lead elsewhere than their text says. */
	if (is_same_file(real, path))
		return TAKE(real);
	dir = *path == '/' ? NULL : getcwd(NULL, 0);
	if (*path != '/' && !dir)
		return NULL;
	return asprintf(&whole, "%s%s%s", dir ? dir : "", dir ? "/" : "", path) < 0 ? NULL : whole;
}

int discover_add_root(struct discover *d, const char *path)
{
	SCOPED(close) int fd = open_root(path);
	char *copy;

	if (fd < 0)
		return fd;
	if (ARRAY_RESERVE(d->roots, d->roots_cap, d->n_roots))
		return -ENOMEM;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	d->roots[d->n_roots++] = (struct root){ .path = copy, .fd = TAKE_FD(fd) };
	return 0;
}

void discover_exclude(struct discover *d, const struct stat *dir)
{
	d->excluded_dev = dir->st_dev;
	d->excluded_ino = dir->st_ino;
}

int discover_fd(const struct discover *d)
{
	return d->inotify;
}

struct discover_counts discover_counts(const struct discover *d)
{
	return d->counts;
}

int discover_open(struct discover *d, unsigned int root, const char *path, struct stat *st)
{
	if (root >= d->n_roots || d->roots[root].fd < 0)
		return -ENOENT;
	return beneath_open_file(d->roots[root].fd, path, st);
}

/* Allocated; a name in the root itself has no slash. */
static char *join(const char *dir, const char *name)
{
	char *path = NULL;

	if (asprintf(&path, "%s%s%s", dir, *dir ? "/" : "", name) < 0)
		return NULL;
	return path;
}

static unsigned int depth_of(const char *path)
{
	unsigned int depth = *path ? 1 : 0;

	for (; *path; path++)
		depth += *path == '/';
	return depth;
}

/* Takes the path. */
static int add_todo(struct discover *d, char *path)
{
	if (!path || ARRAY_RESERVE(d->todo, d->todo_cap, d->n_todo)) {
		free(path);
		return -ENOMEM;
	}
	d->todo[d->n_todo++] = path;
	return 0;
}

/* Before its names are read: what comes later is heard of. */
static int watch_dir(struct discover *d, unsigned int root, const char *path, int fd)
{
	char link[32];
	int wd;

	if (d->inotify < 0)
		return 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	wd = inotify_add_watch(d->inotify, link, DIR_EVENTS);
	if (wd < 0) {
		d->counts.unwatched++;
		return 0;
	}
	return watches_set(&d->watches, wd, root, path, d->scan);
}

/* Takes the path. */
static int look_at(struct discover *d, unsigned int root, char *path, const struct stat *st,
		   found_fn fn, void *ctx)
{
	struct found found = { .root = root, .path = path, .st = *st };

	if (!path)
		return -ENOMEM;
	if (S_ISDIR(st->st_mode) && depth_of(path) <= d->limits.depth)
		return add_todo(d, path);
	if (S_ISDIR(st->st_mode)) {
		d->counts.over_limit++;
	} else if (S_ISREG(st->st_mode)) {
		if (d->counts.files < d->limits.files) {
			d->counts.files++;
			fn(ctx, &found);
		} else {
			d->counts.over_limit++;
		}
	}
	free(path);
	return 0;
}

static int read_names(struct discover *d, unsigned int root, const char *path, DIR *dir,
		      found_fn fn, void *ctx)
{
	const struct dirent *e;
	int err = 0;

	while (!err && (e = readdir(dir))) {
		struct stat st;

		if (*e->d_name == '.' ||
		    fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		err = look_at(d, root, join(path, e->d_name), &st, fn, ctx);
	}
	return err;
}

static int scan_dir(struct discover *d, unsigned int root, const char *path, found_fn fn, void *ctx)
{
	SCOPED(close) int fd = beneath_open_dir(d->roots[root].fd, path);
	SCOPED(closedir) DIR *dir = NULL;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		d->counts.unreadable += fd != -ENOENT;
		return 0;
	}
	if (st.st_dev == d->excluded_dev && st.st_ino == d->excluded_ino)
		return 0;
	if (d->counts.dirs >= d->limits.dirs) {
		d->counts.over_limit++;
		return 0;
	}
	d->counts.dirs++;
	if (watch_dir(d, root, path, fd))
		return -ENOMEM;
	dir = fdopendir(fd);
	if (!dir)
		return 0;
	fd = -1;
	return read_names(d, root, path, dir, fn, ctx);
}

static int scan_below(struct discover *d, unsigned int root, const char *path, found_fn fn,
		      void *ctx)
{
	int err = add_todo(d, strdup(path));

	while (!err && d->n_todo) {
		SCOPED(free) char *next = d->todo[--d->n_todo];

		err = scan_dir(d, root, next, fn, ctx);
	}
	drop_todo(d);
	return err;
}

/* A JVM removes its repository; the next one may make it again. */
static bool find_root(struct root *root)
{
	struct stat held, there;

	if (root->fd >= 0 && !fstat(root->fd, &held) && !stat(root->path, &there) &&
	    held.st_dev == there.st_dev && held.st_ino == there.st_ino)
		return true;
	scoped_close(&root->fd);
	root->fd = open_root(root->path);
	return root->fd >= 0;
}

/* Directories that were moved away are no longer ours. */
static void drop_unseen(struct discover *d)
{
	for (size_t i = d->watches.n; i-- > 0;) {
		const struct watch_dir *dir = &d->watches.dirs[i];

		if (dir->scan == d->scan)
			continue;
		inotify_rm_watch(d->inotify, dir->wd);
		watches_drop(&d->watches, dir->wd);
	}
}

int discover_scan(struct discover *d, found_fn fn, void *ctx)
{
	int err = 0;

	d->scan++;
	d->counts.dirs = d->counts.files = 0;
	d->counts.over_limit = d->counts.unreadable = d->counts.unwatched = 0;
	for (unsigned int i = 0; !err && i < d->n_roots; i++)
		if (find_root(&d->roots[i]))
			err = scan_below(d, i, "", fn, ctx);
	if (!err)
		drop_unseen(d);
	return err;
}

/* Something happened to a name in a directory. */
static int hear(struct discover *d, const struct watch_dir *dir, const struct inotify_event *e,
		found_fn fn, void *ctx)
{
	SCOPED(free) char *path = join(dir->path, e->name);
	unsigned int root = dir->root;
	struct found found = { .root = root, .path = path };

	if (!path)
		return 1;
	if (d->roots[root].fd < 0 || beneath_stat(d->roots[root].fd, path, &found.st) < 0)
		return 0;
	if (S_ISREG(found.st.st_mode))
		fn(ctx, &found);
	if (!S_ISDIR(found.st.st_mode) || !(e->mask & (IN_CREATE | IN_MOVED_TO)) ||
	    depth_of(path) > d->limits.depth)
		return 0;
	return scan_below(d, root, path, fn, ctx) ? 1 : 0;
}

static int handle(struct discover *d, const struct inotify_event *e, found_fn fn, void *ctx)
{
	const struct watch_dir *dir = watches_find(&d->watches, e->wd);

	if (e->mask & IN_Q_OVERFLOW) {
		d->counts.overflows++;
		return 1;
	}
	if (e->mask & IN_IGNORED)
		watches_drop(&d->watches, e->wd);
	/* What was below it has other paths now, or is gone. */
	if (e->mask & IN_MOVED_FROM)
		return !!(e->mask & IN_ISDIR);
	if (!dir || !(e->mask & FILE_EVENTS) || !e->len || *e->name == '.')
		return 0;
	return hear(d, dir, e, fn, ctx);
}

int discover_pump(struct discover *d, found_fn fn, void *ctx)
{
	ssize_t n = d->inotify < 0 ? 0 : read(d->inotify, d->events, sizeof(d->events));
	int scan = 0;

	/* The kernel's own records: whole ones, each with its length. */
	for (ssize_t at = 0; at < n;) {
		const struct inotify_event *e = (const struct inotify_event *)(d->events + at);

		scan |= handle(d, e, fn, ctx);
		at += (ssize_t)(sizeof(*e) + e->len);
	}
	return scan;
}
