/* SPDX-License-Identifier: Apache-2.0 */
/* A watch of toy events whose output holds the last ones of each piece that may be held. */
#ifndef TESTS_UNIT_JFR_WATCH_HOLDING_H
#define TESTS_UNIT_JFR_WATCH_HOLDING_H

#include "tests/unit/jfr_watch_room.h"

#include "core/scoped.h"
#include "jfr/watch_inside.h"

/* Of what may be held, the last events of a piece. */
static unsigned int n_held_back;
static bool holds_again;	      /* those too that were held */
static bool is_paused;		      /* the output takes what it holds, and then nothing */
static int64_t hold_from_ns;	      /* of the last piece */
static uint64_t cut_len;	      /* so much of a piece's end is damaged */
static uint64_t exported_starts[256]; /* of the chunks of all pieces, in order */
static unsigned int n_exported;

static inline int export_holding(void *ctx, const struct export_job *job,
				 struct export_result *result)
{
	uint64_t to = job->to, n, n_told, n_again = job->held->n;
	char path[256];
	FILE *out;

	(void)ctx;
	if (piece_len && to - job->from >= piece_len)
		to = job->from + piece_len;
	n = n_told = (to - job->from) / TOY_EVENT;
	if (output_err)
		return output_err;
	hold_from_ns = job->hold_from_ns;
	if (n_exported < 256)
		exported_starts[n_exported++] = (uint64_t)job->header->start_ns;
	/* A piece that ends early holds too, also at the chunk's end. */
	if (job->hold_from_ns != NOT_HELD || (piece_len && to - job->from == piece_len))
		n_told = n > n_held_back ? n - n_held_back : 0;
	if (holds_again && job->hold_from_ns != NOT_HELD)
		n_again = 0;
	out = fopen("out/.new", "w");
	for (size_t i = 0; i < n_again; i++)
		copy_event(job, job->held->at[i], out, result);
	for (size_t i = 0; i < n_told; i++)
		copy_event(job, job->from + i * TOY_EVENT, out, result);
	fclose(out);
	for (size_t i = n_again; i < job->held->n; i++)
		if (held_add(&result->held, job->held->at[i]))
			abort();
	for (uint64_t i = n_told; i < n; i++)
		if (held_add(&result->held, job->from + i * TOY_EVENT))
			abort();
	snprintf(path, sizeof(path), "out/%s", job->name);
	rename("out/.new", path);
	result->to = to;
	result->cut = to > job->from ? cut_len : 0;
	return 0;
}

static inline int sync_unless_paused(void *ctx)
{
	(void)ctx;
	return is_paused ? -ENOSPC : 0;
}

static const struct watch_ops holding_ops = {
	.export_piece = export_holding,
	.sync = sync_unless_paused,
	.release = release_nothing,
	.is_stopped = never,
};

static inline struct session begin_holding_with(const struct watch_settings *settings)
{
	struct session s = { 0 };

	n_held_back = 3;
	cut_len = 0;
	n_exported = 0;
	holds_again = false;
	is_paused = false;
	if (ledger_open("ledger", &s.ledger))
		abort();
	s.w = watch_new(settings, s.ledger, &holding_ops, NULL);
	if (!s.w || watch_add_root(s.w, "in") || watch_start(s.w))
		abort();
	return s;
}

static inline struct session begin_holding(void)
{
	struct watch_settings settings = quick();

	return begin_holding_with(&settings);
}

static inline int64_t now_ns(void)
{
	return (int64_t)time(NULL) * 1000 * (int64_t)MS_NS;
}

/* So many events, flushed so long ago. */
static inline void flush_at(int fd, unsigned int n, int64_t time_ns)
{
	struct toy_header h = toy_live(start, n);

	h.duration_ns = (uint64_t)time_ns - start;
	toy_write_events(fd, 0, start, 0, n);
	toy_write_head(fd, 0, &h);
}

static inline void flush(int fd, unsigned int n)
{
	flush_at(fd, n, now_ns());
}

#endif
