// SPDX-License-Identifier: Apache-2.0
#include "cmd/jfr.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/jfr_ahead.h"
#include "cmd/jfr_paths.h"
#include "cmd/jfr_time.h"
#include "cmd/jfr_watch.h"
#include "cmd/jfr_watch_options.h"
#include "cmd/jfr_workers.h"
#include "cmd/output.h"
#include "cmd/show.h"
#include "cmd/verb.h"
#include "cmd/view.h"
#include "core/array.h"
#include "core/log.h"
#include "core/profile.h"
#include "core/scoped.h"
#include "core/text.h"
#include "exporter/exporter.h"
#include "exporter/pprof_decode.h"
#include "exporter/replacement.h"
#include "jfr/event_line.h"
#include "jfr/samples.h"
#include "jfr/unpack.h"
#include "jfr/workload.h"

#define KEPT_LEN (16 << 20)
#define PROFILE_HEAD_LEN 256 /* the first of its sample types is in that */

/* What the options ask for. */
struct plan {
	const struct exporter_ops *exporter; /* NULL: nothing is converted */
	bool has_lines;			     /* ProfileEvent lines, written as they come */
	struct replacement place;	     /* of these */
	struct event_lines lines;
};

static int usage(const char *why, const char *what)
{
	char name[128];

	log_error("jfr: %s %s\n  see: weft help jfr", why, text_safe(what, name, sizeof(name)));
	return EXIT_USAGE;
}

int jfr_refuse_events(const char *wrong)
{
	char name[128], groups[256];

	event_groups_all(groups, sizeof(groups));
	log_error("jfr: no group or type of events is called %s\n"
		  "  groups: %s\n"
		  "  types: by their names, such as jdk.CPULoad, GC*",
		  text_safe(wrong, name, sizeof(name)), groups);
	return EXIT_USAGE;
}

static int check_times(struct jfr_run *run)
{
	const struct options *opt = run->opt;
	int from = jfr_time_set(opt->from, 0, &run->interpreter.from_ns);
	int to = jfr_time_set(opt->to, 0, &run->interpreter.to_ns);

	if (from < 0)
		return usage("--from is no time such as 90s or 2026-11-21T10:00:05Z:", opt->from);
	if (to < 0)
		return usage("--to is no time such as 90s or 2026-11-21T10:00:05Z:", opt->to);
	/* Only when both count from the start, or neither does, it is known before that is. */
	if (opt->from && opt->to && from == to &&
	    run->interpreter.from_ns >= run->interpreter.to_ns)
		return usage("--to is not after --from:", opt->to);
	return EXIT_OK;
}

static int check_options(struct jfr_run *run)
{
	const struct options *opt = run->opt;
	char wrong[64];

	run->interpreter.groups = UINT32_MAX;
	if ((opt->json || opt->check) && (opt->output || opt->format || (opt->json && opt->check)))
		return usage("only one at a time of", "--json, --check, --output");
	for (size_t i = 0; i < opt->files.n; i++)
		if (!strcmp(opt->files.items[i], "-"))
			return usage("recordings are not read from stdin:", "-");
	if (opt->events &&
	    !event_groups_parse(opt->events, &run->interpreter.groups, wrong, sizeof(wrong)))
		return jfr_refuse_events(wrong);
	run->interpreter.events = opt->events;
	run->interpreter.thread = opt->thread;
	if (opt->path_template && workload_template_error(opt->path_template))
		return usage("--path-template:", workload_template_error(opt->path_template));
	return check_times(run);
}

static int plan_output(struct plan *plan, const struct options *opt)
{
	const char *path = opt->output ? opt->output : "-";
	int err;

	if (!opt->output && !opt->format)
		return EXIT_OK;
	plan->exporter = output_format(opt, path);
	if (!plan->exporter)
		return EXIT_USAGE;
	plan->has_lines = !strcmp(plan->exporter->name, "json");
	if (!plan->has_lines || !strcmp(path, "-")) {
		plan->lines.out = stdout;
		return EXIT_OK;
	}
	err = replacement_open(&plan->place, path, false);
	plan->lines.out = err ? NULL : fdopen(plan->place.fd, "w");
	if (plan->lines.out)
		return EXIT_OK;
	log_error("cannot write %s: %s", path, strerror(err ? -err : errno));
	return EXIT_FAILED;
}

