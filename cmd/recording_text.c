// SPDX-License-Identifier: Apache-2.0
/* What a recording says to the person who asked for it. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "bpf/sampler.h"
#include "cmd/accounting.h"
#include "cmd/recording.h"
#include "cmd/targets.h"
#include "cmd/top_table.h"
#include "cmd/verb.h"
#include "cmd/view.h"
#include "core/log.h"
#include "core/profile.h"
#include "core/text.h"

#define TOP_ROWS 10

static void print_target(const struct recording *r, FILE *out)
{
	char safe[512];

	if (r->opt.all)
		fputs("the whole machine", out);
	else if (r->opt.command)
		fputs(text_safe(r->opt.command[0], safe, sizeof(safe)), out);
	else if (r->pids.n)
		fprintf(out, "pid %d (%s)%s", r->pids.items[0],
			text_safe(r->comm, safe, sizeof(safe)), r->pids.n > 1 ? " and others" : "");
	else if (r->opt.tids.n)
		fprintf(out, "thread %d%s", r->opt.tids.items[0],
			r->opt.tids.n > 1 ? " and others" : "");
	else if (r->opt.comms.n)
		fprintf(out, "every %s", text_safe(r->opt.comms.items[0], safe, sizeof(safe)));
	else
		fprintf(out, "cgroup %s", text_safe(r->opt.cgroups.items[0], safe, sizeof(safe)));
}

void recording_print_start(const struct recording *r)
{
	if (log_get_level() < LOG_NORMAL)
		return;
	fputs("weft: recording ", stderr);
	print_target(r, stderr);
	fprintf(stderr, " at %u Hz", r->opt.freq);
	if (r->opt.duration_ns)
		fprintf(stderr, " for %.3g s", (double)r->opt.duration_ns / 1e9);
	fputs(r->opt.command ? "; ^C ends it\n" : "; ^C stops and writes\n", stderr);
}

static uint64_t used_ns(const struct recording *r)
{
	uint64_t sum = 0;

	if (r->child.has_ended)
		return r->child.cpu_ns;
	for (size_t i = 0; i < r->pids.n; i++)
		sum += target_cpu_ns(r->pids.items[i]);
	return sum > r->cpu_before_ns ? sum - r->cpu_before_ns : 0;
}

/* The kernel says it in ticks of its clock, so anything less is nothing. */
static bool was_asleep(const struct recording *r)
{
	return used_ns(r) < UINT64_C(10000000);
}

/* What a tick is worth; a target that used less than a few of them may well have none. */
static bool is_idle(const struct recording *r)
{
	return used_ns(r) < UINT64_C(5000000000) / r->opt.freq;
}

/* Were there ticks of tasks that weft cannot walk? */
static bool is_narrow(const struct recording *r)
{
	for (uint32_t i = 0; i < profile_n_counts(r->profile); i++) {
		uint64_t n;

		if (!strcmp(profile_get_count(r->profile, i, &n), "ticks.unsupported"))
			return n;
	}
	return false;
}

/* What a sampler that needs more than a CPU in use did not find; NULL: that is all it needs. */
static const char *missed(const struct recording *r)
{
	const struct sampler_ops *s = sampler_find(r->opt.event);

	return s && s->nothing ? s->nothing(r->profile) : NULL;
}

/* "0 samples: pid 4711 used 0.00 s CPU in 10.0 s (it was asleep)" */
static void explain_nothing(const struct recording *r)
{
	double seconds = (double)r->duration_ns / 1e9;
	char safe[512];

	if (sampler_find(r->opt.event)->is_swept) {
		fputs("weft: 0 samples: no asyncio task was found in ", stderr);
		print_target(r, stderr);
		fputs("\n  is there a CPython 3.7 to 3.15 in it? weft dump PID, weft doctor --pid "
		      "PID\n",
		      stderr);
		return;
	}
	if (missed(r)) {
		fputs("weft: 0 samples of ", stderr);
		print_target(r, stderr);
		fprintf(stderr, " in %.1f s: %s\n", seconds, missed(r));
		return;
	}
	if (!r->pids.n && r->opt.command) {
		log_error("0 samples: no CPU was in use at a tick in the %.2f s of %s\n"
			  "  try a higher --freq; the machine for longer: weft record -a -d 10",
			  seconds, text_safe(r->opt.command[0], safe, sizeof(safe)));
		return;
	}
	if (!r->pids.n) {
		log_error("0 samples: no target used a CPU in %.1f s%s", seconds,
			  r->opt.comms.n && !targets_any_named(r->opt.comms.items[0])
				  ? " (no process has that name now)"
				  : "");
		return;
	}
	fputs("weft: 0 samples: ", stderr);
	print_target(r, stderr);
	fprintf(stderr, " used %.2f s CPU in %.1f s", (double)used_ns(r) / 1e9, seconds);
	if (r->cause == END_TARGET_GONE && !r->child.pid)
		fputs(" (it is gone)\n", stderr);
	else if (r->opt.kernel_only)
		fputs(" (outside of the kernel)\n", stderr);
	else if (r->child.pid && r->opt.no_children)
		fputs(" with its children, which are left out\n", stderr);
	else if (is_narrow(r))
		fputs(" (a 32-bit program: weft counts its ticks, but cannot walk it)\n", stderr);
	else if (was_asleep(r) && !r->child.pid)
		fputs(" (it was asleep)\n", stderr);
	else if (is_idle(r))
		fprintf(stderr, " (too little for a sample at %u Hz; try a higher --freq)\n",
			r->opt.freq);
	else
		fputs("; weft should have seen it: weft doctor\n", stderr);
}

