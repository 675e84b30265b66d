// SPDX-License-Identifier: Apache-2.0
/* Opening a file of a watch: where to go on, by the ledger or by what it was when it was closed. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/log.h"
#include "core/text.h"
#include "jfr/watch_inside.h"

#define RETRY_NS (30 * NS_PER_S)

/* The one that has not grown for the longest time gives way; it is found again by its name. */
static bool make_room(struct watch *w, const struct file *but)
{
	struct file *oldest = NULL;

	if (w->n_open < w->settings.max_open)
		return true;
	for (size_t i = 0; i < w->files.n; i++) {
		struct file *f = w->files.items[i];

		if (f->tail.fd < 0 || f == but || f->is_busy || f->kind != FILE_RECORDING ||
		    !f->tail.n_links)
			continue;
		if (!oldest || f->tail.grown_ns < oldest->tail.grown_ns)
			oldest = f;
	}
	if (oldest)
		watch_close(w, oldest);
	return oldest;
}

/* As the ledger has it. false: there is nothing to do. */
static bool resume(struct watch *w, struct file *file, uint64_t *at)
{
	const struct file_identity id = { file->dev, file->ino, file->start_ns };
	struct source_record known;

	*at = 0;
	file->is_dirty = true;
	if (ledger_find_source(w->ledger, &id, &known))
		return true;
	file->is_recorded = true;
	file->recorded_ns = known.seen_ns;
	if (known.offset <= file->size && file->start_ns)
		*at = known.offset;
	/* One that was given up for gone is there again, if it was not read to its end. */
	if (known.state == SOURCE_GROWING || known.size != file->size ||
	    known.mtime_ns != file->mtime_ns || known.offset < file->size)
		return true;
	file_set_reason(file, *known.reason ? known.reason : NULL);
	/* A row that is about to be forgotten is written anew. */
	file->is_dirty = watch_unix_now() - known.seen_ns > w->settings.remember_ns / 4;
	return false;
}

/* What the inode was is over: its row says so, and another one begins. */
void watch_retire(struct watch *w, struct file *file)
{
	enum file_kind kind = file->kind;

	if (file->is_recorded && kind == FILE_RECORDING) {
		file->kind = FILE_DONE;
		watch_put_file(w, file);
		file->kind = kind;
	}
	file_set_reason(file, NULL);
	file->is_recorded = false;
}

/* It was there before, and is open no more. Is it still the same? */
static uint64_t go_on(struct watch *w, struct file *file, uint64_t start_ns, uint64_t old_size)
{
	const struct tail *t = &file->tail;

	if (file->start_ns == start_ns && t->at <= file->size)
		return start_ns ? t->at : 0;
	if (file->kind == FILE_RECORDING && old_size > t->at && file->start_ns)
		watch_lose(w, LOST_REPLACED, old_size - t->at);
	watch_retire(w, file);
	return 0;
}

static void refuse(struct file *file, int err)
{
	char name[512];

	file->retry_ns = watch_now() + RETRY_NS;
	if (err == -ENOENT || (file->reason && !strcmp(file->reason, strerror(-err))))
		return;
	file_set_reason(file, strerror(-err));
	log_error("cannot read %s: %s", text_safe(file->path, name, sizeof(name)), strerror(-err));
}

static uint64_t read_start(int fd)
{
	struct chunk_header h;
	const char *what;

	return tail_read_header(fd, 0, &h, &what) ? 0 : (uint64_t)h.start_ns;
}

bool watch_open(struct watch *w, struct file *file)
{
	uint64_t at, start_ns, old_size = file->size;
	bool is_new = file->kind == FILE_NEW, wanted = true;
	struct stat st;
	int fd;

	if (!make_room(w, file)) {
		/* All of them wait to be committed. */
		w->has_more = true;
		return false;
	}
	fd = discover_open(w->discover, file->root, file->path, &st);
	if (fd < 0 || st.st_dev != file->dev || st.st_ino != file->ino) {
		if (fd < 0)
			refuse(file, fd);
		else
			close(fd);
		w->wants_scan |= fd >= 0;
		return false;
	}
	start_ns = read_start(fd);
	file->size = (uint64_t)st.st_size;
	file->mtime_ns = st.st_mtim.tv_sec * (int64_t)NS_PER_S + st.st_mtim.tv_nsec;
	file->is_resumed = true;
	if (is_new) {
		file->start_ns = start_ns;
		wanted = resume(w, file, &at);
		file->is_resumed = file->is_recorded;
	} else {
		at = go_on(w, file, start_ns, old_size);
		file->start_ns = start_ns;
		file->is_dirty = true;
	}
	tail_init(&file->tail, fd, at);
	w->n_open++;
	file->kind = FILE_RECORDING;
	if (wanted)
		return true;
	watch_close(w, file);
	file->kind = FILE_DONE;
	file->is_touched = false;
	return false;
}
