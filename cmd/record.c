// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/cpus.h"
#include "bpf/live.h"
#include "bpf/memory_plan.h"
#include "bpf/sampler.h"
#include "cmd/accounting.h"
#include "cmd/capabilities.h"
#include "cmd/child.h"
#include "cmd/cost.h"
#include "cmd/interrupt.h"
#include "cmd/output.h"
#include "cmd/recording.h"
#include "cmd/status.h"
#include "cmd/targets.h"
#include "cmd/verb.h"
#include "core/log.h"
#include "core/privileges.h"
#include "core/profile.h"
#include "core/scoped.h"
#include "core/text.h"

#define PUMP_MS 200 /* how late the end of a target is seen */

static int usage(const char *why)
{
	log_error("record: %s\n  see: weft help record", why);
	return EXIT_USAGE;
}

static int check_event(const struct options *opt)
{
	char safe[256], names[SAMPLER_NAMES_MAX];

	if (sampler_find(opt->event))
		return EXIT_OK;
	log_error("record: no event %s\n  there is: %s", text_safe(opt->event, safe, sizeof(safe)),
		  sampler_names(names));
	return EXIT_USAGE;
}

static int check_frames(const struct options *opt)
{
	const struct sampler_ops *s = sampler_find(opt->event);

	if (opt->kernel_only && (opt->user_only || s->is_user_only))
		return usage(opt->user_only ? "--user-only and --kernel-only together leave nothing"
					    : "this event's stacks have no kernel frames: leave "
					      "--kernel-only out");
	return EXIT_OK;
}

static int check_memory(const struct options *opt)
{
	uint64_t least;
	struct cpus cpus;

	if (!opt->memory || cpus_load(&cpus, NULL))
		return EXIT_OK;
	least = memory_least(cpus.n_possible, cpus.n_online);
	if (opt->memory < least)
		log_error("record: --memory is at least %" PRIu64 "M on this machine (%d CPUs): "
			  "weft does not run in less",
			  least >> 20, cpus.n_online);
	cpus_deinit(&cpus);
	return opt->memory < least ? EXIT_USAGE : EXIT_OK;
}

static int check_options(const struct options *opt)
{
	size_t named = opt->pids.n + opt->pid_names.n + opt->tids.n + opt->comms.n + opt->cgroups.n;

	if (!named && !opt->all && !opt->command)
		return usage("what? -p PID, -a, --comm NAME, --cgroup PATH, --tid TID or -- CMD");
	if (named && opt->all)
		return usage("--all is everything: leave the other targets out");
	if (named && opt->command)
		return usage("either CMD or a running target, not both");
	if (opt->snapshot_size > 64 << 10)
		return usage("--snapshot-size is at most 64K");
	if (check_event(opt) || check_frames(opt) || check_memory(opt))
		return EXIT_USAGE;
	if (sampler_find(opt->event)->is_swept && opt->tids.n)
		return usage("asyncio tasks are a process's, not a thread's: -p PID, not --tid");
	return EXIT_OK;
}

/* Starts CMD, or finds the processes; either way the kernel half gets pids. */
static int find_targets(struct recording *r)
{
	/* A profile on stdout is not mixed with what CMD says. */
	bool is_taken = r->opt.output && !strcmp(r->opt.output, "-");
	int status = EXIT_OK, err;

	if (!r->opt.command)
		return targets_find(&r->opt, &r->pids);
	err = child_start(&r->child, r->opt.command, is_taken ? STDERR_FILENO : STDOUT_FILENO);
	if (err < 0) {
		log_error("cannot start %s: %s", r->opt.command[0], strerror(-err));
		return EXIT_FAILED;
	}
	if (!r->opt.all)
		status = recording_add_pid(r, r->child.pid);
	return status;
}

/* A path that cannot be written is found out before the work, not after it. */
static int check_output(struct recording *r)
{
	int err;

	r->path = recording_path(r);
	if (!r->path)
		return EXIT_FAILED;
	r->exporter = output_format(&r->opt, r->path);
	if (!r->exporter)
		return EXIT_USAGE;
	err = output_check(r->path);
	if (!err)
		return EXIT_OK;
	log_error("cannot write %s: %s\n  choose another file with -o", r->path, strerror(-err));
	return EXIT_FAILED;
}