static void print_top(const struct recording *r)
{
	/* Stdout may be the profile's, or the command's. */
	FILE *out = strcmp(r->path, "-") && !r->opt.command ? stdout : stderr;
	struct options opt;
	struct view v;

	options_init(&opt);
	opt.n_rows = TOP_ROWS;
	opt.only = sampler_find(r->opt.event)->shown_only;
	if (!view_init(&v, r->profile, &opt, out))
		view_top(&v);
	view_deinit(&v);
	fflush(out);
}

static void print_quoted(const struct recording *r, const char *before, uint32_t string)
{
	char safe[512];

	if (string)
		fprintf(stderr, "%s'%s'", before,
			text_safe(profile_get_string(r->profile, string), safe, sizeof(safe)));
}

static void print_loops(const struct recording *r)
{
	const struct loop_summary *l = &r->loops;
	uint64_t ms = l->longest_ns / 1000000;

	if (!r->opt.block_ms)
		return;
	/* Before a loop is known some are missing. */
	if (l->n_unseen > l->n_samples / 10)
		fprintf(stderr,
			"weft: %" PRIu64 " of %" PRIu64 " samples of asyncio tasks are of loops "
			"whose turns weft does not see (in greenlets, or with a clock of their "
			"own?)\n",
			l->n_unseen, l->n_samples);
	if (!l->n) {
		fprintf(stderr, "weft: no event loop was blocked for more than %u ms\n",
			r->opt.block_ms);
		return;
	}
	fprintf(stderr,
		"weft: event loop blocked %" PRIu64 " time%s for more than %u ms, %.2f s in all "
		"at least, longest at least ",
		l->n, l->n == 1 ? "" : "s", r->opt.block_ms, (double)l->sum_ns / 1e9);
	if (ms < 1000)
		fprintf(stderr, "%" PRIu64 " ms", ms);
	else
		fprintf(stderr, "%.2f s", (double)l->longest_ns / 1e9);
	fprintf(stderr, " (pid %u): %s", l->longest_pid,
		l->longest_task ? "task " : "a callback, no task");
	print_quoted(r, "", l->longest_task);
	print_quoted(r, ", in span ", l->longest_span);
	fputc('\n', stderr);
}

/* HotSpot's own code keeps the frame pointer of whoever called it, so that a walk by frame pointers
   leaves frames out and ends well all the same: its stacks count as complete. */
static void print_runtimes(const struct recording *r)
{
	for (uint32_t i = 1; i <= profile_n_mappings(r->profile); i++) {
		const struct profile_mapping *m = profile_get_mapping(r->profile, i);
		const char *name = strrchr(profile_get_string(r->profile, m->filename), '/');

		if (!name || strcmp(name, "/libjvm.so"))
			continue;
		fputs("weft: of JVMs the stacks lack Java frames, and those there are have names "
		      "only by a perf map (jcmd PID Compiler.perfmap); weft jfr reads what JVMs "
		      "record\n",
		      stderr);
		return;
	}
}

void recording_print_end(const struct recording *r, const struct accounting *a)
{
	char safe[512];

	if (!profile_n_samples(r->profile))
		explain_nothing(r);
	if (log_get_level() < LOG_NORMAL)
		return;
	fprintf(stderr, "weft: %" PRIu64 " samples in %.1f s · ", a->sampled,
		(double)r->duration_ns / 1e9);
	accounting_print(a, stderr);
	fprintf(stderr, " · wrote %s\n",
		strcmp(r->path, "-") ? text_safe(r->path, safe, sizeof(safe)) : "to stdout");
	print_loops(r);
	print_runtimes(r);
	if (log_get_level() >= LOG_VERBOSE)
		accounting_print_all(r->profile, stderr);
	if (profile_n_samples(r->profile))
		print_top(r);
}

static int judge_nothing(const struct recording *r)
{
	if (r->child.pid)
		return EXIT_OK;
	if (r->pids.n && r->cause == END_TARGET_GONE)
		return EXIT_NO_TARGET;
	if (r->opt.comms.n && !r->pids.n && !targets_any_named(r->opt.comms.items[0]))
		return EXIT_NO_TARGET;
	return !r->pids.n || r->opt.kernel_only || missed(r) || is_idle(r) ? EXIT_OK : EXIT_FAILED;
}

int recording_judge(const struct recording *r, const struct accounting *a)
{
	double lost = accounting_lost_percent(a), complete = accounting_complete_percent(a);

	if (!profile_n_samples(r->profile))
		return judge_nothing(r);
	if (r->opt.max_loss >= 0 && lost > r->opt.max_loss) {
		log_error("%.2f%% of the samples were lost, more than --max-loss %g", lost,
			  r->opt.max_loss);
		return EXIT_INCOMPLETE;
	}
	if (r->opt.min_complete >= 0 && complete < r->opt.min_complete) {
		log_error("%.2f%% of the stacks are complete, less than --min-complete %g",
			  complete, r->opt.min_complete);
		return EXIT_INCOMPLETE;
	}
	return EXIT_OK;
}
