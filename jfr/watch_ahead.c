// SPDX-License-Identifier: Apache-2.0
/* What the later chunks of a watched file, or of its JVM, say about the one that is exported. */
#include <string.h>

#include "core/text.h"
#include "jfr/chunk_list.h"
#include "jfr/scope_search.h"
#include "jfr/watch_inside.h"

static bool is_finished(int fd)
{
	struct chunk_list l = { 0 };
	bool is = !chunk_list_read(fd, &l);

	chunk_list_deinit(&l);
	return is;
}

/* Once for each size: a dump comes whole, or nearly so. What cannot be found is done without. */
const struct late_scopes *watch_look_ahead(struct file *file)
{
	const struct tail *t = &file->tail;

	if (t->header.state != CHUNK_COMPLETE)
		return NULL;
	if (file->late_size == t->size)
		return &file->late;
	late_scopes_deinit(&file->late);
	file->late_size = t->size;
	if (is_finished(t->fd))
		scope_search(t->fd, 0, true, 1, &file->late, NULL);
	return &file->late;
}

static bool is_beside(const struct file *a, const struct file *b)
{
	size_t len = strlen(a->path) - strlen(path_basename(a->path));

	return a->root == b->root && len == strlen(b->path) - strlen(path_basename(b->path)) &&
	       !memcmp(a->path, b->path, len);
}

bool watch_follows(const struct file *before, const struct file *file)
{
	const struct chunk_header *a = &before->tail.header, *b = &file->tail.header;

	/* A short chunk is near to itself. */
	return file->kind == FILE_RECORDING && file->tail.fd >= 0 && !file->tail.at &&
	       b->start_ns > a->start_ns && is_beside(before, file) && chunk_header_follows(a, b);
}

/* Of what is held behind a chunk's end. The file of the next one is short, but after a restart: it
   was flushed once, or a few times. */
const struct late_scopes *watch_look_at_next(struct watch *w, struct file *file)
{
	const struct late_scopes *late = watch_look_ahead(file);

	if (!late || late->n)
		return late;
	for (size_t i = 0; i < w->files.n; i++) {
		const struct file *next = w->files.items[i];

		if (!watch_follows(file, next) || chunk_header_is_unflushed(&next->tail.header))
			continue;
		scope_search(next->tail.fd, 0, false, 1, &file->late, NULL);
		late_scopes_sort(&file->late);
		break;
	}
	return late;
}
