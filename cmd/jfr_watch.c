// SPDX-License-Identifier: Apache-2.0
#include "cmd/jfr_watch.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/interrupt.h"
#include "cmd/jfr_ledger_path.h"
#include "cmd/jfr_retention.h"
#include "cmd/jfr_watch_options.h"
#include "cmd/jfr_watch_text.h"
#include "cmd/status.h"
#include "cmd/verb.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/options.h"
#include "core/scoped.h"
#include "core/text.h"
#include "jfr/ledger.h"
#include "jfr/watch.h"

#define ROUND_MS 250
#define SAY_NS NS_PER_S
#define METRICS_NS (60 * NS_PER_S)
#define RETENTION_NS (10 * NS_PER_S)
#define LINE_MAX_LEN 1024

SCOPED_DEFINE(struct ledger, ledger_close)
SCOPED_DEFINE(struct watch, watch_free)
SCOPED_DEFINE(struct jfr_export, jfr_export_free)

/* What is said and tidied up now and then. */
struct session {
	const struct options *opt;
	struct watch *watch;
	uint64_t begin_ns, said_ns, metrics_ns, tidied_ns;
	bool is_terminal, is_failing;
};

static bool is_stopped(void)
{
	return interrupt_count() > 0;
}

/* A folder that comes later would have to be looked for in all that are above it. */
static const char *hint(int err)
{
	return err == ENOENT ? " (create it first: what is written into it later is found)" : "";
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
		log_error("cannot watch %s: %s%s", text_safe(paths->items[i], name, sizeof(name)),
			  strerror(err), hint(err));
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
	status_show(watch_status_line(watch_counts(s->watch), now - s->begin_ns, false, line,
				      sizeof(line)));
}

static const char *remedy(int err)
{
	switch (err) {
	case -ENOSPC:
	case -EDQUOT:
		return "make room there";
	case -EROFS:
	case -EACCES:
	case -EPERM:
		return "make it writable";
	default:
		return "see to its disk";
	}
}

/* The first time that something takes nothing, and when it does again. */
static void say_failure(struct session *s)
{
	const struct watch_counts *c = watch_counts(s->watch);
	const char *output = strcmp(s->opt->output, "-") ? s->opt->output : "stdout";
	char name[512];

	if (s->is_failing == (c->n_failures > 0) || is_stopped())
		return;
	s->is_failing = c->n_failures > 0;
	if (s->is_terminal)
		status_show("");
	if (!s->is_failing)
		log_info("it can be written again, and goes on");
	else
		log_error(
			"cannot write to %s: %s\n  nothing is lost yet: recordings are held open, "
			"and it is tried again; %s",
			c->is_ledger_failing ? "the ledger" : text_safe(output, name, sizeof(name)),
			strerror(-c->err), remedy(c->err));
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

/* In words for people, in figures for a log and for who asked for them. */
static void say_end(const struct session *s)
{
	uint64_t elapsed_ns = clock_ns(CLOCK_MONOTONIC) - s->begin_ns;
	char line[LINE_MAX_LEN];

	if (!s->is_terminal || s->opt->metrics_ns) {
		say_metrics(s);
		return;
	}
	status_show("");
	log_info("%s",
		 watch_status_line(watch_counts(s->watch), elapsed_ns, true, line, sizeof(line)));
}

static int end(const struct session *s, int err)
{
	say_end(s);
	if (!err)
		return EXIT_OK;
	if (err == -EPIPE)
		log_error("nobody reads stdout any more");
	else if (err == -EBADMSG)
		log_error("the ledger is damaged; what was written stays as it is");
	else if (err == -ENOMEM)
		log_error("out of memory");
	else
		log_error("cannot write to the ledger: %s\n  %s, or choose another: --ledger FILE",
			  strerror(-err), remedy(err));
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
		say_failure(&s);
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
	struct jfr_watch_plan plan;
	int status = jfr_watch_plan(opt, is_stopped, &plan);

	if (!status)
		status = check_roots(&opt->files);
	if (status)
		return status;
	ledger = jfr_ledger_open(opt);
	e = ledger ? jfr_export_new(&plan.exports) : NULL;
	w = e ? watch_new(&plan.watch, ledger, &jfr_export_ops, e) : NULL;
	if (!w)
		return EXIT_FAILED;
	status = add_roots(w, &opt->files);
	if (status)
		return status;
	if (jfr_export_dir(e))
		watch_exclude(w, jfr_export_dir(e));
	return watch(opt, w);
}
