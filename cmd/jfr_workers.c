// SPDX-License-Identifier: Apache-2.0
/*
 * Events are understood by what came before them: the names of the two chunks before, settings,
 * what the JVM said about itself. A worker finds that out by itself, from the beginning of the
 * file (async-profiler writes its settings nowhere else) and the two chunks before its own. When
 * the worker before it is done it turns out whether that was right. If it was not, its result is
 * thrown away, and the one before goes on in its place.
 */
#include "cmd/jfr_workers.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "cmd/jfr.h"
#include "core/options.h"
#include "jfr/chunk_list.h"
#include "jfr/samples.h"

#define MAX_WORKERS 4	   /* each takes some MB */
#define MIN_LEN (32 << 20) /* of a file that is worth it */
#define MIN_CHUNKS 4	   /* for each worker, as each reads N_BEFORE chunks of others */
#define N_BEFORE 2	   /* and how the file's first one begins */

struct worker {
	struct jfr_run own, *run; /* the first one works for the caller */
	struct event_visitor visitor;
	struct seen_chunks seen;
	struct recording *recording;
	struct recording_report report;
	const struct chunk_list *chunks;
	size_t from, to; /* its chunks */
	pthread_t thread;
	bool is_started;
	int err;
	/* what it began with */
	struct interpreter before; /* owns nothing */
	struct recording_state state_before;
};

static uint64_t chunk_at(const struct chunk_list *l, size_t index)
{
	return index < l->n ? l->items[index].at : UINT64_MAX;
}

static int read_chunks(struct worker *w, size_t from, size_t to, struct recording_report *report)
{
	return from == to ? 0
			  : recording_read_part(w->recording, chunk_at(w->chunks, from),
						chunk_at(w->chunks, to), report);
}

/* What is only read to understand the chunks behind it is not reported. */
static int read_before(struct worker *w)
{
	struct recording_report ignored = { 0 };
	int err;

	w->run->interpreter.is_mute = true;
	err = recording_glance(w->recording, 0, chunk_at(w->chunks, 1), &ignored);
	if (!err)
		err = read_chunks(w, w->from - N_BEFORE, w->from, &ignored);
	w->run->interpreter.is_mute = false;
	if (!err)
		err = recording_rebind(w->recording);
	recording_report_deinit(&ignored);
	w->before = w->run->interpreter;
	w->state_before = recording_state(w->recording);
	return err;
}

static void *work(void *ctx)
{
	struct worker *w = ctx;

	w->err = w->from ? read_before(w) : 0;
	if (!w->err)
		w->err = read_chunks(w, w->from, w->to, &w->report);
	return NULL;
}

static int worker_init(struct worker *w, struct jfr_run *run, int fd, bool is_first)
{
	const struct interpreter *in = &run->interpreter;
	int err = 0;

	w->run = is_first ? run : &w->own;
	if (!is_first) {
		w->own = (struct jfr_run){
			.opt = run->opt,
			.path = run->path,
			.interpreter = { .groups = in->groups,
					 .events = in->events,
					 .from_ns = in->from_ns,
					 .to_ns = in->to_ns,
					 .file = in->file,
					 .late = in->late,
					 .known = in->known ? metadata_ref(in->known) : NULL,
					 .thread = in->thread },
		};
		jfr_run_start(&w->own,
			      run->start_ns ? run->start_ns : w->chunks->items[0].header.start_ns);
		err = jfr_run_init(&w->own, NULL, run->profile);
	}
	w->visitor = interpreter_visitor(&w->run->interpreter);
	if (!err)
		w->recording = recording_new(fd, &w->visitor, &w->seen, &err);
	if (!err && is_first)
		recording_take_past(w->recording, &run->past);
	return err;
}

static void worker_deinit(struct worker *w)
{
	recording_free(w->recording);
	recording_report_deinit(&w->report);
	seen_chunks_deinit(&w->seen);
	jfr_run_deinit(&w->own);
}

/* Sums of a summary that nobody sees need not be right. */
static bool is_mergeable(const struct worker *w)
{
	return (w->run->profile && w->run->opt->output) || !summary_is_full(&w->run->summary);
}

static bool is_as_expected(const struct worker *w, const struct worker *last)
{
	struct recording_state state = recording_state(last->recording);

	return w->is_started && is_mergeable(w) &&
	       interpreter_is_as(&w->before, &last->run->interpreter) &&
	       recording_state_equal(&w->state_before, &state);
}

/* Adds what a worker found behind what the first one has. */
static int take_result(struct worker *first, const struct worker *w)
{
	struct interpreter *in = &first->run->interpreter;
	int err = recording_report_merge(&first->report, &w->report);

	summary_merge(&first->run->summary, &w->run->summary);
	in->settings = w->run->interpreter.settings;
	in->facts = w->run->interpreter.facts;
	in->jvm_pid = w->run->interpreter.jvm_pid;
	in->jvm_start_ms = w->run->interpreter.jvm_start_ms;
	in->n_left_out += w->run->interpreter.n_left_out;
	in->has_thread |= w->run->interpreter.has_thread;
	in->chunk_ns = w->run->interpreter.chunk_ns;
	in->chunk_ticks = w->run->interpreter.chunk_ticks;
	if (!err && first->run->samples)
		err = samples_merge(first->run->samples, w->run->samples);
	return err;
}

