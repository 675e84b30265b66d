// SPDX-License-Identifier: Apache-2.0
/* What the later chunks of a watched file say about the one that is exported. */
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
		scope_search(t->fd, 0, true, 1, &file->late);
	return &file->late;
}
