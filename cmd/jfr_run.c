// SPDX-License-Identifier: Apache-2.0
/* What makes something of the moments that `weft jfr` reads. */
#include <errno.h>
#include <stdlib.h>

#include "cmd/jfr.h"
#include "cmd/jfr_time.h"
#include "cmd/jfr_whose.h"
#include "core/options.h"
#include "core/profile.h"
#include "jfr/chunk.h"
#include "jfr/event_line.h"
#include "jfr/samples.h"

void jfr_run_start(struct jfr_run *run, int64_t start_ns)
{
	run->start_ns = start_ns;
	jfr_time_set(run->opt->from, start_ns, &run->interpreter.from_ns);
	jfr_time_set(run->opt->to, start_ns, &run->interpreter.to_ns);
}

static void begin_chunk(void *ctx, struct chunk *chunk)
{
	struct jfr_run *run = ctx;

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
	for (size_t i = 0; i < run->n_files; i++) {
		recording_report_deinit(&run->files[i].report);
		free(run->files[i].name);
		free(run->files[i].reason);
	}
	free(run->files);
	samples_free(run->samples);
	profile_free(run->profile);
	summary_deinit(&run->summary);
	seen_chunks_deinit(&run->seen);
	recording_past_deinit(&run->past);
	interpreter_deinit(&run->interpreter);
}
