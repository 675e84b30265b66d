// SPDX-License-Identifier: Apache-2.0
/* From a batch that was exported to one that counts: delivered first, then in the ledger. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/scoped.h"
#include "jfr/watch_inside.h"

static const char *const names[N_LOST_REASONS] = {
	[LOST_VANISHED] = "vanished",	  [LOST_REPLACED] = "replaced",
	[LOST_UNFLUSHED] = "unflushed",	  [LOST_DAMAGED] = "damaged",
	[LOST_UNREADABLE] = "unreadable",
};

const char *lost_reason_name(enum lost_reason reason)
{
	return names[reason];
}

void watch_lose(struct watch *w, enum lost_reason reason, uint64_t bytes)
{
	w->counts.n_lost[reason]++;
	w->counts.lost_bytes[reason] += bytes;
	w->lost_n[reason]++;
	w->lost_bytes[reason] += bytes;
}

bool watch_is_pending(const struct watch *w, const struct chunk_key *key)
{
	for (size_t i = 0; i < w->n_pending; i++)
		if (!memcmp(&w->pending[i].chunk.key, key, sizeof(*key)))
			return true;
	return false;
}

/* Everything before the chunk at `offset`, and of that one up to `exported`, was read. */
static int put_source(struct watch *w, struct file *file, uint64_t offset, uint64_t exported)
{
	SCOPED(free) char *path = NULL;
	bool is_done = file->kind == FILE_DONE;
	struct source_record source = {
		.id = { file->dev, file->ino, file->start_ns },
		.size = file->size,
		.mtime_ns = file->mtime_ns,
		.offset = offset,
		.exported = exported,
		.state = !is_done	? SOURCE_GROWING
			 : file->reason ? SOURCE_QUARANTINED
					: SOURCE_DONE,
		.reason = file->reason,
		.seen_ns = watch_unix_now(),
	};

	if (asprintf(&path, "%s/%s", w->roots[file->root], file->path) < 0)
		return -ENOMEM;
	source.path = path;
	return ledger_put_source(w->ledger, &source);
}

int watch_put_file(struct watch *w, struct file *file)
{
	const struct tail *t = &file->tail;
	uint64_t exported = watch_read_to(file);
	int err;

	/* What has no header yet may become anything. */
	if (!file->start_ns && file->kind != FILE_DONE)
		return 0;
	if (file->kind == FILE_PACKED)
		exported = 0;
	err = put_source(w, file, file->kind == FILE_PACKED ? 0 : t->at, exported);
	if (!err) {
		file->is_dirty = false;
		file->is_recorded = true;
		file->recorded_ns = watch_unix_now();
	}
	return err;
}

static int put_pending(struct watch *w, const struct pending *p)
{
	struct chunk_record chunk = p->chunk;
	const struct tail *t = &p->file->tail;
	uint64_t read_to = p->result.held.n ? p->result.held.at[0] : p->result.to;
	int err;

	/* What is cut off in this file another one of the chunk may have whole. Of one that grows
	   the next piece goes on behind it, and what it holds is found by where that is. */
	chunk.exported = p->result.to - (p->is_last ? p->result.cut : 0);
	if (p->is_last && !t->piece.is_whole)
		chunk.seen = p->result.to;
	chunk.held = p->result.held;
	chunk.seen_ns = watch_unix_now();
	if (p->is_last && t->piece.is_whole && t->header.state == CHUNK_COMPLETE)
		chunk.size = t->header.size;
	err = ledger_put_chunk(w->ledger, &chunk);
	if (!err && p->result.lost)
		err = ledger_add_lost(w->ledger, names[LOST_DAMAGED], 1, p->result.lost);
	if (err || p->file->kind == FILE_PACKED)
		return err;
	return put_source(w, p->file, p->is_last ? t->piece.next : t->at,
			  p->is_last ? t->piece.next : t->at + read_to);
}

