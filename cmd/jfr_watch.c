// SPDX-License-Identifier: Apache-2.0
#include "cmd/jfr_watch.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cmd/interrupt.h"
#include "cmd/jfr_export.h"
#include "cmd/jfr_ledger_path.h"
#include "cmd/jfr_retention.h"
#include "cmd/jfr_watch_text.h"
#include "cmd/status.h"
#include "cmd/verb.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/options.h"
#include "core/scoped.h"
#include "core/text.h"
#include "jfr/event_row.h"
#include "jfr/ledger.h"
#include "jfr/watch.h"

#define ROUND_MS 250
#define SAY_NS NS_PER_S
#define METRICS_NS (60 * NS_PER_S)
#define RETENTION_NS (10 * NS_PER_S)
#define OTHER_FDS 640 /* that are no recordings: mostly batches that wait for the disk */
#define LINE_MAX_LEN 1024

SCOPED_DEFINE(struct ledger, ledger_close)
SCOPED_DEFINE(struct watch, watch_free)
SCOPED_DEFINE(struct jfr_export, jfr_export_free)

/* What is said and tidied up now and then. */
struct session {
	const struct options *opt;
	struct watch *watch;
	uint64_t begin_ns, said_ns, metrics_ns, tidied_ns;
	bool is_terminal;
};

static bool is_stopped(void)
{
	return interrupt_count() > 0;
}

static int usage(const char *why)
{
	log_error("jfr: %s\n  see: weft help jfr", why);
	return EXIT_USAGE;
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

static int read_export(const struct options *opt, struct jfr_export_settings *s)
{
	char wrong[64], why[128];

	*s = (struct jfr_export_settings){ .output = opt->output,
					   .groups = UINT32_MAX,
					   .events = opt->events,
					   .shows_secrets = opt->show_secrets,
					   .keeps_hidden = opt->hidden_frames,
					   .thread = opt->thread,
					   .batch_len = opt->rotate_size,
					   .is_stopped = is_stopped };
	if (!opt->output)
		return usage("--watch needs a place to write to: -o DIR, or -o - for lines on "
			     "stdout");
	if (read_formats(opt->format, s))
		return usage("--watch writes --format json, pprof or json,pprof; stdout takes json "
			     "only");
	if (opt->events && !event_groups_parse(opt->events, &s->groups, wrong, sizeof(wrong))) {
		snprintf(why, sizeof(why), "no group or type of events is called %s", wrong);
		return usage(why);
	}
	if (opt->from || opt->to || opt->check || opt->json)
		return usage("--from, --to, --check and --json are not for --watch");
	return EXIT_OK;
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
	*s = watch_settings_default;
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

/* Before a ledger is made for them. */
static int check_roots(const struct string_list *paths)
{
	char name[512];
	struct stat st;

	for (size_t i = 0; i < paths->n; i++) {
		int err = stat(paths->items[i], &st) < 0 ? errno
			  : S_ISDIR(st.st_mode)		 ? 0
							 : ENOTDIR;

		if (!err)
			continue;
		log_error("cannot watch %s: %s", text_safe(paths->items[i], name, sizeof(name)),
			  strerror(err));
		return EXIT_NO_TARGET;
	}
	return EXIT_OK;
}

static int add_roots(struct watch *w, const struct string_list *paths)
{
	char name[512];

	for (size_t i = 0; i < paths->n; i++) {
		int err = watch_add_root(w, paths->items[i]);

		if (!err)
			continue;
		log_error("cannot watch %s: %s", text_safe(paths->items[i], name, sizeof(name)),
			  strerror(-err));
		return EXIT_NO_TARGET;
	}
	return EXIT_OK;
}

static void say_metrics(const struct session *s)
{
	char line[LINE_MAX_LEN];

	if (s->is_terminal)
		status_show("");
	log_info("%s", watch_metrics_line(watch_counts(s->watch), line, sizeof(line)));
}

static void say(struct session *s, uint64_t now)
{
	uint64_t every = s->opt->metrics_ns;
	char line[LINE_MAX_LEN];

	if (!every && !s->is_terminal)
		every = METRICS_NS;
	if (every && now - s->metrics_ns >= every) {
		s->metrics_ns = now;
		say_metrics(s);
	}
	if (!s->is_terminal || s->opt->quiet || now - s->said_ns < SAY_NS)
		return;
	s->said_ns = now;
	status_show(
		watch_status_line(watch_counts(s->watch), now - s->begin_ns, line, sizeof(line)));
}

static void tidy_up(struct session *s, uint64_t now)
{
	const struct options *opt = s->opt;
	uint64_t unix_now = clock_ns(CLOCK_REALTIME);

	if ((!opt->keep_ns && !opt->keep_size) || now - s->tidied_ns < RETENTION_NS)
		return;
	s->tidied_ns = now;
	retention_apply(opt->output,
			opt->keep_ns && opt->keep_ns < unix_now ? unix_now - opt->keep_ns : 0,
			opt->keep_size);
}

static int end(const struct session *s, int err)
{
	say_metrics(s);
	if (!err)
		return EXIT_OK;
	if (err == -EPIPE)
		log_error("nobody reads stdout any more");
	else if (err == -EBADMSG)
		log_error("the ledger is damaged; what was written stays as it is");
	else
		log_error("%s", strerror(-err));
	return EXIT_FAILED;
}

static int watch(const struct options *opt, struct watch *w)
{
	struct session s = {
		.opt = opt,
		.watch = w,
		.begin_ns = clock_ns(CLOCK_MONOTONIC),
		.is_terminal = isatty(STDERR_FILENO) && !opt->quiet,
	};
	uint64_t now = s.metrics_ns = s.begin_ns;
	int err;

	interrupt_catch();
	signal(SIGPIPE, SIG_IGN);
	err = watch_start(w);
	if (watch_counts(w)->n_historic)
		log_info("what ended before is passed over, %" PRIu64
			 " chunks\n  to have it too, the first time: --history all",
			 watch_counts(w)->n_historic);
	while (!err && !is_stopped() &&
	       (!opt->duration_ns || now - s.begin_ns < opt->duration_ns)) {
		err = watch_round(w, ROUND_MS);
		now = clock_ns(CLOCK_MONOTONIC);
		say(&s, now);
		tidy_up(&s, now);
	}
	return end(&s, err);
}

int jfr_watch(const struct options *opt)
{
	SCOPED(jfr_export_free) struct jfr_export *e = NULL;
	SCOPED(ledger_close) struct ledger *ledger = NULL;
	SCOPED(watch_free) struct watch *w = NULL;
	struct jfr_export_settings exports;
	struct watch_settings settings;
	int status = read_export(opt, &exports);

	if (!status)
		status = read_watch(opt, &settings);
	if (!status)
		status = check_roots(&opt->files);
	if (status)
		return status;
	exports.batch_len = settings.rotate_bytes;
	ledger = jfr_ledger_open(opt);
	e = ledger ? jfr_export_new(&exports) : NULL;
	w = e ? watch_new(&settings, ledger, &jfr_export_ops, e) : NULL;
	if (!w)
		return EXIT_FAILED;
	status = add_roots(w, &opt->files);
	if (status)
		return status;
	if (jfr_export_dir(e))
		watch_exclude(w, jfr_export_dir(e));
	return watch(opt, w);
}
