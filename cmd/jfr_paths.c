// SPDX-License-Identifier: Apache-2.0
#include "cmd/jfr_paths.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/array.h"
#include "core/hurry.h"
#include "core/log.h"
#include "core/options.h"
#include "core/scoped.h"
#include "core/text.h"
#include "jfr/tail.h"

static int add(struct jfr_paths *p, const char *path, bool is_found)
{
	SCOPED(free) char *copy = strdup(path);

	if (!copy || ARRAY_RESERVE(p->items, p->cap, p->n))
		return -ENOMEM;
	p->items[p->n++] = (struct jfr_path){ .path = TAKE(copy), .is_found = is_found };
	return 0;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void say(const char *path, int err)
{
	char name[256];

	log_error("cannot read %s: %s", text_safe(path, name, sizeof(name)), strerror(err));
}

static int add_below(struct jfr_paths *p, const char *directory)
{
	char *roots[] = { (char *)directory, NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_COMFOLLOW, by_name);
	int err = fts ? 0 : -errno;
	FTSENT *entry;

	while (!err && (entry = fts_read(fts)) && !hurry_is_on()) {
		if (entry->fts_info == FTS_F && entry->fts_statp->st_size)
			err = add(p, entry->fts_path, true);
		if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR)
			say(entry->fts_path, entry->fts_errno);
	}
	if (fts)
		fts_close(fts);
	return err;
}

int jfr_paths_init(struct jfr_paths *p, const struct string_list *arguments)
{
	*p = (struct jfr_paths){ 0 };
	for (size_t i = 0; i < arguments->n; i++) {
		const char *path = arguments->items[i];
		struct stat st;
		int err = stat(path, &st) ? -errno : 0;

		if (err)
			say(path, -err);
		if (!err)
			err = S_ISDIR(st.st_mode) ? add_below(p, path) : add(p, path, false);
		if (err)
			return err;
	}
	return 0;
}

/* What is no regular file is not opened. */
static int open_at_header(const struct jfr_path *path, struct chunk_header *h)
{
	int follow = path->is_found ? O_NOFOLLOW : 0;
	const char *what;
	struct stat st;
	SCOPED(close) int fd = -1;

	if (stat(path->path, &st) || !S_ISREG(st.st_mode))
		return -1;
	fd = open(path->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | follow);
	return fd < 0 || tail_read_header(fd, 0, h, &what) ? -1 : TAKE_FD(fd);
}

int jfr_path_open(const struct jfr_path *path)
{
	struct chunk_header h;

	return open_at_header(path, &h);
}

static int64_t start_of(const struct jfr_path *path)
{
	struct chunk_header h;
	SCOPED(close) int fd = open_at_header(path, &h);

	return fd < 0 ? 0 : h.start_ns;
}

int64_t jfr_paths_start(const struct jfr_paths *p)
{
	int64_t first = 0;

	for (size_t i = 0; i < p->n && !hurry_is_on(); i++) {
		int64_t start = start_of(&p->items[i]);

		if (start > 0 && (!first || start < first))
			first = start;
	}
	return first;
}

void jfr_paths_deinit(struct jfr_paths *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->items[i].path);
	free(p->items);
	*p = (struct jfr_paths){ 0 };
}
