// SPDX-License-Identifier: Apache-2.0
#include "cmd/jfr_export.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/interrupt.h"
#include "cmd/jfr_batch.h"
#include "cmd/jfr_whose.h"
#include "core/log.h"
#include "core/profile.h"
#include "core/scoped.h"
#include "exporter/exporter.h"
#include "jfr/event_line.h"
#include "jfr/piecewise.h"
#include "jfr/jvms.h"
#include "jfr/samples.h"
#include "jfr/watch.h"
#include "jfr/window.h"

#define FIRST_LINE_LEN 2048 /* of an event, until some were seen */
#define MIN_EVENTS 1000

struct jfr_export {
	const struct jfr_export_settings *settings;
	struct batch_place *lines_place, *profiles_place; /* NULL: not wanted */
	struct jvms jvms;
	struct window window;
	struct event_lines lines;
};

/* What one batch is written with. */
struct batch {
	struct profile *profile;
	struct samples *samples;
	FILE *profile_out;
};

struct jfr_export *jfr_export_new(const struct jfr_export_settings *settings)
{
	struct jfr_export *e = (struct jfr_export *)calloc(1, sizeof(*e));
	bool ok = e && !window_init(&e->window, -1);

	if (!ok)
		log_error("out of memory");
	if (ok)
		e->settings = settings;
	if (ok)
		e->lines.shows_secrets = settings->shows_secrets;
	if (ok && settings->lines) {
		e->lines_place = batch_place_open(settings->output, ".json", settings->is_stopped);
		ok = e->lines_place;
	}
	if (ok && settings->profiles) {
		e->profiles_place =
			batch_place_open(settings->output, ".pb.gz", settings->is_stopped);
		ok = e->profiles_place;
	}
	if (ok)
		return e;
	jfr_export_free(e);
	return NULL;
}

void jfr_export_free(struct jfr_export *e)
{
	if (!e)
		return;
	batch_place_close(e->lines_place);
	batch_place_close(e->profiles_place);
	jvms_deinit(&e->jvms);
	window_deinit(&e->window);
	event_lines_deinit(&e->lines);
	free(e);
}

const struct stat *jfr_export_dir(const struct jfr_export *e)
{
	return batch_place_dir(e->lines_place ? e->lines_place : e->profiles_place);
}

/* 0, -ENOMEM, or -EAGAIN: not before the chunk that it follows was read to its end. */
static int begin_chunk(struct jfr_export *e, const struct export_job *job)
{
	SCOPED(free) char *place = NULL;

	if (asprintf(&place, "%s/%s", job->root, job->path) < 0)
		return -ENOMEM;
	*strrchr(place, '/') = '\0';
	if (jvms_should_wait(&e->jvms, place, job->header))
		return -EAGAIN;
	*job->state = piecewise_new(&e->jvms, &e->window, place, job->at, job->header);
	return *job->state ? 0 : -ENOMEM;
}

/* The sinks of a batch, always in the same places: who wants which events was asked before. */
static void set_sinks(struct jfr_export *e, struct interpreter *in, struct samples *samples,
		      const struct export_job *job)
{
	in->late = job->late;
	in->groups = e->settings->groups;
	in->events = e->settings->events;
	in->thread = e->settings->thread;
	in->is_ordered = true;
	in->names_samples = e->profiles_place;
	in->n_sinks = 0;
	if (e->lines_place)
		in->sinks[in->n_sinks++] = event_lines_sink(&e->lines);
	if (e->profiles_place)
		in->sinks[in->n_sinks++] = samples_sink(samples);
}

static void batch_deinit(struct batch *b)
{
	samples_free(b->samples);
	profile_free(b->profile);
}

static int begin_batch(struct jfr_export *e, const char *name, struct batch *b)
{
	int err = 0;

	e->lines.n = 0;
	if (e->lines_place)
		err = batch_begin(e->lines_place, name, &e->lines.out);
	if (!err && e->profiles_place) {
		b->profile = profile_new();
		b->samples = b->profile ? samples_new(b->profile) : NULL;
		err = b->samples ? batch_begin(e->profiles_place, name, &b->profile_out) : -ENOMEM;
		if (b->samples && e->settings->keeps_hidden)
			samples_keep_hidden(b->samples);
	}
	return err;
}

static void abandon_batch(struct jfr_export *e)
{
	if (e->lines_place)
		batch_abandon(e->lines_place);
	if (e->profiles_place)
		batch_abandon(e->profiles_place);
}

static int end_lines(struct jfr_export *e, const char *name, struct jvm *jvm)
{
	long len = ftell(e->lines.out);

	if (!e->lines.n)
		return batch_discard(e->lines_place, name);
	if (len > 0)
		jvm->line_len = (double)len / (double)e->lines.n;
	return batch_end(e->lines_place);
}

