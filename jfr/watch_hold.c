// SPDX-License-Identifier: Apache-2.0
/*
 * How long events may wait for the end of the scope they are in. The next piece of a growing chunk
 * comes with its JVM's next flush, about a second later: what would be older than hold_ns by then
 * is exported now. Should that flush not come, the events that wait are exported without.
 *
 * Behind the last piece of a chunk comes the first flush of the JVM's next chunk, in another file.
 *
 * What may wait follows from the JVM's own times, so that it does not depend on how soon a busy
 * machine lets this process see them.
 */
#include <string.h>

#include "core/clock.h"
#include "jfr/watch_inside.h"

#define FLUSH_NS NS_PER_S /* of JVMs, unless they are told otherwise */
#define MIN_FLUSH_NS (NS_PER_S / 10)
#define MAX_FLUSH_NS (60 * NS_PER_S)
#define GRACE_NS (NS_PER_S / 2) /* JVMs are not on time, on a busy machine least of all */
/* A flush so soon behind a chunk's end knows of hardly a scope that was open over both: those that
   wait for it may be that much older. */
#define SOON_NS (450 * UINT64_C(1000000))

/* When its JVM flushed what can be read of it. */
static uint64_t flushed_ns(const struct file *file)
{
	const struct chunk_header *h = &file->tail.header;

	return (uint64_t)h->start_ns + h->duration_ns;
}

/* Since the one before; 0: it is the same, or nobody knows. */
static uint64_t gap_ns(const struct file *file)
{
	uint64_t ns = flushed_ns(file) - file->flushed_ns;

	if (!file->flushed_ns || file->tail.header.state == CHUNK_COMPLETE || ns > MAX_FLUSH_NS)
		return 0;
	return ns && ns < MIN_FLUSH_NS ? MIN_FLUSH_NS : ns;
}

/* Until there will be another piece. Of a long one it may be that a flush was not seen, or late; a
   chunk may end at any time after its last one. */
static uint64_t interval_ns(const struct file *file)
{
	uint64_t gap = gap_ns(file), last = file->flush_gap_ns;

	if (!gap)
		return file->flush_interval_ns ? file->flush_interval_ns : FLUSH_NS;
	return last && last < gap ? last : gap;
}

/* Who wants few files has a larger lag anyway. */
static uint64_t patience_ns(const struct watch *w)
{
	uint64_t rotate = w->settings.rotate_age_ns;

	return w->settings.hold_ns + (rotate > FLUSH_NS ? rotate - FLUSH_NS : 0);
}

/* Of a chunk that was followed to its end, and is not its JVM's last one, there will be more. */
static bool has_next(const struct file *file)
{
	const struct tail *t = &file->tail;

	if (!t->piece.is_last)
		return true;
	return t->piece.is_whole && t->header.state == CHUNK_COMPLETE && !t->header.is_final &&
	       file->is_followed;
}

int64_t watch_hold_from(const struct watch *w, const struct file *file)
{
	if (!w->settings.hold_ns || !has_next(file))
		return NOT_HELD;
	return (int64_t)(flushed_ns(file) + interval_ns(file) - patience_ns(w));
}

static bool is_held_at_end(const struct file *file, uint64_t now)
{
	return file->tail.header.state == CHUNK_COMPLETE && file->held_at && now < file->due_ns;
}

bool watch_awaits_next_chunk(const struct file *file)
{
	return has_next(file) && is_held_at_end(file, watch_now());
}

/* Was it flushed so soon behind the end of the chunk before that another flush is worth waiting
   for? */
static bool is_too_soon(const struct file *before, const struct file *file)
{
	return !file->tail.piece.is_last && flushed_ns(file) - flushed_ns(before) < SOON_NS;
}

enum held_before watch_release_before(struct watch *w, const struct file *file)
{
	enum held_before held = HELD_BEFORE_NONE;
	uint64_t now = watch_now();

	if (!w->holds_any || file->tail.exported > CHUNK_HEADER_LEN)
		return held;
	for (size_t i = 0; i < w->files.n; i++) {
		struct file *before = w->files.items[i];

		if (!is_held_at_end(before, now) || !watch_follows(before, file))
			continue;
		if (is_too_soon(before, file))
			return HELD_BEFORE_ON;
		before->due_ns = now;
		held = HELD_BEFORE_DUE;
	}
	return held;
}

bool watch_is_held_elsewhere(const struct watch *w, const struct file *file)
{
	const struct tail *t = &file->tail;
	uint64_t now = watch_now();

	if (!w->holds_any || !t->piece.is_last)
		return false;
	for (size_t i = 0; i < w->files.n; i++) {
		const struct file *f = w->files.items[i];

		if (f != file && f->held_at && now < f->due_ns && f->tail.has_key &&
		    !memcmp(&f->tail.key, &t->key, sizeof(t->key)))
			return true;
	}
	return false;
}

bool watch_is_held_too_long(const struct file *file, uint64_t now)
{
	return file->held_at && now >= file->due_ns;
}

void watch_note_held(struct file *file, const struct held *held)
{
	uint64_t gap = gap_ns(file), interval = interval_ns(file);

	file->held_at = held->n ? held->at[0] : 0;
	/* From when the flush was found on: how long it took to export it is no part of that. */
	file->due_ns = file->looked_ns + interval + GRACE_NS;
	if (file->tail.header.state == CHUNK_COMPLETE)
		file->due_ns += SOON_NS;
	if (gap) {
		file->flush_gap_ns = gap;
		file->flush_interval_ns = interval;
	}
	file->flushed_ns = flushed_ns(file);
}

void watch_forget_held(struct file *file)
{
	file->held_at = file->flushed_ns = file->flush_gap_ns = file->flush_interval_ns = 0;
	file->is_followed = false;
}

void watch_call_next(struct watch *w, const struct file *file)
{
	if (!file->held_at || file->tail.header.state != CHUNK_COMPLETE)
		return;
	for (size_t i = 0; i < w->files.n; i++)
		if (w->files.items[i]->is_waiting && watch_follows(file, w->files.items[i]))
			w->files.items[i]->is_called = true;
}