static int take_results(struct worker *workers, size_t n)
{
	struct worker *last = &workers[0];
	bool is_used[MAX_WORKERS] = { false };
	int err = last->err;

	/* Interrupted: what was read is taken as it is. */
	for (size_t i = 1; i < n && err == -EINTR; i++)
		is_used[i] = workers[i].is_started;
	for (size_t i = 1; i < n && !err; i++) {
		struct worker *w = &workers[i];

		is_used[i] = is_as_expected(w, last);
		if (is_used[i])
			last = w;
		err = is_used[i] ? w->err : read_chunks(last, w->from, w->to, &last->report);
	}
	for (size_t i = 1; i < n; i++) {
		int merge_err = is_used[i] ? take_result(&workers[0], &workers[i]) : 0;

		err = err ? err : merge_err;
	}
	recording_give_past(last->recording, &workers[0].run->past);
	return err;
}

/* Where the range of a worker ends: all have as much to do, the chunks before their own included,
   of which each takes some two fifths of what one takes that is told of. */
static size_t range_end(const struct chunk_list *l, size_t worker, size_t n)
{
	uint64_t total = l->items[l->n - 1].at + l->items[l->n - 1].header.size;
	uint64_t before = total / l->n * N_BEFORE * 2 / 5;
	uint64_t share = (total + (n - 1) * before) / n;
	uint64_t end = share + worker * (share - before);
	size_t index = N_BEFORE + 1;

	if (worker + 1 == n)
		return l->n;
	while (index < l->n && l->items[index].at + l->items[index].header.size / 2 < end)
		index++;
	return index;
}

static int read_with(struct worker *workers, size_t n, struct jfr_run *run, int fd)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = worker_init(&workers[i], run, fd, i == 0);
	for (size_t i = 1; i < n && !err; i++)
		workers[i].is_started =
			!pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	if (!err)
		work(&workers[0]);
	for (size_t i = 1; i < n; i++)
		if (workers[i].is_started)
			pthread_join(workers[i].thread, NULL);
	return err ? err : take_results(workers, n);
}

size_t jfr_workers_most(const struct jfr_run *run)
{
	size_t asked = run->opt->workers;
	cpu_set_t set;
	size_t n = asked				     ? asked
		   : sched_getaffinity(0, sizeof(set), &set) ? 1
							     : (size_t)CPU_COUNT(&set);

	return n > MAX_WORKERS ? MAX_WORKERS : n;
}

/* Lines are written in the order of the file, as they come. */
static size_t n_workers(const struct jfr_run *run, const struct chunk_list *l)
{
	size_t most = l->n / MIN_CHUNKS, n = run->lines ? 1 : jfr_workers_most(run);

	if (!run->opt->workers && l->n && l->items[l->n - 1].at < MIN_LEN)
		return 1;
	return n < most ? n : most;
}

/* Are all chunks read for the first time? */
static int are_new(const struct seen_chunks *seen, const struct chunk_list *l, bool *are)
{
	struct seen_chunks own = { 0 };
	int err = 0;

	*are = true;
	for (size_t i = 0; i < l->n && *are && !err; i++) {
		err = seen_chunks_add(&own, &l->items[i].header, are);
		*are &= !seen_chunks_has(seen, &l->items[i].header);
	}
	seen_chunks_deinit(&own);
	return err;
}

static int read_list(struct jfr_run *run, int fd, const struct chunk_list *l, size_t n,
		     struct recording_report *report)
{
	struct worker *workers = calloc(n, sizeof(*workers));
	bool is_new;
	int err = workers ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++) {
		workers[i].chunks = l;
		workers[i].from = i ? workers[i - 1].to : 0;
		workers[i].to = range_end(l, i, n);
	}
	if (!err)
		err = read_with(workers, n, run, fd);
	for (size_t i = 0; workers && i < n; i++) {
		if (!i) {
			*report = workers[i].report;
			workers[i].report = (struct recording_report){ 0 };
		}
		worker_deinit(&workers[i]);
	}
	free(workers);
	for (size_t i = 0; i < l->n && !err; i++)
		err = seen_chunks_add(&run->seen, &l->items[i].header, &is_new);
	return err;
}

int jfr_workers_read(struct jfr_run *run, int fd, struct recording_report *report)
{
	struct event_visitor visitor = interpreter_visitor(&run->interpreter);
	struct chunk_list l = { 0 };
	bool is_split = run->opt->workers != 1 && !run->lines && !chunk_list_read(fd, &l);
	size_t n = is_split ? n_workers(run, &l) : 1;
	int err = n > 1 ? are_new(&run->seen, &l, &is_split) : 0;

	if (!err && n > 1 && is_split)
		err = read_list(run, fd, &l, n, report);
	else if (!err)
		err = recording_read_on(fd, &visitor, &run->seen, &run->past, report);
	chunk_list_deinit(&l);
	return err;
}
