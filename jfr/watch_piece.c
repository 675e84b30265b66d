// SPDX-License-Identifier: Apache-2.0
/* A piece of a chunk: what of it is left to export, by this file or another one of the same chunk.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/array.h"
#include "jfr/watch_inside.h"

/* How far the chunk was exported, by this file or another. */
static int ask_ledger(struct watch *w, struct tail *t, struct chunk_record *chunk)
{
	int err = ledger_find_chunk(w->ledger, &t->key, chunk);

	if (err == -ENOENT) {
		*chunk = (struct chunk_record){ .key = t->key, .exported = CHUNK_HEADER_LEN };
		return 0;
	}
	w->counts.is_ledger_failing = err;
	if (err)
		return err;
	/* The same beginning, and another end: somebody has rewritten it. */
	if (chunk->size && t->piece.is_last && t->piece.is_whole &&
	    t->header.state == CHUNK_COMPLETE && chunk->size != t->header.size) {
		t->key.fingerprint ^= identity_hash(&t->header.size, sizeof(t->header.size));
		held_deinit(&chunk->held);
		err = ledger_find_chunk(w->ledger, &t->key, chunk);
		if (err == -ENOENT)
			*chunk = (struct chunk_record){ .key = t->key,
							.exported = CHUNK_HEADER_LEN };
		return err == -ENOENT ? 0 : err;
	}
	return 0;
}

/* Nothing of the piece is left to export: it was all there before, or has no events. */
static void skip_piece(struct watch *w, struct file *file, uint64_t from)
{
	struct tail *t = &file->tail;
	const struct piece *p = &t->piece;
	bool is_copy = from > t->exported && !file->is_resumed;

	if (p->to > t->exported && is_copy) {
		uint64_t known = p->to < from ? p->to : from;

		w->counts.n_duplicate_bytes += known - t->exported;
		w->counts.n_duplicate_chunks += p->is_last;
	}
	tail_took(t, p->to);
	if (!p->is_last)
		return;
	/* What a copy lacks was lost by the first one. */
	if (p->lost && !is_copy)
		watch_lose(w, p->is_whole ? LOST_UNFLUSHED : LOST_DAMAGED, p->lost);
	if (p->lost && !p->is_whole)
		watch_quarantine(file, t->what, t->at);
	else if (p->to > from)
		watch_quarantine(file, "cut off", t->at + from);
	watch_end_chunk(w, file);
}

static int add_pending(struct watch *w, struct file *file, const struct chunk_record *chunk,
		       const struct export_result *result, uint64_t from)
{
	const struct piece *p = &file->tail.piece;

	/* Room was made before it was exported. */
	w->pending[w->n_pending++] = (struct pending){
		.file = file,
		.chunk = *chunk,
		.result = *result,
		.from = from,
		/* What it holds is in the chunk still. */
		.is_last = p->is_last && result->to >= p->to && !result->held.n,
	};
	w->pending[w->n_pending - 1].chunk.held = (struct held){ 0 };
	file->is_busy = true;
	return 0;
}

static int export_piece(struct watch *w, struct file *file, struct chunk_record *chunk,
			uint64_t from)
{
	struct tail *t = &file->tail;
	struct export_result result = { .to = from };
	struct export_job job = {
		.fd = t->fd,
		.at = t->at,
		.header = &t->header,
		.from = from,
		.to = t->piece.to,
		.is_whole = t->piece.is_whole,
		.held = &chunk->held,
		/* What waited for longer than that is not held again. */
		.hold_from_ns = from < t->piece.to ? watch_hold_from(w, file) : NOT_HELD,
		.root = w->roots[file->root],
		.path = file->path,
		.late = from < t->piece.to ? watch_look_ahead(file) : watch_look_at_next(w, file),
		.state = &file->state,
	};
	int err;

	/* Where no event begins: whether the next flush comes in time or not, what was held has the
	   same name. */
	batch_name(&t->key, chunk->held.n ? from - 1 : from, job.name);
	snprintf(chunk->batch, sizeof(chunk->batch), "%s", job.name);
	err = w->ops->export_piece(w->ctx, &job, &result);
	w->counts.is_ledger_failing &= !err;
	if (err || result.file_err)
		held_deinit(&result.held);
	/* Until the chunk before it has ended: not in each round. */
	file->is_waiting = err == -EAGAIN;
	if (file->is_waiting)
		return 0;
	if (err)
		return err;
	if (result.file_err) {
		t->what = "it cannot be read";
		watch_give_up(w, file);
		return 0;
	}
	/* What goes on for ever without an event is passed over. */
	if (result.to <= from)
		result.to = t->piece.to;
	return add_pending(w, file, chunk, &result, from);
}