static int open_source(struct recording *r)
{
	int err;

	r->src = source_open(&source_live, NULL, &r->opt, &err);
	if (r->src)
		return EXIT_OK;
	if (err == -EPERM || err == -EACCES || err == -ENOTSUP || err == -ENOSYS)
		return EXIT_PRIVILEGE;
	return err == -ESRCH || err == -ENOENT ? EXIT_NO_TARGET : EXIT_FAILED;
}

static int start_command(struct recording *r)
{
	int err;

	if (!r->child.pid)
		return EXIT_OK;
	err = child_go(&r->child);
	if (!err)
		return EXIT_OK;
	log_error("cannot run %s: %s", r->opt.command[0], strerror(-err));
	while (!child_wait(&r->child, false))
		;
	return child_exit_status(&r->child);
}

/* Why to stop, or END_NOT to go on. */
static enum end_cause end_of(struct recording *r)
{
	if (interrupt_count())
		return END_INTERRUPTED;
	if (r->child.pid && child_has_ended(&r->child))
		return END_TARGET_GONE;
	if (r->opt.duration_ns && recording_elapsed(r) >= r->opt.duration_ns)
		return END_DURATION;
	if (!r->child.pid && r->pids.n && !r->opt.comms.n && !r->opt.cgroups.n && !r->opt.tids.n &&
	    !targets_alive(&r->pids))
		return END_TARGET_GONE;
	return END_NOT;
}

static int wait_ms(const struct recording *r)
{
	uint64_t elapsed = recording_elapsed(r), left;

	if (!r->opt.duration_ns)
		return PUMP_MS;
	left = elapsed < r->opt.duration_ns ? r->opt.duration_ns - elapsed : 0;
	return left / 1000000 < PUMP_MS ? (int)(left / 1000000) + 1 : PUMP_MS;
}

/* Once a second: what it costs, and the status line where there is a terminal. */
static void look(struct recording *r)
{
	uint64_t elapsed = recording_elapsed(r);
	struct live_stats stats;

	if (elapsed / 1000000000 < r->n_looks)
		return;
	r->n_looks = elapsed / 1000000000 + 1;
	if (r->opt.stats) {
		live_stats(r->src, &stats);
		cost_update(&r->cost, stats.map_bytes);
	}
	if (r->has_status_line) {
		struct accounting a = recording_accounting(r);
		char line[256];

		status_show(status_line(r->profile, &a, elapsed, line, sizeof(line)));
	}
}

/* The second ^C: what takes long ends with what there is. */
static bool is_hurried(void)
{
	return interrupt_count() >= 2;
}

static void name_locations(struct recording *r)
{
	size_t n_left = live_finish(r->src, r->profile, is_hurried);

	if (n_left)
		log_info("stopped: %zu location%s without a name yet; weft symbolize names them",
			 n_left, n_left == 1 ? "" : "s");
}

static int sample(struct recording *r)
{
	int more = 1;

	while (more > 0 && (r->cause = end_of(r)) == END_NOT) {
		more = source_pump(r->src, r->profile, wait_ms(r));
		if (more == -EINTR)
			more = 1;
		look(r);
	}
	if (r->cause == END_NOT)
		r->cause = more < 0 ? END_FAILED : END_TARGET_GONE;
	r->duration_ns = recording_elapsed(r);
	live_stop(r->src);
	while (more >= 0 && !is_hurried() && (more = source_pump(r->src, r->profile, PUMP_MS)) != 0)
		if (more == -EINTR)
			more = 1;
	name_locations(r);
	if (r->has_status_line)
		status_show("");
	if (more >= 0)
		return EXIT_OK;
	log_error("sampling failed: %s; writing what there is", strerror(-more));
	return EXIT_FAILED;
}

static uint64_t written_bytes(const struct recording *r)
{
	struct stat st;

	return strcmp(r->path, "-") && !stat(r->path, &st) ? (uint64_t)st.st_size : 0;
}

