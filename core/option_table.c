// SPDX-License-Identifier: Apache-2.0
/* The one table of options. */
#include "core/options.h"

#define ON_ALL (~0u)
#define FIELD(f) .offset = offsetof(struct options, f)

static const struct option_info table[] = {
	/* targets */
	{ ON_RECORD, "pid", 'p', 0, NULL, "PID|NAME",
	  "sample this process: a number, or a name that only one process has; "
	  "repeatable, or separated by commas",
	  "PID", OPTION_PIDS, FIELD(pids) },
	{ ON_DOCTOR, "pid", 'p', 0, NULL, "PID", "also say what weft knows of this process", "PID",
	  OPTION_PIDS, FIELD(pids) },
	{ ON_RECORD, "all", 'a', 0, NULL, NULL, "sample everything that runs on this machine", NULL,
	  OPTION_FLAG, FIELD(all) },
	{ ON_RECORD, "comm", 0, 0, NULL, "NAME",
	  "sample processes whose command name is NAME, also those that start later; "
	  "repeatable",
	  NULL, OPTION_COMMA_LIST, FIELD(comms) },
	{ ON_RECORD, "cgroup", 0, 0, NULL, "PATH",
	  "sample a cgroup and what is below it: a path under the cgroup root or an "
	  "absolute directory; repeatable",
	  "DIR", OPTION_LIST, FIELD(cgroups) },
	{ ON_RECORD, "tid", 0, 0, NULL, "TID",
	  "sample only this thread; repeatable, or separated by commas", NULL, OPTION_TIDS,
	  FIELD(tids) },
	{ ON_RECORD, "no-children", 0, 0, NULL, NULL,
	  "do not follow the children that a target starts", NULL, OPTION_FLAG,
	  FIELD(no_children) },
	/* sampling */
	{ ON_RECORD, "event", 'e', 0, NULL, "EVENT",
	  "what to sample: cpu (time on a CPU; default), async (where the asyncio tasks of CPython "
	  "are and wait), gil (time that threads are blocked on CPython's GIL)",
	  "cpu async gil", OPTION_STRING, FIELD(event) },
	{ ON_RECORD, "freq", 'F', 'r', "rate", "HZ",
	  "samples per second and CPU (default 99); of async: looks at all tasks per second "
	  "(default 10)",
	  NULL, OPTION_FREQ, FIELD(freq) },
	{ ON_RECORD, "duration", 'd', 0, NULL, "TIME",
	  "stop after this long: 30, 30s, 5m, 500ms (default: until ^C, or the end of CMD)", NULL,
	  OPTION_DURATION, FIELD(duration_ns) },
	{ ON_RECORD, "user-only", 0, 0, NULL, NULL, "leave kernel frames out", NULL, OPTION_FLAG,
	  FIELD(user_only) },
	{ ON_RECORD, "kernel-only", 0, 0, NULL, NULL, "leave user frames out", NULL, OPTION_FLAG,
	  FIELD(kernel_only) },
	{ ON_RECORD, "native-eval", 0, 0, NULL, NULL,
	  "show the interpreter's own frames that run Python ones", NULL, OPTION_FLAG,
	  FIELD(native_eval) },
	{ ON_RECORD, "async", 0, 0, NULL, NULL,
	  "behind the frames of an asyncio task show those of the tasks that wait for it, instead "
	  "of the event loop's",
	  NULL, OPTION_FLAG, FIELD(logical) },
	{ ON_RECORD, "block-ms", 0, 0, NULL, "N",
	  "mark the samples of event loops (asyncio, uvloop) that do not come back to their "
	  "selector for more than N milliseconds: loop=blocked",
	  NULL, OPTION_COUNT, FIELD(block_ms) },
	{ ON_RECORD, "snapshot-size", 0, 0, NULL, "SIZE",
	  "bytes of stack copied at most when the kernel half cannot walk on (default "
	  "and cap 64K)",
	  NULL, OPTION_SIZE, FIELD(snapshot_size) },
	{ ON_RECORD, "memory", 0, 0, NULL, "SIZE",
	  "the one budget for weft's memory and its BPF maps (default 48M, at least "
	  "24M; on more than 6 CPUs both are more: weft doctor says them)",
	  NULL, OPTION_SIZE, FIELD(memory) },
	/* output */
	{ ON_RECORD, "output", 'o', 0, NULL, "FILE",
	  "write here (default weft.pb.gz, - is stdout); %p pid, %c command, %t time, "
	  "%h host",
	  "FILE", OPTION_STRING, FIELD(output) },
	{ ON_REPORT | ON_SYMBOLIZE, "output", 'o', 0, NULL, "FILE", "write here (- is stdout)",
	  "FILE", OPTION_STRING, FIELD(output) },
	{ ON_RECORD | ON_REPORT | ON_SYMBOLIZE | ON_JFR, "format", 0, 0, NULL, "NAME",
	  "write this format whatever FILE ends in", "FORMAT", OPTION_STRING, FIELD(format) },
	{ ON_RECORD, "max-loss", 0, 0, NULL, "PERCENT",
	  "exit 5 when more samples than this were lost; the file is written all the same", NULL,
	  OPTION_PERCENT, FIELD(max_loss) },
	{ ON_RECORD, "min-complete", 0, 0, NULL, "PERCENT",
	  "exit 5 when fewer stacks than this are complete; the file is written all the "
	  "same",
	  NULL, OPTION_PERCENT, FIELD(min_complete) },
	{ ON_RECORD, "stats", 0, 0, NULL, NULL, "say at the end what weft itself cost", NULL,
	  OPTION_FLAG, FIELD(stats) },
	/* symbols */
	{ ON_RECORD | ON_SYMBOLIZE, "debug-dir", 0, 0, NULL, "DIR",
	  "look for separate debug files here (default /usr/lib/debug); repeatable", "DIR",
	  OPTION_LIST, FIELD(debug_dirs) },
	{ ON_RECORD | ON_SYMBOLIZE, "debuginfod", 0, 0, NULL, NULL,
	  "ask the servers in DEBUGINFOD_URLS for missing debug files", NULL, OPTION_FLAG,
	  FIELD(debuginfod) },
	/* report */
	{ ON_REPORT, "top", 0, 0, NULL, NULL, "the functions that cost most (default)", NULL,
	  OPTION_VIEW, 0, .value = VIEW_TOP },
	{ ON_REPORT, "tree", 0, 0, NULL, NULL, "the call tree from its roots", NULL, OPTION_VIEW, 0,
	  .value = VIEW_TREE },
	{ ON_REPORT, "callers", 0, 0, NULL, "REGEX",
	  "the tree of callers above the functions that match", NULL, OPTION_VIEW, 0,
	  .value = VIEW_CALLERS },
	{ ON_REPORT, "peek", 0, 0, NULL, "REGEX",
	  "direct callers and callees of the functions that match", NULL, OPTION_VIEW, 0,
	  .value = VIEW_PEEK },
	{ ON_REPORT, "focus", 0, 0, NULL, "REGEX",
	  "only stacks with a function, source file or binary that matches", NULL, OPTION_REGEX,
	  FIELD(focus) },
	{ ON_REPORT, "ignore", 0, 0, NULL, "REGEX",
	  "no stacks with a function, source file or binary that matches", NULL, OPTION_REGEX,
	  FIELD(ignore) },
	{ ON_REPORT, "label", 0, 0, NULL, "KEY=VALUE",
	  "only samples with this label (pid=4711); repeatable, all must hold", NULL, OPTION_LABEL,
	  FIELD(labels) },
	{ ON_REPORT, "by", 0, 0, NULL, "KEY",
	  "begin every stack with what this label says (span_name, task, thread, pid)", NULL,
	  OPTION_STRING, FIELD(by) },
	{ ON_REPORT, "only", 0, 0, NULL, "LANGUAGE",
	  "only frames of this language (python, java, go, native, kernel, jit): what they call "
	  "in others counts as their own",
	  "python java go native kernel jit", OPTION_STRING, FIELD(only) },
	{ ON_REPORT | ON_JFR, "sample-type", 0, 0, NULL, "TYPE",
	  "which value to show, also in what -o writes: samples, cpu, ... (default: the file's "
	  "own)",
	  NULL, OPTION_STRING, FIELD(sample_type) },
	{ ON_REPORT | ON_JFR, "rows", 'n', 0, NULL, "N",
	  "at most so many rows (default: all; of jfr 20)", NULL, OPTION_COUNT, FIELD(n_rows) },
	{ ON_REPORT | ON_JFR, "no-pager", 0, 0, NULL, NULL, "do not page, even on a terminal", NULL,
	  OPTION_FLAG, FIELD(no_pager) },
	/* jfr */
	{ ON_JFR, "events", 0, 0, NULL, "EVENTS",
	  "only these groups of events, or single types (jdk.CPULoad, GC*), separated by "
	  "commas (default: all)",
	  ",cpu wall native alloc live malloc lock park wait sleep io exception method pinned gc "
	  "safepoint compile load memory thread span log other all",
	  OPTION_STRING, FIELD(events) },
	{ ON_JFR, "from", 0, 0, NULL, "TIME",
	  "only what began then or later: 2026-11-21T10:00:05Z, or 90s after the start, of several "
	  "recordings the earliest that is not packed, else the first",
	  NULL, OPTION_STRING, FIELD(from) },
	{ ON_JFR, "to", 0, 0, NULL, "TIME", "only what began before", NULL, OPTION_STRING,
	  FIELD(to) },
	{ ON_JFR, "thread", 0, 0, NULL, "NAME", "only this thread: its name or its number", NULL,
	  OPTION_STRING, FIELD(thread) },
	{ ON_JFR, "hidden-frames", 0, 0, NULL, NULL,
	  "keep the frames that the JVM itself hides, of lambdas and method handles", NULL,
	  OPTION_FLAG, FIELD(hidden_frames) },
	{ ON_JFR, "show-secrets", 0, 0, NULL, NULL,
	  "do not redact what may hold secrets: arguments, properties, environment, messages", NULL,
	  OPTION_FLAG, FIELD(show_secrets) },
	{ ON_JFR, "path-template", 0, 0, NULL, "TEMPLATE",
	  "what the recordings' paths say: /data/{ns}/{pod}/{service}; names are service, version, "
	  "host, node, ns, pod, uid, container and deployment, * is anything",
	  NULL, OPTION_STRING, FIELD(path_template) },
	{ ON_JFR, "check", 0, 0, NULL, NULL,
	  "say what is damaged, where, and what is lost; exit 6 when something is", NULL,
	  OPTION_FLAG, FIELD(check) },
	{ ON_JFR, "output", 'o', 0, NULL, "FILE",
	  "write here (- is stdout); of .json one ProfileEvent a line", "FILE", OPTION_STRING,
	  FIELD(output) },
	{ ON_JFR, "workers", 0, 0, NULL, "N",
	  "read a recording with so many threads, if it has the chunks for it", NULL, OPTION_COUNT,
	  FIELD(workers), .is_hidden = true },
	{ ON_JFR, "watch", 0, 0, NULL, NULL,
	  "follow the recordings that are written into the directories, until ^C", NULL,
	  OPTION_FLAG, FIELD(watch) },
	{ ON_JFR, "duration", 'd', 0, NULL, "TIME",
	  "with --watch: stop after this long: 30, 30s, 5m (default: until ^C)", NULL,
	  OPTION_DURATION, FIELD(duration_ns) },
	{ ON_JFR, "ledger", 0, 0, NULL, "FILE",
	  "where --watch remembers what it exported (default: a file of /var/lib/weft or "
	  "~/.local/state/weft for these directories)",
	  "FILE", OPTION_STRING, FIELD(ledger) },
	{ ON_JFR, "history", 0, 0, NULL, "TIME",
	  "with --watch: how far back what is there already is exported, the first time that a "
	  "directory is watched: all, none, or a time (default 1h)",
	  "all none", OPTION_STRING, FIELD(history) },
	{ ON_JFR, "stale", 0, 0, NULL, "TIME",
	  "with --watch: a recording that does not grow for so long, and that no process has "
	  "open, is read as far as it goes (default 1m)",
	  NULL, OPTION_DURATION, FIELD(stale_ns) },
	{ ON_JFR, "rotate-age", 0, 0, NULL, "TIME",
	  "with --watch: at least this long between two files of one recording (default 500ms)",
	  NULL, OPTION_DURATION, FIELD(rotate_age_ns) },
	{ ON_JFR, "rotate-size", 0, 0, NULL, "SIZE",
	  "with --watch: begin another file after so many bytes (default 64M)", NULL, OPTION_SIZE,
	  FIELD(rotate_size) },
	{ ON_JFR, "keep-size", 0, 0, NULL, "SIZE",
	  "with --watch: delete the oldest files of the output beyond so many bytes together", NULL,
	  OPTION_SIZE, FIELD(keep_size) },
	{ ON_JFR, "keep-age", 0, 0, NULL, "TIME",
	  "with --watch: delete files of the output that are older", NULL, OPTION_DURATION,
	  FIELD(keep_ns) },
	{ ON_JFR, "metrics", 0, 0, NULL, "TIME",
	  "with --watch: a line of figures on stderr this often (default 1m where there is no "
	  "terminal)",
	  NULL, OPTION_DURATION, FIELD(metrics_ns) },
	/* the rest */
	{ ON_DOCTOR | ON_DUMP | ON_JFR, "json", 0, 0, NULL, NULL, "one JSON document", NULL,
	  OPTION_FLAG, FIELD(json) },
	{ ON_DOCTOR, "sysroot", 0, 0, NULL, "DIR",
	  "read /proc, /sys and /boot below DIR and try no system calls", "DIR", OPTION_STRING,
	  FIELD(sysroot), .is_hidden = true },
	{ ON_HELP, "verbs", 0, 0, NULL, NULL, "the names of the verbs, a line each", NULL,
	  OPTION_FLAG, FIELD(list_verbs), .is_hidden = true },
	{ ON_HELP, "man", 0, 0, NULL, NULL, "the manual page as roff", NULL, OPTION_FLAG,
	  FIELD(man), .is_hidden = true },
	{ ON_RECORD | ON_SYMBOLIZE | ON_JFR, "quiet", 'q', 0, NULL, NULL, "say nothing but errors",
	  NULL, OPTION_FLAG, FIELD(quiet) },
	{ ON_RECORD | ON_REPORT | ON_SYMBOLIZE | ON_DUMP | ON_JFR, "verbose", 'v', 0, NULL, NULL,
	  "say more: reasons and details", NULL, OPTION_FLAG, FIELD(verbose) },
	{ ON_DOCTOR, "verbose", 'v', 0, NULL, NULL,
	  "with --pid: every binary of the process, not only the largest", NULL, OPTION_FLAG,
	  FIELD(verbose) },
	{ ON_ALL, "help", 'h', 0, NULL, NULL, "show this help", NULL, OPTION_FLAG, FIELD(help) },
};

const struct option_info *options_table(size_t *n)
{
	*n = sizeof(table) / sizeof(table[0]);
	return table;
}