static int end_profile(struct jfr_export *e, const char *name, const struct chunk_header *h,
		       struct batch *b)
{
	int err;

	if (!profile_n_samples(b->profile))
		return batch_discard(e->profiles_place, name);
	samples_finish(b->samples, h->start_ns, chunk_header_end_ns(h));
	err = profile_error(b->profile);
	if (!err)
		err = exporter_by_name("pprof")->write(b->profile, b->profile_out);
	return err ? err : batch_end(e->profiles_place);
}

/* errno as the stream left it: only what it can have left. */
static int output_error(const struct jfr_export *e)
{
	if (e->settings->is_stopped())
		return -EINTR;
	return errno == ENOSPC || errno == EDQUOT || errno == EPIPE || errno == EFBIG ? -errno
										      : -EIO;
}

/* Is it the output's fault, or the file's? */
static int sort_out(const struct jfr_export *e, int err, struct export_result *result)
{
	if (!err || err == -ENOMEM || err == -EINTR)
		return err;
	if (e->lines_place && ferror(e->lines.out))
		return output_error(e);
	result->file_err = err;
	return 0;
}

static int write_piece(struct jfr_export *e, struct piecewise *f, const struct follow_piece *piece,
		       const struct export_job *job, struct export_result *result)
{
	struct jvm *jvm = piecewise_jvm(f);
	struct follow_result read = { 0 };
	struct batch b = { 0 };
	SCOPED(free) char *path = NULL;
	int err = asprintf(&path, "%s/%s", job->root, job->path) < 0 ? -ENOMEM : 0;

	if (!err)
		err = begin_batch(e, job->name, &b);
	if (!err) {
		set_sinks(e, &jvm->interpreter, b.samples, job);
		jfr_set_whose(&jvm->interpreter.facts, path, e->settings->path_template, &e->lines,
			      b.samples);
		piecewise_forget(f);
		errno = 0;
		err = sort_out(e, piecewise_read(f, piece, &read), result);
	}
	result->to = read.to;
	result->cut = read.cut;
	result->lost = read.lost;
	result->lost_at = read.lost_at;
	result->what = read.what;
	result->held = read.held;
	result->n_late_scopes = read.n_late_scopes;
	if (!err && !result->file_err && e->lines_place)
		err = end_lines(e, job->name, jvm);
	if (!err && !result->file_err && e->profiles_place)
		err = end_profile(e, job->name, job->header, &b);
	result->n_events = e->lines_place ? e->lines.n
			   : b.profile	  ? profile_n_samples(b.profile)
					  : 0;
	abandon_batch(e);
	batch_deinit(&b);
	return err;
}

static int export_piece(void *ctx, const struct export_job *job, struct export_result *result)
{
	struct jfr_export *e = (struct jfr_export *)ctx;
	struct piecewise *f;
	struct follow_piece piece = { .fd = job->fd,
				      .header = job->header,
				      .from = job->from,
				      .to = job->to,
				      .is_whole = job->is_whole,
				      .held = job->held,
				      .hold_from_ns = job->hold_from_ns };
	double line_len;
	int err = *job->state ? 0 : begin_chunk(e, job);

	if (err)
		return err;
	f = (struct piecewise *)*job->state;
	set_sinks(e, &piecewise_jvm(f)->interpreter, NULL, job);
	line_len = piecewise_jvm(f)->line_len;
	piece.max_events = (uint64_t)((double)e->settings->batch_len /
				      (line_len > 1 ? line_len : FIRST_LINE_LEN)) +
			   MIN_EVENTS;
	err = piecewise_load(f, &piece);
	if (err == -EBADMSG) {
		result->to = job->to;
		result->lost = job->to - (job->held->n ? job->held->at[0] : job->from);
		result->lost_at = job->at + job->to - result->lost;
		result->what = "nothing says what its events are";
		return 0;
	}
	if (err && err != -ENOMEM && err != -EINTR) {
		result->file_err = err;
		return 0;
	}
	return err ? err : write_piece(e, f, &piece, job, result);
}

static int sync_batches(void *ctx)
{
	struct jfr_export *e = (struct jfr_export *)ctx;
	int err = e->lines_place ? batch_place_sync(e->lines_place) : 0;

	return err || !e->profiles_place ? err : batch_place_sync(e->profiles_place);
}

static void release_chunk(void *ctx, void *state, bool is_read)
{
	(void)ctx;
	piecewise_free((struct piecewise *)state, is_read);
}

static bool is_stopped(void)
{
	return interrupt_count() > 0;
}

const struct watch_ops jfr_export_ops = {
	.export_piece = export_piece,
	.sync = sync_batches,
	.release = release_chunk,
	.is_stopped = is_stopped,
};
