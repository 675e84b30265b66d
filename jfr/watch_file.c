// SPDX-License-Identifier: Apache-2.0
/* One file of a watch: looked at, unpacked, and what becomes of it. */
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

uint64_t watch_read_to(const struct file *file)
{
	const struct tail *t = &file->tail;

	if (t->exported <= CHUNK_HEADER_LEN)
		return t->at;
	return t->at + (file->held_at ? file->held_at : t->exported);
}

static uint64_t left_of(const struct file *file)
{
	uint64_t read = watch_read_to(file);

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
	late_scopes_deinit(&file->late);
	file->late_size = 0;
	scoped_close(&file->packed);
	file->packed = -1;
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
	file->held_at = 0;
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
			late_scopes_deinit(&file->late);
			file->late_size = 0;
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
	file->packed = TAKE_FD(file->tail.fd);
	file->kind = FILE_PACKED;
	if (!next_part(w, file)) {
		w->n_open--;
		watch_finish(w, file);
	}
	return 1;
}

bool watch_is_named_recording(const struct file *file)
{
	return strstr(path_basename(file->path), ".jfr");
}

/* It does not begin as a recording does. One that is called so is given time, and then searched. */
static void look_at_foreign(struct watch *w, struct file *file)
{
	int unpacked = unpack(w, file);

	if (!unpacked && !watch_is_named_recording(file))
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
	watch_forget_held(file);
	file->is_dirty = true;
}

void watch_give_up(struct watch *w, struct file *file)
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

/* Of those that wait only the next chunk of the same JVM is asked about: all of them each time
   would be n^2 looks at n chunks. */
static void call_next(struct watch *w, const struct chunk_header *ended)
{
	for (size_t i = 0; i < w->files.n; i++) {
		struct file *f = w->files.items[i];

		if (f->is_waiting && chunk_header_follows(ended, &f->tail.header))
			f->is_called = true;
	}
}

void watch_end_chunk(struct watch *w, struct file *file)
{
	release_state(w, file, true);
	call_next(w, &file->tail.header);
	file->is_resumed = false;
	watch_forget_held(file);
	tail_next_chunk(&file->tail);
	file->is_dirty = true;
}

/* Does HotSpot before 14 write there? It has a mark beside a chunk's file until that is finished.
 */
static bool is_silent(const struct file *file)
{
	const struct tail *t = &file->tail;
	const char *extension = strrchr(path_basename(file->path), '.');

	if (t->at)
		return false;
	if (!t->size)
		return extension && !strcmp(extension, ".part");
	return t->size > CHUNK_HEADER_LEN && chunk_header_is_silent(&t->header);
}

/* Once: who waits for its events should know why. */
static void say_silence(struct watch *w, const struct file *file)
{
	char name[512];

	if (w->is_silence_said || !is_silent(file))
		return;
	w->is_silence_said = true;
	log_info("%s: its JVM is older than 14: nothing of a chunk can be read before it ends\n"
		 "  it ends when it has its maxchunksize (12 MB), at each JFR.dump, and with the "
		 "JVM",
		 text_safe(file->path, name, sizeof(name)));
}

static int wait_for_writer(struct watch *w, struct file *file)
{
	say_silence(w, file);
	return watch_is_held_too_long(file, watch_now()) ? watch_release_held(w, file) : 0;
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
	file->is_followed |= t->header.state != CHUNK_COMPLETE;
	if (file->kind == FILE_RECORDING) {
		file->is_dirty |= file->size != t->size && !file->is_recorded;
		if (phase != TAIL_REPLACED)
			file->size = t->size;
		file->mtime_ns = t->mtime_ns;
		file->start_ns = t->at ? file->start_ns : t->start_ns;
	}
	switch (phase) {
	case TAIL_WAITS:
		return wait_for_writer(w, file);
	case TAIL_SEARCHES:
		file->is_touched = w->has_more = true;
		break;
	case TAIL_HAS_PIECE:
		return watch_take_piece(w, file);
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
		watch_give_up(w, file);
		break;
	}
	return 0;
}
