// SPDX-License-Identifier: Apache-2.0
#include "cmd/dump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/show.h"
#include "cmd/targets.h"
#include "cmd/verb.h"
#include "core/log.h"
#include "core/privileges.h"
#include "core/scoped.h"
#include "runtimes/process.h"
#include "symbolizer/object.h"

SCOPED_DEFINE(struct objects, objects_free)
SCOPED_DEFINE(struct processes, processes_free)

const char *dump_version(uint32_t version, char out[16])
{
	snprintf(out, 16, "%u.%u.%u", version >> 24, version >> 16 & 255, version >> 8 & 255);
	return out;
}

/* Times of another clock, as in a time namespace, may lie on the other side of now. */
bool dump_waited(const struct python_dump *d, const struct python_timer *timer, double *out)
{
	if (!timer->since_ns || timer->since_ns > d->time_ns)
		return false;
	*out = (double)(d->time_ns - timer->since_ns) / 1e9;
	return true;
}

bool dump_left(const struct python_dump *d, const struct python_timer *timer, double *out)
{
	if (timer->due_ns <= d->time_ns)
		return false;
	*out = (double)(timer->due_ns - d->time_ns) / 1e9;
	return true;
}

static int say_why(const struct python_dump *d, pid_t pid, int err)
{
	struct pid_list list = { &pid, 1 };
	char version[16];

	switch (err) {
	case -ENOENT:
		log_error("process %d runs no CPython; weft dump knows no other runtime", pid);
		return EXIT_FAILED;
	case -ENOTSUP:
		log_error("process %d runs CPython %s, which weft dump does not know", pid,
			  dump_version(d->version, version));
		fprintf(stderr, "  it knows 3.7 to 3.15\n");
		return EXIT_FAILED;
	case -EBADMSG:
		log_error("process %d has an interpreter that was not started, or damaged", pid);
		return EXIT_FAILED;
	case -EPERM:
		log_error("cannot read the memory of process %d: %s", pid,
			  privileges_why_refused());
		fprintf(stderr, "  see: weft doctor --pid %d\n", pid);
		return EXIT_PRIVILEGE;
	case -ETIMEDOUT:
		log_error("process %d keeps whoever reads its memory waiting; weft waits no longer",
			  pid);
		fprintf(stderr, "  its pages may come from a file system that does not answer\n");
		return EXIT_FAILED;
	case -ESRCH:
		if (targets_alive(&list)) {
			log_error("process %d has no memory: it is a part of the kernel", pid);
			return EXIT_FAILED;
		}
		log_error("process %d ended", pid);
		return EXIT_NO_TARGET;
	default:
		log_error("%s", strerror(-err));
		return EXIT_FAILED;
	}
}

static int print(const struct options *opt, const struct python_dump *d, pid_t pid)
{
	int err = 0;

	pager_start();
	if (opt->json)
		dump_print_json(d, pid, stdout);
	else
		err = dump_print_text(d, pid, opt->verbose, stdout);
	pager_stop();
	if (err < 0)
		log_error("%s", strerror(-err));
	return err < 0 ? EXIT_FAILED : EXIT_OK;
}

static int dump(const struct options *opt, pid_t pid)
{
	SCOPED(objects_free)
	struct objects *objects = objects_new(&(struct object_options){ .debug_dirs = NULL });
	SCOPED(processes_free) struct processes *ps = objects ? processes_new(objects) : NULL;
	struct python_dump d = { 0 };
	int err = ps ? python_dump_read(ps, pid, PYTHON_DUMP_ALL, NULL, &d) : -ENOMEM;
	int status = err < 0 ? say_why(&d, pid, err) : print(opt, &d, pid);

	python_dump_deinit(&d);
	return status;
}

static int dump_run(const struct options *opt)
{
	struct options wanted = { .pids = opt->pids, .pid_names = opt->pid_names };
	struct pid_list found;
	unsigned int number;
	pid_t pid = 0;
	int status;

	if (opt->files.n + opt->pids.n + opt->pid_names.n != 1) {
		log_error("dump: one process, please: weft dump %s", verb_dump.synopsis);
		fprintf(stderr, "  see: weft help dump\n");
		return EXIT_USAGE;
	}
	if (opt->files.n && !parse_count(opt->files.items[0], 1, INT32_MAX, &number)) {
		pid = (pid_t)number;
		wanted.pids = (struct pid_list){ &pid, 1 };
	} else if (opt->files.n) {
		wanted.pid_names = opt->files;
	}
	status = targets_find(&wanted, &found);
	if (!status)
		pid = found.items[0];
	free(found.items);
	return status ? status : dump(opt, pid);
}

const struct verb verb_dump = {
	.bit = ON_DUMP,
	.name = "dump",
	.synopsis = "[--json] PID|NAME",
	.summary = "show what the threads and asyncio tasks of a Python process are doing",
	.description =
		"Prints every thread of a CPython process (3.7 to 3.15) with its Python stack, and "
		"every asyncio task with its await chain, what it waits for, and under it the "
		"tasks that it waits for: by a plain await, gather, wait, wait_for, shield or a "
		"TaskGroup. Stacks are printed as Python does, the most recent call last. "
		"Tasks that wait in the same place for the same thing are shown once, with -v each "
		"by itself. Paths are those below the folders of packages and of the standard "
		"library, with -v whole.\n\n"
		"The process is never stopped, only its memory is read. A suspended task does not "
		"change meanwhile; a task that does is read again, and left out and counted when "
		"it keeps changing. The stack of a thread that runs can be torn, and is marked so.",
	.examples = "what does a service that hangs wait for?\nweft dump 4711\n"
		    "for a program\nweft dump --json 4711\n",
	.words = "PID",
	.max_args = 1,
	.run = dump_run,
};
