// SPDX-License-Identifier: Apache-2.0
/* One file of a watch: looked at, unpacked, exported piece by piece. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/array.h"
#include "core/log.h"
#include "core/scoped.h"
#include "core/text.h"
#include "jfr/content.h"
#include "jfr/unpack.h"
#include "jfr/watch_inside.h"

static uint64_t left_of(const struct file *file)
{
	uint64_t read = file->tail.at;

	if (file->tail.exported > CHUNK_HEADER_LEN)
		read += file->tail.exported;
	return file->size > read ? file->size - read : 0;
}

static void release_state(struct watch *w, struct file *file, bool is_read)
{
	if (file->state)
		w->ops->release(w->ctx, file->state, is_read);
	file->state = NULL;
}

void watch_close(struct watch *w, struct file *file)
{
	release_state(w, file, false);
	if (file->tail.fd >= 0)
		w->n_open--;
	tail_deinit(&file->tail);
	scoped_close(&file->held);
	file->held = -1;
	unpack_free(file->unpack);
	file->unpack = NULL;
}

void watch_finish(struct watch *w, struct file *file)
{
	/* Of what is packed the whole was read, or nothing. */
	if (file->kind == FILE_PACKED)
		file->tail.at = file->size;
	watch_close(w, file);
	file->kind = FILE_DONE;
	file->is_dirty = true;
}

/* What is no recording is said nothing about: a directory of logs has many files. */
static void pass_over(struct watch *w, struct file *file)
{
	watch_close(w, file);
	file->kind = FILE_FOREIGN;
}

void watch_quarantine(struct file *file, const char *what, uint64_t at)
{
	char reason[256], name[512];

	snprintf(reason, sizeof(reason), "%s, at byte %llu", what, (unsigned long long)at);
	if (!file->reason)
		log_info("%s is damaged: %s", text_safe(file->path, name, sizeof(name)), reason);
	file_set_reason(file, reason);
}

/* A copy of what is in it takes the place of the file. false: there is no more in it. */
static bool next_part(struct watch *w, struct file *file)
{
	struct unpack_part part;

	while (unpack_next(file->unpack, &part)) {
		if (part.err)
			watch_quarantine(file, part.reason, part.where);
		if (part.err && part.fd < 0)
			watch_lose(w, LOST_UNREADABLE, file->size);
		if (part.fd >= 0 && part.len && !part.is_unsure) {
			release_state(w, file, false);
			scoped_close(&file->tail.fd);
			tail_init(&file->tail, TAKE_FD(part.fd), 0);
			file->tail.is_settled = true;
			unpack_part_deinit(&part);
			return true;
		}
		unpack_part_deinit(&part);
	}
	return false;
}

/* 1: it is packed, and unpacked now; 0: it is not; -EAGAIN: it may still be written. */
static int unpack(struct watch *w, struct file *file)
{
	char head[CONTENT_HEAD_LEN], path[32];
	ssize_t n = pread(file->tail.fd, head, sizeof(head), 0);
	struct content content = content_sniff(head, n > 0 ? (size_t)n : 0);

	if (!content_is_packed(content.kind))
		return 0;
	if (watch_now() - file->tail.grown_ns < w->settings.linger_ns)
		return -EAGAIN;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file->tail.fd);
	file->unpack = unpack_new(AT_FDCWD, path, 0, NULL);
	if (!file->unpack)
		return -EAGAIN;
	file->held = TAKE_FD(file->tail.fd);
	file->kind = FILE_PACKED;
	if (!next_part(w, file)) {
		w->n_open--;
		watch_finish(w, file);
	}
	return 1;
}

static bool is_named_recording(const struct file *file)
{
	return strstr(path_basename(file->path), ".jfr");
}

/* It does not begin as a recording does. One that is called so is given time, and then searched. */
static void look_at_foreign(struct watch *w, struct file *file)
{
	int unpacked = unpack(w, file);

	if (!unpacked && !is_named_recording(file))
		pass_over(w, file);
}

static void begin_anew(struct watch *w, struct file *file)
{
	uint64_t left = left_of(file);

	if (left)
		watch_lose(w, LOST_REPLACED, left);
	release_state(w, file, false);
	watch_retire(w, file);
	tail_init(&file->tail, file->tail.fd, 0);
	file->is_dirty = true;
}

static void give_up(struct watch *w, struct file *file)
{
	watch_lose(w, LOST_UNREADABLE, left_of(file));
	watch_quarantine(file, file->tail.what, file->tail.at);
	if (file->kind == FILE_PACKED && next_part(w, file))
		return;
	file->tail.at = file->size;
	watch_finish(w, file);
}

static void reach_end(struct watch *w, struct file *file)
{
	const struct tail *t = &file->tail;

	if (file->kind == FILE_PACKED) {
		if (!next_part(w, file))
			watch_finish(w, file);
	} else if (!t->n_links || watch_now() - t->grown_ns >= w->settings.linger_ns) {
		watch_finish(w, file);
	}
}

