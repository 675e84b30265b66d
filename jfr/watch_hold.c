// SPDX-License-Identifier: Apache-2.0
/*
 * How long events may wait for the end of the scope they are in. The next piece of a growing chunk
 * comes with its JVM's next flush, about a second later: what would be older than hold_ns by then
 * is exported now. Should that flush not come, the events that wait are exported without.
 */
#include "core/clock.h"
#include "jfr/watch_inside.h"

#define FLUSH_NS NS_PER_S /* of JVMs, unless they are told otherwise */
#define MIN_FLUSH_NS (NS_PER_S / 10)
#define MAX_FLUSH_NS (60 * NS_PER_S)
#define GRACE_NS (NS_PER_S / 4) /* JVMs are not on time */

/* When its JVM flushed what can be read of it. */
static uint64_t flushed_ns(const struct file *file)
{
	const struct chunk_header *h = &file->tail.header;

	return (uint64_t)h->start_ns + h->duration_ns;
}

/* Until there will be another piece. */
static uint64_t interval_ns(const struct file *file)
{
	uint64_t ns = flushed_ns(file) - file->flushed_ns;

	if (!file->flushed_ns || ns > MAX_FLUSH_NS)
		return FLUSH_NS;
	return ns < MIN_FLUSH_NS ? MIN_FLUSH_NS : ns;
}

/* Who wants few files has a larger lag anyway. */
static uint64_t patience_ns(const struct watch *w)
{
	uint64_t rotate = w->settings.rotate_age_ns;

	return w->settings.hold_ns + (rotate > FLUSH_NS ? rotate - FLUSH_NS : 0);
}

int64_t watch_hold_from(const struct watch *w, const struct file *file)
{
	uint64_t now = watch_unix_now(), flushed = flushed_ns(file);

	/* Where its clock is ahead of ours nothing would ever be too old. */
	if (flushed > now)
		now = flushed;
	if (file->tail.piece.is_last || !w->settings.hold_ns)
		return NOT_HELD;
	return (int64_t)(now + interval_ns(file) - patience_ns(w));
}

bool watch_is_held_too_long(const struct file *file, uint64_t now)
{
	return file->held_at && now >= file->due_ns;
}

void watch_note_held(struct file *file, const struct held *held)
{
	file->held_at = held->n ? held->at[0] : 0;
	file->due_ns = watch_now() + interval_ns(file) + GRACE_NS;
	file->flushed_ns = flushed_ns(file);
}
