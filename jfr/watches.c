// SPDX-License-Identifier: Apache-2.0
#include "jfr/watches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"

void watches_deinit(struct watches *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->dirs[i].path);
	free(w->dirs);
	*w = (struct watches){ 0 };
}

static struct watch_dir *find(const struct watches *w, int wd)
{
	size_t n = ARRAY_COUNT_UP_TO(w->dirs, w->n, wd, wd);

	return n && w->dirs[n - 1].wd == wd ? &w->dirs[n - 1] : NULL;
}

const struct watch_dir *watches_find(const struct watches *w, int wd)
{
	return find(w, wd);
}

static int insert(struct watches *w, const struct watch_dir *dir)
{
	size_t at = ARRAY_COUNT_UP_TO(w->dirs, w->n, wd, dir->wd);

	if (ARRAY_RESERVE(w->dirs, w->cap, w->n))
		return -ENOMEM;
	memmove(w->dirs + at + 1, w->dirs + at, (w->n - at) * sizeof(*w->dirs));
	w->dirs[at] = *dir;
	w->n++;
	return 0;
}

int watches_set(struct watches *w, int wd, unsigned int root, const char *path, unsigned int scan)
{
	struct watch_dir *old = find(w, wd);
	struct watch_dir dir = { .wd = wd, .root = root, .scan = scan, .path = strdup(path) };
	int err = dir.path ? 0 : -ENOMEM;

	if (!err && old) {
		free(old->path);
		*old = dir;
		return 0;
	}
	if (!err)
		err = insert(w, &dir);
	if (err)
		free(dir.path);
	return err;
}

void watches_drop(struct watches *w, int wd)
{
	struct watch_dir *dir = find(w, wd);

	if (!dir)
		return;
	free(dir->path);
	w->n--;
	memmove(dir, dir + 1, (size_t)(w->dirs + w->n - dir) * sizeof(*dir));
}
