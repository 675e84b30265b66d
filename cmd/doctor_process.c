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
#include "core/log.h"
#include "core/scoped.h"
#include "core/text.h"
#include "runtimes/process.h"
#include "runtimes/python.h"
#include "runtimes/procfs.h"
#include "symbolizer/object.h"

#define BINARIES_SHOWN 8 /* the largest by executable bytes */

SCOPED_DEFINE(struct objects, objects_free)
SCOPED_DEFINE(struct processes, processes_free)

static void check_exe(struct findings *all, pid_t pid)
{
	struct finding *f = findings_add(all, "program");
	char path[64], exe[4096], safe[256], comm[16], safe_comm[64];
	unsigned char ident[EI_NIDENT] = { 0 };
	SCOPED(close) int fd = -1;
	ssize_t len;

	text_safe(target_comm(pid, comm), safe_comm, sizeof(safe_comm));
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	len = readlink(path, exe, sizeof(exe) - 1);
	if (len < 0 && errno == ENOENT) {
		finding_set(f, FINDING_OK, "", "%s, a kernel thread: it has kernel frames only",
			    safe_comm);
		return;
	}
	if (len < 0) {
		finding_set(f, FINDING_PART, "CAP_SYS_PTRACE", "%s: its program cannot be seen: %s",
			    safe_comm, strerror(errno));
		return;
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
}

static void check_container(struct findings *all, pid_t pid)
{
	char id[CONTAINER_ID_SIZE];

	if (!procfs_container(pid, id) && *id)
		finding_set(findings_add(all, "container"), FINDING_OK, "", "%s", id);
}

static int by_size(const void *a, const void *b)
{
	const struct mapping *x = *(struct mapping *const *)a, *y = *(struct mapping *const *)b;
	uint64_t x_len = x->end - x->start, y_len = y->end - y->start;

	return x_len < y_len ? 1 : x_len > y_len ? -1 : 0;
}

/* What callers are found by; NULL when there is nothing. */
static const char *unwind_source(struct object *o)
{
	const void *data;
	uint64_t vaddr;
	size_t len;

	if (object_section(o, ".eh_frame", &data, &len, &vaddr))
		return ".eh_frame";
	return object_section(o, ".debug_frame", &data, &len, &vaddr) ? ".debug_frame" : NULL;
}

static void describe_object(struct findings *all, struct object *o, const char *path)
{
	const char *symbols = object_symbol_source(o), *unwind = unwind_source(o);
	struct finding *f = findings_add(all, "binary");

	if (!strcmp(symbols, "none"))
		finding_set(f, FINDING_PART, "install its debug symbols, or --debuginfod",
			    "%s: no symbols, its frames will have no names", path);
	else if (!unwind)
		finding_set(f, FINDING_PART, "",
			    "%s: symbols from %s; no unwind data, callers are guessed", path,
			    symbols);
	else
		finding_set(f, FINDING_OK, "", "%s: symbols from %s%s, callers by %s", path,
			    symbols,
			    strcmp(symbols, "dynsym") ? "" : " (only what it exports has names)",
			    unwind);
}

static void check_binary(struct findings *all, struct processes *ps, struct process *proc,
			 uint64_t start)
{
	struct mapping *m = process_mapping(ps, proc, start);
	char path[256];

	if (!m)
		return; /* it was unmapped just now */
	text_safe(processes_string(ps, m->path), path, sizeof(path));
	if (m->object)
		describe_object(all, m->object, path);
	else
		finding_set(findings_add(all, "binary"), FINDING_PART, "",
			    "%s cannot be opened: its frames will have no names", path);
}

/* Languages whose own frames weft does not know, by the start of the name of a file they map. */
static const struct runtime_hint {
	const char *file, *name, *what;
} runtime_hints[] = {
	{ "libjvm.so", "HotSpot", "Java methods have names only by a perf map" },
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

static void count_mappings(struct findings *all, const struct process *proc, size_t n_files)
{
	size_t n_anonymous = 0;

	for (size_t i = 0; i < proc->n_mappings; i++)
		n_anonymous += proc->mappings[i].kind == MAPPING_ANON;
	finding_set(findings_add(all, "mappings"), FINDING_OK, "",
		    "%zu executable: %zu of files, %zu anonymous%s", proc->n_mappings, n_files,
		    n_anonymous,
		    n_anonymous ? " (generated code: names only from a perf map or jitdump)" : "");
}

static int check_mappings(struct findings *all, struct processes *ps, struct process *proc)
{
	SCOPED(free) struct mapping **files = calloc(proc->n_mappings + 1, sizeof(*files));
	uint64_t starts[BINARIES_SHOWN];
	size_t n = 0, shown = 0;

	if (!files)
		return -ENOMEM;
	for (size_t i = 0; i < proc->n_mappings; i++)
		if (proc->mappings[i].kind == MAPPING_FILE)
			files[n++] = &proc->mappings[i];
	count_mappings(all, proc, n);
	qsort(files, n, sizeof(*files), by_size);
	for (size_t i = 0; i < n && shown < BINARIES_SHOWN; i++)
		starts[shown++] = files[i]->start; /* opening one may move the mappings */
	for (size_t i = 0; i < shown; i++)
		check_binary(all, ps, proc, starts[i]);
	return 0;
}

int doctor_check_process(struct findings *all, pid_t pid)
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
	check_exe(all, pid);
	check_container(all, pid);
	proc = ps ? processes_find(ps, pid, 0, 0) : NULL;
	if (!proc)
		finding_set(findings_add(all, "mappings"), FINDING_PART,
			    "CAP_SYS_PTRACE or CAP_PERFMON",
			    "they cannot be read: user frames will have no names");
	else if (check_mappings(all, ps, proc) < 0)
		all->has_failed = true;
	else
		check_runtime(all, ps, proc);
	return EXIT_OK;
}