static int add_file(struct jfr_run *run, const struct unpack_part *part, struct jfr_file **file)
{
	SCOPED(free) char *name = strdup(part->name);

	if (!name || ARRAY_RESERVE(run->files, run->files_cap, run->n_files))
		return -ENOMEM;
	*file = &run->files[run->n_files++];
	**file = (struct jfr_file){ .name = TAKE(name) };
	return 0;
}

static void widen(struct jfr_run *run, const struct recording_report *r)
{
	if (r->n_chunks && r->start_ns < run->start_ns)
		run->start_ns = r->start_ns;
	if (r->n_chunks && r->end_ns > run->end_ns)
		run->end_ns = r->end_ns;
}

/* Forgets the file that was added last. */
static void drop_file(struct jfr_run *run)
{
	jfr_file_deinit(&run->files[--run->n_files]);
}

/* Of the files in a directory only those are damaged recordings of which something is left, or
   whose names say so. */
static bool is_something_else(const struct unpack_part *part, const struct jfr_file *file)
{
	return part->is_unsure && !file->report.n_chunks &&
	       !strstr(path_basename(part->name), ".jfr");
}

/* One of ours, or another program's: packed as recordings are. */
static bool is_profile(const struct unpack_part *part)
{
	uint8_t head[PROFILE_HEAD_LEN];
	ssize_t n = part->fd < 0 ? -1 : pread(part->fd, head, sizeof(head), 0);

	return part->is_unsure && n > 0 && pprof_sniff(head, (size_t)n);
}

/* There is no recording in it, or none yet. */
static void tell_of_nothing(const struct unpack_part *part, const struct recording_report *r)
{
	if (part->err)
		return;
	if (!r->n_chunks && is_profile(part))
		log_info("%s is a profile, which weft report shows", part->name);
	else if (part->is_self && !part->len)
		log_info("%s is empty: a JVM fills it when it dumps or ends; what it recorded "
			 "until then is in its repository",
			 part->name);
	else if (r->n_unflushed && !r->n_chunks && !r->n_damages)
		log_info("%s has nothing that can be read yet: a JVM flushes what it records about "
			 "once a second",
			 part->name);
}

static int read_recording(struct jfr_run *run, struct unpack_part *part, bool is_found)
{
	const struct jvm_facts before = run->interpreter.facts;
	struct jfr_file *file;
	int err = 0;

	if (is_found && (part->fd < 0 || part->is_unsure) && part->err == -ENOTSUP)
		return 0; /* something else that lies in the directory */
	err = add_file(run, part, &file);
	if (err)
		return err;
	/* Nothing says that the next file is of the same JVM. */
	if (!run->interpreter.facts.pid)
		recording_past_deinit(&run->past);
	/* Whether a copy is damaged is asked of each. */
	if (run->opt->check)
		seen_chunks_deinit(&run->seen);
	run->interpreter.chunk_ns = run->interpreter.chunk_ticks = 0;
	run->interpreter.facts = (struct jvm_facts){ 0 };
	run->interpreter.settings = (struct settings){ 0 };
	err = jfr_ahead_of_part(run, part);
	if (!err && part->fd >= 0)
		err = jfr_workers_read(run, part->fd, &file->report);
	if (part->err)
		file->reason = strdup(part->reason);
	if (!run->opt->check)
		tell_of_nothing(part, &file->report);
	/* It says nothing of whose it is. */
	if (!file->service)
		run->interpreter.facts = before;
	widen(run, &file->report);
	if (is_found && is_something_else(part, file))
		drop_file(run);
	return err;
}

static int read_path(struct jfr_run *run, const struct jfr_path *path)
{
	SCOPED(unpack_free)
	struct unpack *u =
		unpack_new(AT_FDCWD, path->path, path->is_found ? UNPACK_NOFOLLOW : 0, NULL);
	struct unpack_part part;
	int err = u ? 0 : -ENOMEM;

	run->path = path->path;
	while (!err && unpack_next(u, &part)) {
		err = read_recording(run, &part, path->is_found);
		unpack_part_deinit(&part);
	}
	return err;
}

static void finish_profile(struct jfr_run *run)
{
	uint64_t n_lost = 0;

	for (size_t i = 0; i < run->n_files; i++)
		n_lost += run->files[i].report.n_lost;
	if (n_lost)
		profile_count(run->profile, BYTES_LOST, n_lost);
	samples_finish(run->samples, run->start_ns, run->end_ns);
}

