/* SPDX-License-Identifier: Apache-2.0 */
/* Which directory an inotify watch is of. */
#ifndef JFR_WATCHES_H
#define JFR_WATCHES_H

#include <stddef.h>

struct watch_dir {
	int wd;
	unsigned int root;
	unsigned int scan; /* the last one that came by */
	char *path;	   /* below the root */
};

struct watches {
	struct watch_dir *dirs; /* sorted by wd */
	size_t n, cap;
};

void watches_deinit(struct watches *w);
/* A new watch, or another path for one that is there: the directory was renamed. 0 or -ENOMEM. */
int watches_set(struct watches *w, int wd, unsigned int root, const char *path, unsigned int scan);
/* NULL: there is none. Valid until the next change. */
const struct watch_dir *watches_find(const struct watches *w, int wd);
void watches_drop(struct watches *w, int wd);

#endif
