// SPDX-License-Identifier: Apache-2.0
/* What weft would know of one process. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/doctor.h"
#include "cmd/targets.h"
#include "cmd/verb.h"
#include "core/privileges.h"
#include "core/scoped.h"
#include "core/text.h"
#include "runtimes/process.h"
#include "runtimes/python.h"
#include "runtimes/procfs.h"
#include "symbolizer/object.h"

SCOPED_DEFINE(struct objects, objects_free)
SCOPED_DEFINE(struct processes, processes_free)

/* False for what has nothing but kernel frames. */
static bool check_exe(struct findings *all, pid_t pid)
{
	struct finding *f = findings_add(all, "program");
	char path[64], exe[4096], safe[256], comm[16], safe_comm[64];
	unsigned char ident[EI_NIDENT] = { 0 };
	SCOPED(close) int fd = -1;
	struct proc_stat st;
	ssize_t len;

	text_safe(target_comm(pid, comm), safe_comm, sizeof(safe_comm));
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	len = readlink(path, exe, sizeof(exe) - 1);
	if (len < 0 && errno == ENOENT && !procfs_stat(pid, &st) && st.is_kernel_thread) {
		finding_set(f, FINDING_OK, "", "%s, a kernel thread: it has kernel frames only",
			    safe_comm);
		return false;
	}
	if (len < 0) {
		finding_set(f, FINDING_PART, "", "%s: its program cannot be seen: %s", safe_comm,
			    errno == ENOENT ? "its main thread has ended"
					    : privileges_why_refused());
		return true;
	}
	exe[len] = 0;
	text_safe(exe, safe, sizeof(safe));
	finding_set(f, FINDING_OK, "", "%s (%s)", safe, safe_comm);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, ident, sizeof(ident)) == sizeof(ident) &&
	    ident[EI_CLASS] == ELFCLASS32)
		finding_set(f, FINDING_NO, "",
			    "%s is a 32-bit program: weft counts its ticks, but cannot walk it",
			    safe);
	return true;
}

static void check_container(struct findings *all, pid_t pid)
{
	char id[CONTAINER_ID_SIZE];

	if (!procfs_container(pid, id) && *id)
		finding_set(findings_add(all, "container"), FINDING_OK, "", "%s", id);
}

/* Languages whose own frames weft does not know, by the start of the name of a file they map. */
static const struct runtime_hint {
	const char *file, *name, *what;
} runtime_hints[] = {
	{ "libjvm.so", "HotSpot",
	  "stacks lack Java frames, and names need a perf map (jcmd PID Compiler.perfmap)" },
	{ "node", "Node.js", "JavaScript functions have names only by a perf map" },
};

static const struct runtime_hint *find_hint(const char *path)
{
	const char *slash = strrchr(path, '/');

	for (size_t i = 0; slash && i < sizeof(runtime_hints) / sizeof(runtime_hints[0]); i++)
		if (!strncmp(slash + 1, runtime_hints[i].file, strlen(runtime_hints[i].file)))
			return &runtime_hints[i];
	return NULL;
}

static bool check_python(struct finding *f, struct processes *ps, struct process *proc)
{
	bool is_known = false;
	uint32_t version = python_version_of(ps, proc, &is_known);

	if (!version)
		return false;
	finding_set(f, is_known ? FINDING_OK : FINDING_PART, "", "CPython %u.%u.%u%s",
		    version >> 24, version >> 16 & 255, version >> 8 & 255,
		    is_known ? ": Python functions, lines and asyncio tasks"
			     : ", which weft does not know: native frames only");
	return true;
}

static void check_runtime(struct findings *all, struct processes *ps, struct process *proc)
{
	struct finding *f = findings_add(all, "runtime");
	const struct runtime_hint *hint = NULL;
	bool is_go = false;

	if (check_python(f, ps, proc))
		return;
	for (size_t i = 0; i < proc->n_mappings && !hint; i++) {
		const struct mapping *m = &proc->mappings[i];

		if (m->kind == MAPPING_FILE)
			hint = find_hint(processes_string(ps, m->path));
		is_go |= m->object && object_is_go(m->object);
	}
	if (hint)
		finding_set(f, FINDING_PART, "", "%s: %s", hint->name, hint->what);
	else
		finding_set(f, FINDING_OK, "",
			    is_go ? "Go, whose frames are native ones" : "native");
}

int doctor_check_process(struct findings *all, pid_t pid, bool all_binaries)
{
	struct options wanted = { .pids = { &pid, 1 } };
	struct pid_list found;
	int status = targets_find(&wanted, &found);
	SCOPED(objects_free) struct objects *objects = NULL;
	SCOPED(processes_free) struct processes *ps = NULL;
	struct process *proc;

	free(found.items);
	if (status)
		return status;
	objects = objects_new(&(struct object_options){ 0 });
	ps = objects ? processes_new(objects) : NULL;
	if (!check_exe(all, pid))
		return EXIT_OK;
	check_container(all, pid);
	proc = ps ? processes_find(ps, pid, 0, 0) : NULL;
	if (!proc || (proc->maps_err && !proc->n_mappings))
		finding_set(findings_add(all, "mappings"), FINDING_PART, "",
			    "they cannot be read (%s): user frames will have no names",
			    proc && proc->maps_err == -EPERM ? privileges_why_refused()
							     : "the process has ended");
	else if (doctor_check_binaries(all, ps, proc, all_binaries) < 0)
		all->has_failed = true;
	else if (proc->n_mappings)
		check_runtime(all, ps, proc);
	return EXIT_OK;
}