static void begin_early(struct jfr_run *run, int64_t start_ns)
{
	if (start_ns)
		jfr_run_start(run, start_ns);
}

static int read_all(struct jfr_run *run, struct plan *plan)
{
	struct jfr_paths paths;
	bool is_said = false;
	int err = jfr_paths_init(&paths, &run->opt->files);

	is_said = err && err != -ENOMEM;
	/* Of several --from and --to count from the earliest, whichever is read first. */
	if (!err && paths.n > 1 && (run->opt->from || run->opt->to))
		begin_early(run, jfr_paths_start(&paths));
	if (!err)
		err = jfr_ahead(run, &paths);
	for (size_t i = 0; i < paths.n && !err; i++) {
		run->interpreter.file = i;
		err = read_path(run, &paths.items[i]);
	}
	jfr_paths_deinit(&paths);
	if (run->samples)
		finish_profile(run);
	if (err == -EINTR)
		log_error("jfr: interrupted: what was read until then follows");
	else if (err && !is_said && !(plan->has_lines && ferror(plan->lines.out)))
		log_error("jfr: %s", strerror(-err));
	return err == -EINTR ? 0 : err;
}

bool jfr_is_damaged(const struct jfr_run *run)
{
	for (size_t i = 0; i < run->n_files; i++)
		if (run->files[i].report.n_damages || run->files[i].reason)
			return true;
	return false;
}

static int finish_lines(struct plan *plan, const char *path, bool is_good)
{
	bool has_file = plan->lines.out != stdout;
	int err = fflush(plan->lines.out) ? -errno : 0;

	if (has_file && (err || !is_good))
		replacement_abandon(&plan->place);
	else if (has_file)
		err = replacement_finish(&plan->place);
	if (err)
		log_error("cannot write %s: %s", has_file ? path : "stdout", strerror(-err));
	return err ? EXIT_FAILED : EXIT_OK;
}

static bool has_chunks(const struct jfr_run *run)
{
	for (size_t i = 0; i < run->n_files; i++)
		if (run->files[i].report.n_chunks || run->files[i].report.n_duplicates)
			return true;
	return false;
}

/* What was asked for, of what was read. */
static int write_result(struct jfr_run *run, struct plan *plan)
{
	const char *path = run->opt->output ? run->opt->output : "-";
	int err;

	if (run->opt->check) {
		jfr_print_damage(run, stdout);
		return EXIT_OK;
	}
	if (run->profile && has_chunks(run) && view_choose(run->profile, run->opt->sample_type))
		return EXIT_USAGE;
	if (run->opt->json)
		return jfr_print_json(run, stdout) ? EXIT_FAILED : EXIT_OK;
	/* Of what is no recording nothing is made, and nothing is replaced by that. */
	if (plan->has_lines)
		return finish_lines(plan, path, has_chunks(run));
	if (!has_chunks(run))
		return EXIT_OK;
	if (plan->exporter)
		return output_write(plan->exporter, run->profile, path,
				    output_is_private(run->opt->files.items[0]));
	if (!run->opt->no_pager)
		pager_start();
	err = jfr_print_summary(run, stdout);
	pager_stop();
	return err ? EXIT_FAILED : EXIT_OK;
}

static bool has_events(const struct summary *s, const char *word)
{
	struct type_sum sum;

	for (size_t i = 0; i < summary_n_types(s); i++)
		if (event_list_has(word, summary_type(s, i, &sum)))
			return true;
	return false;
}

/* Of what was asked for: a name may be misspelt, and a time be another day's. */
static void say_missing(const struct jfr_run *run)
{
	const char *list = run->opt->events;
	char word[128], safe[128];

	if (run->opt->thread && !run->interpreter.has_thread && !run->opt->check)
		log_error("jfr: no events of a thread %s there",
			  text_safe(run->opt->thread, safe, sizeof(safe)));
	else if (run->opt->output && run->profile && !profile_n_samples(run->profile))
		log_error("jfr: no samples of what was asked for: %s has none",
			  text_safe(run->opt->output, safe, sizeof(safe)));
	while (list && (list = event_list_next(list, word, sizeof(word))))
		if (!has_events(&run->summary, word))
			log_error("jfr: no events of type %s there (-v shows the types)",
				  text_safe(word, safe, sizeof(safe)));
}