static int put_losses(struct watch *w)
{
	int err = 0;

	for (int i = 0; i < N_LOST_REASONS && !err; i++)
		if (w->lost_n[i])
			err = ledger_add_lost(w->ledger, names[i], w->lost_n[i], w->lost_bytes[i]);
	return err;
}

static int put_dirty(struct watch *w)
{
	int err = 0;

	for (size_t i = 0; i < w->files.n && !err; i++)
		if (w->files.items[i]->is_dirty && !w->files.items[i]->is_busy)
			err = watch_put_file(w, w->files.items[i]);
	return err;
}

static int put_all(struct watch *w)
{
	int err = ledger_begin(w->ledger);

	for (size_t i = 0; i < w->n_pending && !err; i++)
		err = put_pending(w, &w->pending[i]);
	if (!err)
		err = put_dirty(w);
	if (!err)
		err = put_losses(w);
	return err ? err : ledger_commit(w->ledger);
}

static bool has_news(const struct watch *w)
{
	for (int i = 0; i < N_LOST_REASONS; i++)
		if (w->lost_n[i])
			return true;
	for (size_t i = 0; i < w->files.n; i++)
		if (w->files.items[i]->is_dirty &&
		    (w->files.items[i]->start_ns || w->files.items[i]->kind == FILE_DONE))
			return true;
	return w->n_pending;
}

uint64_t watch_lag(const struct file *file)
{
	const struct chunk_header *h = &file->tail.header;
	uint64_t end = (uint64_t)h->start_ns + h->duration_ns, now = watch_unix_now();

	return h->state == CHUNK_COMPLETE || end > now ? 0 : now - end;
}

static void count_pending(struct watch *w, const struct pending *p)
{
	uint64_t lag = watch_lag(p->file);

	w->counts.n_batches++;
	w->counts.n_events += p->result.n_events;
	w->counts.n_bytes += p->result.to - p->from;
	w->counts.n_late_scopes += p->result.n_late_scopes;
	if (lag > w->lag_ns)
		w->lag_ns = lag;
	w->lagged_ns = watch_now();
}

/* It is on disk: memory may know it too. */
static void apply(struct watch *w, struct pending *p)
{
	struct file *file = p->file;

	count_pending(w, p);
	file->exported_ns = watch_now();
	tail_took(&file->tail, p->result.to);
	watch_note_held(file, &p->result.held);
	watch_call_next(w, file);
	file->is_touched = true;
	if (p->result.lost) {
		w->counts.n_lost[LOST_DAMAGED]++;
		w->counts.lost_bytes[LOST_DAMAGED] += p->result.lost;
		watch_quarantine(file, p->result.what, p->result.lost_at);
	}
	/* What else is known of its end is for the next look. */
	if (p->is_last && !file->tail.piece.lost)
		watch_end_chunk(w, file);
}

static void drop_pending(struct watch *w)
{
	for (size_t i = 0; i < w->n_pending; i++) {
		w->pending[i].file->is_busy = false;
		held_deinit(&w->pending[i].result.held);
	}
	w->n_pending = 0;
}

static int deliver(struct watch *w)
{
	int err = w->n_pending ? w->ops->sync(w->ctx) : 0;

	w->counts.is_ledger_failing &= !err;
	if (!err && has_news(w)) {
		err = put_all(w);
		w->counts.is_ledger_failing = err;
		if (err)
			ledger_rollback(w->ledger);
	}
	return err;
}

int watch_commit(struct watch *w)
{
	int err = deliver(w);

	if (err) {
		/* What put_dirty() noted is not there. */
		for (size_t i = 0; i < w->files.n; i++)
			w->files.items[i]->is_dirty = true;
		drop_pending(w);
		return err;
	}
	w->lag_ns = w->n_pending ? 0 : w->lag_ns;
	for (size_t i = 0; i < w->n_pending; i++)
		apply(w, &w->pending[i]);
	memset(w->lost_n, 0, sizeof(w->lost_n));
	memset(w->lost_bytes, 0, sizeof(w->lost_bytes));
	drop_pending(w);
	return 0;
}