/* How far the chunk was exported, by this file or another. */
static int ask_ledger(struct watch *w, struct tail *t, struct chunk_record *chunk)
{
	int err = ledger_find_chunk(w->ledger, &t->key, chunk);

	if (err == -ENOENT) {
		*chunk = (struct chunk_record){ .key = t->key, .exported = CHUNK_HEADER_LEN };
		return 0;
	}
	if (err)
		return err;
	/* The same beginning, and another end: somebody has rewritten it. */
	if (chunk->size && t->piece.is_last && t->piece.is_whole &&
	    t->header.state == CHUNK_COMPLETE && chunk->size != t->header.size) {
		t->key.fingerprint ^= identity_hash(&t->header.size, sizeof(t->header.size));
		err = ledger_find_chunk(w->ledger, &t->key, chunk);
		if (err == -ENOENT)
			*chunk = (struct chunk_record){ .key = t->key,
							.exported = CHUNK_HEADER_LEN };
		return err == -ENOENT ? 0 : err;
	}
	return 0;
}

void watch_end_chunk(struct watch *w, struct file *file)
{
	release_state(w, file, true);
	file->is_resumed = false;
	tail_next_chunk(&file->tail);
	file->is_dirty = true;
}

/* Nothing of the piece is left to export: it was all there before, or has no events. */
static void skip_piece(struct watch *w, struct file *file, uint64_t from)
{
	struct tail *t = &file->tail;
	const struct piece *p = &t->piece;

	if (p->to > t->exported && from > t->exported && !file->is_resumed) {
		uint64_t known = p->to < from ? p->to : from;

		w->counts.n_duplicate_bytes += known - t->exported;
		w->counts.n_duplicate_chunks += p->is_last;
	}
	tail_took(t, p->to);
	if (!p->is_last)
		return;
	if (p->lost) {
		watch_lose(w, p->is_whole ? LOST_UNFLUSHED : LOST_DAMAGED, p->lost);
		if (!p->is_whole)
			watch_quarantine(file, t->what, t->at);
	}
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
		.is_last = p->is_last && result->to >= p->to,
	};
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
		.root = w->roots[file->root],
		.path = file->path,
		.state = &file->state,
	};
	int err;

	batch_name(&t->key, from, job.name);
	snprintf(chunk->batch, sizeof(chunk->batch), "%s", job.name);
	err = w->ops->export_piece(w->ctx, &job, &result);
	if (err)
		return err;
	if (result.file_err) {
		t->what = "it cannot be read";
		give_up(w, file);
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

static int take_piece(struct watch *w, struct file *file)
{
	struct tail *t = &file->tail;
	struct chunk_record chunk;
	uint64_t from;
	int err;

	/* Looked at again in the next round. */
	file->is_touched = true;
	if (!is_due(w, file))
		return 0;
	w->has_more = true;
	err = ask_ledger(w, t, &chunk);
	if (err)
		return err;
	from = chunk.exported > t->exported ? chunk.exported : t->exported;
	if (from >= t->piece.to) {
		skip_piece(w, file, from);
		return 0;
	}
	/* Another file has the same chunk: one after the other. */
	if (watch_is_pending(w, &t->key))
		return 0;
	if (from > t->exported && !file->is_resumed)
		w->counts.n_duplicate_bytes += from - t->exported;
	tail_took(t, from);
	if (ARRAY_RESERVE(w->pending, w->pending_cap, w->n_pending))
		return -ENOMEM;
	return export_piece(w, file, &chunk, from);
}

int watch_visit(struct watch *w, struct file *file)
{
	struct tail *t = &file->tail;
	enum tail_phase phase;

	if (t->fd < 0 && !watch_open(w, file))
		return 0;
	file->is_touched = false;
	/* Before what is no header is searched for chunks. */
	if (file->kind == FILE_RECORDING && t->is_settled && !t->at && unpack(w, file))
		return 0;
	phase = tail_look(t, watch_now());
	if (file->kind == FILE_RECORDING) {
		file->is_dirty |= file->size != t->size && !file->is_recorded;
		if (phase != TAIL_REPLACED)
			file->size = t->size;
		file->mtime_ns = t->mtime_ns;
		file->start_ns = t->at ? file->start_ns : t->start_ns;
	}
	switch (phase) {
	case TAIL_WAITS:
		break;
	case TAIL_HAS_PIECE:
		return take_piece(w, file);
	case TAIL_AT_END:
		reach_end(w, file);
		break;
	case TAIL_REPLACED:
		begin_anew(w, file);
		w->has_more = true;
		break;
	case TAIL_FOREIGN:
		look_at_foreign(w, file);
		break;
	case TAIL_FAILED:
		give_up(w, file);
		break;
	}
	return 0;
}
