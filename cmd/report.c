// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "cmd/accounting.h"
#include "cmd/filter.h"
#include "cmd/label_keys.h"
#include "cmd/output.h"
#include "cmd/selection.h"
#include "cmd/sources.h"
#include "cmd/verb.h"
#include "cmd/view.h"
#include "core/log.h"
#include "core/profile.h"
#include "core/text.h"

/* "weft.pb.gz · cpu · host db1 · 2026-11-21 13:31:02 · 10.0 s at 99 Hz" */
static void print_origin(const struct view *v, const char *path)
{
	const struct profile_header *h = profile_get_header(v->profile);
	const char *host = profile_get_string(v->profile, h->hostname);
	time_t start = (time_t)(h->time_ns / 1000000000);
	struct tm tm;
	char when[32];

	show_name(path, 0, v->out);
	fputs(" · ", v->out);
	show_name(*v->type ? v->type : "no sample type", 0, v->out);
	if (*host) {
		fputs(" · host ", v->out);
		show_name(host, 0, v->out);
	}
	if (start > 0 && localtime_r(&start, &tm) &&
	    strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm))
		fprintf(v->out, " · %s", when);
	if (h->duration_ns > 0)
		fprintf(v->out, " · %.1f s", (double)h->duration_ns / 1e9);
	/* Of blocked time it is what a sample was worth, which is no rate. */
	if (h->period > 0 && !strcmp(profile_get_string(v->profile, h->period_type.type), "cpu") &&
	    !strcmp(profile_get_string(v->profile, h->period_type.unit), "nanoseconds"))
		fprintf(v->out, " at %.0f Hz", 1e9 / (double)h->period);
	fputc('\n', v->out);
}

/* "23.99s in total · 12.01s (50.1%) shown · 98.9% complete · 0 lost" */
static void print_totals(const struct view *v)
{
	struct accounting a = accounting_of(v->profile);
	char text[32];

	fprintf(v->out, "%s in total", scale_print(&v->scale, v->total, text, sizeof(text)));
	if (filter_is_active(v->filter))
		fprintf(v->out, " · %s (%.1f%%) after the filter",
			scale_print(&v->scale, v->kept, text, sizeof(text)),
			view_percent(v, v->kept));
	if (a.is_known) {
		fprintf(v->out, " · %" PRIu64 " samples · ", a.sampled);
		accounting_print(&a, v->out);
	}
	fputs("\n\n", v->out);
}

static int show(struct view *v, const struct options *opt)
{
	switch (opt->view) {
	case VIEW_TREE:
		return view_tree(v);
	case VIEW_CALLERS:
		return view_callers(v, opt->peek);
	case VIEW_PEEK:
		return view_peek(v, opt->peek);
	default:
		break;
	}
	if (opt->by) {
		int err = view_shares(v);

		if (err)
			return err;
	}
	return view_top(v);
}

static int print_report(const struct profile *p, const struct options *opt)
{
	struct view v;
	int err;

	if (!opt->no_pager)
		pager_start();
	err = view_init(&v, p, opt, stdout);
	if (!err) {
		print_origin(&v, opt->files.items[0]);
		print_totals(&v);
		err = show(&v, opt);
	}
	if (!err && opt->verbose) {
		fputs("\nCounts:\n", stdout);
		accounting_print_all(p, stdout);
	}
	view_deinit(&v);
	pager_stop();
	if (err == -ENOENT && opt->peek)
		log_error("no function matches %s", opt->peek);
	if (err == -ENOMEM)
		log_error("not enough memory for this report");
	return !err ? EXIT_OK : err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
}

/* report -o: the profile, or what the filter keeps of it, in another format. */
static int convert(struct profile *p, const struct options *opt)
{
	const char *path = opt->output ? opt->output : "-";
	const struct exporter_ops *ops = output_format(opt, path);

	if (!ops || view_choose(p, opt->sample_type))
		return EXIT_USAGE;
	if (selection_keep(p, opt) || profile_error(p)) {
		log_error("not enough memory for this report");
		return EXIT_FAILED;
	}
	return output_write(ops, p, path, output_is_private(opt->files.items[0]));
}

static int report_run(const struct options *opt)
{
	bool converts = opt->output || opt->format;
	struct profile *p;
	int status, loaded;

	if (opt->only && !selection_kind(opt->only)) {
		log_error("--only %s: not a language weft knows (python, java, go, native, "
			  "kernel, jit)",
			  opt->only);
		return EXIT_USAGE;
	}
	p = sources_load(opt->files.items[0], opt, &loaded);
	if (!p)
		return loaded;
	label_keys_check(p, opt);
	if (opt->by)
		selection_by_label(p, opt->by);
	status = converts ? convert(p, opt) : print_report(p, opt);
	profile_free(p);
	return status ? status : loaded;
}

const struct verb verb_report = {
	.bit = ON_REPORT,
	.name = "report",
	.synopsis = "[OPTIONS] FILE",
	.summary = "show a profile as text: top, tree, callers, peek; or convert it",
	.description =
		"Shows a profile that weft or another program wrote in pprof's format, or the "
		"samples "
		"of a JFR recording. FILE - is stdin.\n\n"
		"The top table lists functions: flat is what a function cost itself, cum "
		"with what it "
		"called. A function that calls itself counts once in a stack, an inlined "
		"function counts "
		"as a function. Percentages are of the whole profile, also when a filter is "
		"on. The "
		"second line says how many stacks are complete and how many samples were "
		"lost; with "
		"--verbose every count follows the table.\n\n"
		"On a terminal the report goes through PAGER; COLUMNS and NO_COLOR are "
		"honoured. With "
		"--output the profile, or what the filter keeps of it, is written in the format of "
		"FILE's extension instead.\n\n"
		"With --by every stack begins with what a label says: one tree for each kind of "
		"span (span_name), span, asyncio task, thread or process. The share of each is "
		"above the top table.\n\n"
		"With --only python the stacks are those that Python's own tools show: what a "
		"function costs in the interpreter, in libraries and in the kernel is its own. "
		"--focus and --ignore still look at whole stacks.",
	.examples =
		"the ten functions that cost most\nweft report -n 10 weft.pb.gz\n"
		"who calls malloc, and from where\nweft report --callers '^malloc$' weft.pb.gz\n"
		"what each kind of request costs\nweft report --by span_name weft.pb.gz\n"
		"one process of a recording of the whole machine\nweft report --label pid=4711 "
		"weft.pb.gz\n"
		"a flame graph\nweft report weft.pb.gz -o weft.html\n"
		"which Python functions cost most, with all that they call in C\nweft report "
		"--only "
		"python weft.pb.gz\n"
		"a flame graph of each asyncio task\nweft report weft.pb.gz --by task -o "
		"tasks.html\n",
	.words = "FILE",
	.min_args = 1,
	.max_args = 1,
	.run = report_run,
};