static int finish(struct recording *r)
{
	struct accounting a;
	struct live_stats stats;
	int status;

	recording_set_header(r);
	a = accounting_of(r->profile);
	live_stats(r->src, &stats);
	recording_set_loops(r);
	cost_update(&r->cost, stats.map_bytes);
	/* The profile has all of it: the exporter may need the memory. */
	source_close(r->src);
	r->src = NULL;
	status = profile_error(r->profile) ? EXIT_FAILED : EXIT_OK;
	if (status)
		log_error("out of memory: the profile is not complete");
	cost_begin_writing(&r->cost);
	if (output_write(r->exporter, r->profile, r->path, privileges_any()))
		return EXIT_FAILED;
	cost_end_writing(&r->cost);
	recording_print_end(r, &a);
	if (r->opt.stats)
		cost_print(&r->cost, &stats, a.sampled, written_bytes(r), stderr);
	return status ? status : recording_judge(r, &a);
}

/* False: it is still running, which was said. */
static bool wait_for_command(struct recording *r, bool asks)
{
	if (asks) {
		if (child_wait(&r->child, true))
			return true;
		log_error("%s (pid %d) is still running after SIGTERM", r->opt.command[0],
			  r->child.pid);
		return false;
	}
	if (!child_has_ended(&r->child))
		log_info("waiting for %s (pid %d), which got the ^C too", r->opt.command[0],
			 r->child.pid);
	while (!child_wait(&r->child, false))
		if (interrupt_count() >= 2)
			return false;
	return true;
}

/* CMD's own status, unless weft was what ended it. What it started goes with it. */
static int end_command(struct recording *r, int status)
{
	bool asks = r->cause != END_TARGET_GONE &&
		    !(r->cause == END_INTERRUPTED && interrupt_was_typed());

	if (!r->child.pid || !r->is_running || !wait_for_command(r, asks))
		return status;
	if (asks || !child_exit_status(&r->child))
		return status;
	return child_exit_status(&r->child);
}

static int record(struct recording *r)
{
	int status = find_targets(r);

	if (!status)
		status = check_output(r);
	if (!status)
		status = recording_prepare(r);
	if (!status)
		status = open_source(r);
	if (status)
		return status;
	cost_begin(&r->cost);
	recording_start_clock(r);
	status = start_command(r);
	if (status)
		return status;
	r->is_running = true;
	recording_print_start(r);
	capabilities_say_missing();
	status = sample(r);
	if (!status)
		status = finish(r);
	else
		finish(r);
	return end_command(r, status);
}

static int record_run(const struct options *opt)
{
	struct recording r;
	int status = check_options(opt);

	if (status)
		return status;
	interrupt_catch();
	recording_init(&r, opt);
	status = record(&r);
	recording_deinit(&r);
	return status;
}

const struct verb verb_record = {
	.bit = ON_RECORD,
	.name = "record",
	.synopsis = "[OPTIONS] -p PID | -a | --comm NAME | --cgroup PATH | -- CMD [ARG...]",
	.summary = "sample running programs, or one that it starts, into a profile",
	.description =
		"Samples the CPU use of the targets with their stacks (Python, native and kernel "
		"frames) and writes a profile. Nothing is attached to the targets and nothing in "
		"them is changed.\n\n"
		"With -- CMD, weft starts CMD, samples it from its first instruction to its end, "
		"and exits "
		"with its status. When weft stops first (--duration, SIGTERM), it ends CMD with "
		"SIGTERM. "
		"The first ^C stops the recording and writes the profile, the second writes at "
		"once what "
		"there is, the third ends weft without writing. A SIGHUP or SIGTERM that was "
		"ignored when weft "
		"started (nohup) stays so, for CMD too.\n\n"
		"At the end the ten functions that cost most are printed, of -e gil Python's: to "
		"stdout, but to stderr when stdout is the profile's or CMD's. With -o - CMD's own "
		"stdout goes to stderr too. "
		"A file of the same name is replaced only when "
		"the new "
		"one is complete. What was recorded with privileges is for its owner's eyes only "
		"(mode 0600); through sudo that is the user who asked.",
	.examples = "a process for ten seconds\nweft record -p 4711 -d 10\n"
		    "the whole machine, as a flame graph\nweft record -a -d 30 -o machine.html\n"
		    "a command, with what sampling cost\nweft record --stats -- make -j4\n"
		    "fail when the result cannot be trusted\nweft record -a -d 60 --max-loss 1 "
		    "--min-complete 99\n",
	.is_privileged = true,
	.run = record_run,
};