static int end_status(const struct jfr_run *run)
{
	const char *output = run->opt->output;
	char safe[128];
	bool is_written = has_chunks(run) || !output || !strcmp(output, "-");

	if (!run->n_files)
		log_error("jfr: no recording there");
	else if (!is_written)
		log_error("jfr: nothing to write: %s is not written",
			  text_safe(output, safe, sizeof(safe)));
	else if (has_chunks(run))
		say_missing(run);
	if (jfr_is_damaged(run) && !run->opt->check)
		jfr_print_damage(run, stderr);
	if (jfr_is_damaged(run))
		return EXIT_DAMAGED;
	return run->n_files && is_written ? EXIT_OK : EXIT_FAILED;
}

/* What is known of a chunk goes when the third one behind it is read, and as much comes again. */
static void keep_freed_memory(void)
{
#ifdef __GLIBC__
	mallopt(M_TRIM_THRESHOLD, KEPT_LEN);
#endif
}

static int jfr_run(const struct options *opt)
{
	struct jfr_run run = { .opt = opt };
	struct plan plan = { 0 };
	int status, err;

	if (opt->watch)
		return jfr_watch(opt);
	keep_freed_memory();
	status = jfr_watch_refuse_options(opt);
	if (!status)
		status = check_options(&run);
	if (!status)
		status = plan_output(&plan, opt);
	if (status)
		return status;
	plan.lines.shows_secrets = opt->show_secrets;
	err = jfr_run_init(&run, plan.has_lines ? &plan.lines : NULL,
			   !plan.has_lines && !opt->check);
	if (!err)
		err = read_all(&run, &plan);
	if (err && plan.has_lines)
		finish_lines(&plan, opt->output ? opt->output : "-", false);
	status = err ? EXIT_FAILED : write_result(&run, &plan);
	if (!status)
		status = end_status(&run);
	jfr_run_deinit(&run);
	event_lines_deinit(&plan.lines);
	if (plan.lines.out && plan.lines.out != stdout)
		fclose(plan.lines.out);
	return status;
}

const struct verb verb_jfr = {
	.bit = ON_JFR,
	.name = "jfr",
	.synopsis = "[OPTIONS] PATH...",
	.summary = "show or convert JFR recordings of JVMs, whatever state they are in",
	.description =
		"Reads recordings of JDK Flight Recorder, of HotSpot (from JDK 9 on, and of 8u262 "
		"and "
		"later) and of async-profiler; no JDK is needed. PATH is a file, packed or not "
		"(gzip, "
		"zstd, lz4, zip), or a directory, below which every recording is read. All of them "
		"become one result; chunks that are in several files count once.\n\n"
		"Without --output it shows what is in them: the functions that cost most, events "
		"by "
		"type, garbage collections, threads. With it the samples become a profile in the "
		"format of FILE's extension, with a sample type for each kind (cpu, wall, "
		"alloc_space, "
		"lock, ...); FILE.json gets every event as a line instead.\n\n"
		"A recording that is cut off, damaged or not finished is read as far as it can be: "
		"what is lost is said, with its offset, and the exit status is 6. The arguments of "
		"the JVM and of programs, properties, environment variables and messages of "
		"exceptions may hold secrets: they are [redacted] unless --show-secrets is given. "
		"Frames that the JVM itself hides are not in profiles unless --hidden-frames is "
		"given; in lines they are marked.\n\n"
		"With --watch PATH is a directory in which recordings are being written: "
		"repositories of JVMs, dumps, files of async-profiler. Each piece is exported "
		"as soon as its writer has committed it, once, also over restarts of weft and of "
		"the JVMs: -o DIR gets files of ProfileEvent lines (--format json, pprof or both), "
		"-o - a stream of them.",
	.examples = "what is in a recording\nweft jfr crash.jfr\n"
		    "a flame graph of the CPU samples\nweft jfr --events cpu rec.jfr -o cpu.html\n"
		    "everything of a directory as one profile\nweft jfr /var/log/jfr -o all.pb.gz\n"
		    "one minute of one thread, as events\nweft jfr --from 60s --to 120s --thread "
		    "main rec.jfr -o main.json\n"
		    "what is damaged\nweft jfr --check crash.jfr\n"
		    "what live services write, as it comes\nweft jfr /var/log/jfr --watch -o "
		    "events/\n",
	.words = "FILE",
	.min_args = 1,
	.max_args = ~0u,
	.run = jfr_run,
};
