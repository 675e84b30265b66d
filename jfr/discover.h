/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the regular files below some directories and says when they change: by inotify, and by
 * looking again for what it does not hear of (other machines, overlays, a queue that ran over).
 *
 * Names that begin with a dot are passed over, symbolic links are not followed. What is beyond a
 * limit is counted, and looked for again with each scan.
 */
#ifndef JFR_DISCOVER_H
#define JFR_DISCOVER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct discover;

struct discover_limits {
	unsigned int depth; /* directories below a root */
	size_t dirs, files; /* in one scan, of all roots */
};

struct discover_counts {
	size_t dirs, files;	       /* of the last scan */
	uint64_t over_limit;	       /* in the last scan */
	uint64_t unreadable;	       /* directories, in the last scan */
	uint64_t overflows, unwatched; /* the kernel's queue; directories beyond its limit */
};

struct found {
	unsigned int root; /* index, in the order in which they were added */
	const char *path;  /* below the root */
	struct stat st;
};

typedef void (*found_fn)(void *ctx, const struct found *found);

struct discover *discover_new(const struct discover_limits *limits); /* NULL: errno says why */
void discover_free(struct discover *d);

/* What a directory is called whatever it is reached by; but /proc/PID/root stays, as the way into
   another process's files. Allocated; NULL and errno. */
char *discover_real_path(const char *path);
/* 0, or a negative errno: it has to be there at first. It may go and come later. */
int discover_add_root(struct discover *d, const char *path);
/* A directory that is not looked into, wherever it is. */
void discover_exclude(struct discover *d, const struct stat *dir);

/* Every file there is. 0 or -ENOMEM. */
int discover_scan(struct discover *d, found_fn fn, void *ctx);
/* To poll: readable when something changed; -1 without inotify. */
int discover_fd(const struct discover *d);
/* The files that changed, in new directories too, without waiting. 1: it cannot know all of them,
   scan. */
int discover_pump(struct discover *d, found_fn fn, void *ctx);

/* As beneath_open_file(). */
int discover_open(struct discover *d, unsigned int root, const char *path, struct stat *st);
struct discover_counts discover_counts(const struct discover *d);

#endif
