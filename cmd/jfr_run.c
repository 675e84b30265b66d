// SPDX-License-Identifier: Apache-2.0
/* What makes something of the moments that `weft jfr` reads. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/jfr.h"
#include "cmd/jfr_time.h"
#include "cmd/jfr_whose.h"
#include "core/options.h"
#include "core/profile.h"
#include "jfr/chunk.h"
#include "jfr/event_line.h"
#include "jfr/samples.h"
#include "jfr/workload.h"

void jfr_run_start(struct jfr_run *run, int64_t start_ns)
{
	run->start_ns = start_ns;
	jfr_time_set(run->opt->from, start_ns, &run->interpreter.from_ns);
	jfr_time_set(run->opt->to, start_ns, &run->interpreter.to_ns);
}

void jfr_file_deinit(struct jfr_file *file)
{
	recording_report_deinit(&file->report);
	free(file->name);
	free(file->reason);
	free(file->service);
	free(file->host);
}

/* Without memory nobody is named. */
static void note_whose(const struct jfr_run *run, struct jfr_file *file)
{
	struct workload w = { 0 };

	if (file->service)
		return;
	jfr_find_whose(&run->interpreter.facts, run->path, run->opt->path_template, &w);
	file->service = strdup(workload_get(&w, WORKLOAD_SERVICE));
	file->host = strdup(workload_get(&w, WORKLOAD_HOST));
	file->jvm_pid = run->interpreter.facts.pid;
	file->jvm_start_ms = run->interpreter.facts.start_ms;
}

static void begin_chunk(void *ctx, struct chunk *chunk)
{
	struct jfr_run *run = ctx;

	if (run->n_files)
		note_whose(run, &run->files[run->n_files - 1]);
	jfr_set_whose(&run->interpreter.facts, run->path, run->opt->path_template, run->lines,
		      run->samples);
	if (!run->start_ns)
		jfr_run_start(run, chunk->header.start_ns);
}

static bool wants_nothing(void *ctx, const struct event_row *row)
{
	(void)ctx, (void)row;
	return false;
}

static void add_sink(struct jfr_run *run, struct moment_sink sink)
{
	run->interpreter.sinks[run->interpreter.n_sinks++] = sink;
}

int jfr_run_init(struct jfr_run *run, struct event_lines *lines, bool has_profile)
{
	int err = summary_init(&run->summary, &run->interpreter.facts);

	if (!err && has_profile) {
		run->profile = profile_new();
		run->samples = run->profile ? samples_new(run->profile) : NULL;
		err = run->samples ? 0 : -ENOMEM;
	}
	if (err)
		return err;
	run->summary.only_counts = run->opt->output || run->opt->format || run->opt->check;
	if (has_profile && run->opt->hidden_frames)
		samples_keep_hidden(run->samples);
	add_sink(run,
		 (struct moment_sink){ .ctx = run, .wants = wants_nothing, .begin = begin_chunk });
	add_sink(run, summary_sink(&run->summary));
	if (run->samples)
		add_sink(run, samples_sink(run->samples));
	if (lines)
		add_sink(run, event_lines_sink(lines));
	run->interpreter.is_ordered = lines != NULL;
	run->interpreter.names_samples = has_profile;
	run->lines = lines;
	return 0;
}

void jfr_run_deinit(struct jfr_run *run)
{
	for (size_t i = 0; i < run->n_files; i++)
		jfr_file_deinit(&run->files[i]);
	free(run->files);
	samples_free(run->samples);
	profile_free(run->profile);
	summary_deinit(&run->summary);
	seen_chunks_deinit(&run->seen);
	recording_past_deinit(&run->past);
	interpreter_deinit(&run->interpreter);
	late_scopes_deinit(&run->late);
	late_scopes_deinit(&run->late_of_part);
}