/* A growing chunk waits until it is worth a batch. */
static bool is_due(const struct watch *w, const struct file *file)
{
	const struct piece *p = &file->tail.piece;

	return p->is_last || p->to - p->from >= w->settings.rotate_bytes ||
	       watch_now() - file->exported_ns >= w->settings.rotate_age_ns;
}

/* Is it cut off where another file of the chunk was, or before that? */
static bool is_cut_as_another(const struct piece *p, const struct chunk_record *chunk)
{
	return !p->is_whole && p->to <= chunk->seen && !chunk->held.n;
}

static int take_rest(struct watch *w, struct file *file, struct chunk_record *chunk)
{
	struct tail *t = &file->tail;
	uint64_t from = chunk->exported > t->exported ? chunk->exported : t->exported;

	if (from > t->piece.to || (from == t->piece.to && !chunk->held.n) ||
	    is_cut_as_another(&t->piece, chunk)) {
		w->has_more = true;
		skip_piece(w, file, from);
		return 0;
	}
	file->is_waiting = watch_is_held_elsewhere(w, file);
	if (file->is_waiting || (from == t->piece.to && watch_awaits_next_chunk(file))) {
		file->is_touched = false;
		return 0;
	}
	w->has_more = true;
	/* Another file has the same chunk: one after the other. */
	if (watch_is_pending(w, &t->key))
		return 0;
	if (from > t->exported && !file->is_resumed)
		w->counts.n_duplicate_bytes += from - t->exported;
	tail_took(t, from);
	if (ARRAY_RESERVE(w->pending, w->pending_cap, w->n_pending))
		return -ENOMEM;
	return export_piece(w, file, chunk, from);
}

int watch_take_piece(struct watch *w, struct file *file)
{
	struct chunk_record chunk;
	enum held_before before;
	int err;

	/* Looked at again in the next round. */
	file->is_touched = true;
	if (!is_due(w, file))
		return 0;
	file->is_called = false;
	before = watch_release_before(w, file);
	file->is_waiting = before == HELD_BEFORE_DUE;
	w->has_more |= file->is_waiting;
	/* Its next flush is heard of. */
	file->is_touched = before != HELD_BEFORE_ON;
	if (before != HELD_BEFORE_NONE)
		return 0;
	err = ask_ledger(w, &file->tail, &chunk);
	if (err)
		return err;
	err = take_rest(w, file, &chunk);
	held_deinit(&chunk.held);
	return err;
}

/* There is no other piece yet: what waits for it has waited long enough. It waits until it is
   committed. */
int watch_release_held(struct watch *w, struct file *file)
{
	struct tail *t = &file->tail;
	struct chunk_record chunk = { 0 };
	int err = t->has_key ? ask_ledger(w, t, &chunk) : 0;

	if (err)
		return err;
	t->piece = (struct piece){ .from = t->exported, .to = t->exported, .is_whole = true };
	/* Unless another file of the same chunk was read further. */
	if (chunk.held.n && chunk.exported == t->exported)
		err = take_rest(w, file, &chunk);
	else
		file->held_at = 0;
	held_deinit(&chunk.held);
	return err;
}
