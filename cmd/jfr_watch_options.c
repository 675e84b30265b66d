// SPDX-License-Identifier: Apache-2.0
#include "cmd/jfr_watch_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "cmd/jfr.h"
#include "cmd/verb.h"
#include "core/log.h"
#include "core/options.h"
#include "core/text.h"
#include "exporter/exporter.h"
#include "jfr/event_row.h"
#include "jfr/workload.h"

#define OTHER_FDS 640 /* that are no recordings: mostly batches that wait for the disk */

static int usage(const char *why)
{
	log_error("jfr: %s\n  see: weft help jfr", why);
	return EXIT_USAGE;
}

struct given {
	const char *name;
	bool is_given;
};

static const char *first_given(const struct given *options, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (options[i].is_given)
			return options[i].name;
	return NULL;
}

int jfr_watch_refuse_options(const struct options *opt)
{
	const struct given own[] = {
		{ "--duration", opt->duration_ns },	{ "--ledger", opt->ledger },
		{ "--history", opt->history },		{ "--stale", opt->stale_ns },
		{ "--rotate-age", opt->rotate_age_ns }, { "--rotate-size", opt->rotate_size },
		{ "--keep-size", opt->keep_size },	{ "--keep-age", opt->keep_ns },
		{ "--metrics", opt->metrics_ns },
	};
	const char *name = first_given(own, sizeof(own) / sizeof(*own));
	char why[128];

	if (!name)
		return EXIT_OK;
	snprintf(why, sizeof(why), "%s is for --watch only", name);
	return usage(why);
}

/* What makes sense of a finished recording only. */
static int refuse_others(const struct options *opt)
{
	const struct given others[] = {
		{ "--from", opt->from },
		{ "--to", opt->to },
		{ "--check", opt->check },
		{ "--json", opt->json },
		{ "--sample-type", opt->sample_type },
		{ "--rows", opt->n_rows },
		{ "--workers", opt->workers },
	};
	const char *name = first_given(others, sizeof(others) / sizeof(*others));
	char why[128];

	if (!name)
		return EXIT_OK;
	snprintf(why, sizeof(why), "%s is not for --watch", name);
	return usage(why);
}

static int read_formats(const char *formats, struct jfr_export_settings *s)
{
	if (!formats || !strcmp(formats, "json"))
		s->lines = true;
	else if (!strcmp(formats, "pprof"))
		s->profiles = true;
	else if (!strcmp(formats, "json,pprof") || !strcmp(formats, "pprof,json"))
		s->lines = s->profiles = true;
	else
		return -EINVAL;
	return s->profiles && !strcmp(s->output, "-") ? -EINVAL : 0;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* A name that means one file would become a directory of many. */
static int check_output(const struct options *opt)
{
	char why[512], name[256];
	struct stat st;

	if (!opt->output)
		return usage("--watch needs a place to write to: -o DIR, or -o - for lines on "
			     "stdout");
	if (!strcmp(opt->output, "-") || is_directory(opt->output))
		return EXIT_OK;
	if (!exporter_by_path(opt->output) && stat(opt->output, &st))
		return EXIT_OK;
	snprintf(why, sizeof(why),
		 "--watch writes many files, into a directory, and %s is a file's name\n"
		 "  -o DIR --format json, pprof or json,pprof; or -o - for lines on stdout",
		 text_safe(opt->output, name, sizeof(name)));
	return usage(why);
}

static int read_export(const struct options *opt, struct jfr_export_settings *s)
{
	char wrong[64], why[128];
	int status = check_output(opt);

	if (status)
		return status;
	if (read_formats(opt->format, s))
		return usage("--watch writes --format json, pprof or json,pprof; stdout takes json "
			     "only");
	if (opt->events && !event_groups_parse(opt->events, &s->groups, wrong, sizeof(wrong)))
		return jfr_refuse_events(wrong);
	if (opt->path_template && workload_template_error(opt->path_template)) {
		snprintf(why, sizeof(why), "--path-template: %s",
			 workload_template_error(opt->path_template));
		return usage(why);
	}
	return refuse_others(opt);
}

/* As many as we may have. */
static size_t max_open(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return OTHER_FDS;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur <= 2 * OTHER_FDS)
		return limit.rlim_cur / 2;
	limit.rlim_cur -= OTHER_FDS;
	return limit.rlim_cur < watch_settings_default.max_open ? limit.rlim_cur
								: watch_settings_default.max_open;
}

static int read_watch(const struct options *opt, struct watch_settings *s)
{
	s->max_open = max_open();
	if (opt->stale_ns)
		s->stale_ns = opt->stale_ns;
	if (opt->rotate_age_ns)
		s->rotate_age_ns = opt->rotate_age_ns;
	else if (!strcmp(opt->output, "-"))
		s->rotate_age_ns = 0;
	if (opt->rotate_size)
		s->rotate_bytes = opt->rotate_size;
	if (!opt->history)
		return EXIT_OK;
	if (!strcmp(opt->history, "all"))
		s->history_ns = HISTORY_ALL;
	else if (!strcmp(opt->history, "none"))
		s->history_ns = 0;
	else if (parse_duration(opt->history, &s->history_ns))
		return usage("--history is all, none or a time (1h)");
	return EXIT_OK;
}

int jfr_watch_plan(const struct options *opt, bool (*is_stopped)(void), struct jfr_watch_plan *plan)
{
	int status;

	plan->watch = watch_settings_default;
	plan->exports = (struct jfr_export_settings){ .output = opt->output,
						      .groups = UINT32_MAX,
						      .events = opt->events,
						      .shows_secrets = opt->show_secrets,
						      .keeps_hidden = opt->hidden_frames,
						      .thread = opt->thread,
						      .path_template = opt->path_template,
						      .is_stopped = is_stopped };
	status = read_export(opt, &plan->exports);
	if (!status)
		status = read_watch(opt, &plan->watch);
	plan->exports.batch_len = plan->watch.rotate_bytes;
	return status;
}
