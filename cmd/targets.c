// SPDX-License-Identifier: Apache-2.0
#include "cmd/targets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/verb.h"
#include "core/log.h"
#include "core/scoped.h"
#include "core/text.h"
#include "runtimes/procfs.h"

#define COMM_MAX 15 /* the kernel keeps so many bytes of a command name */
#define CANDIDATES_SHOWN 8

const char *target_comm(pid_t pid, char *out)
{
	struct proc_stat stat;

	return strcpy(out, procfs_stat(pid, &stat) == 0 ? stat.comm : "");
}

static const char *exe_of(pid_t pid, char *out, size_t size)
{
	char path[64];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	len = readlink(path, out, size - 1);
	out[len > 0 ? len : 0] = 0;
	return out;
}

uint64_t target_cpu_ns(pid_t pid)
{
	struct proc_stat stat;

	if (procfs_stat(pid, &stat))
		return 0;
	return stat.cpu_ticks * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

static bool is_named(pid_t pid, const char *name)
{
	char comm[COMM_MAX + 1], exe[4096], *base;

	if (pid == getpid())
		return false;
	if (!strncmp(target_comm(pid, comm), name, COMM_MAX))
		return true;
	base = strrchr(exe_of(pid, exe, sizeof(exe)), '/');
	return base && !strcmp(base + 1, name);
}

static int add(struct pid_list *list, pid_t pid)
{
	pid_t *items = realloc(list->items, (list->n + 1) * sizeof(*items));

	if (!items) {
		log_error("out of memory");
		return EXIT_FAILED;
	}
	list->items = items;
	list->items[list->n++] = pid;
	return EXIT_OK;
}

static void list_candidates(const char *name, const struct pid_list *found)
{
	char safe[64], exe[4096], comm[COMM_MAX + 1];

	log_error("%zu processes are named %s; choose one of them by its pid", found->n,
		  text_safe(name, safe, sizeof(safe)));
	for (size_t i = 0; i < found->n && i < CANDIDATES_SHOWN; i++) {
		pid_t pid = found->items[i];

		fprintf(stderr, "  %7d  %s", pid,
			text_safe(target_comm(pid, comm), safe, sizeof(safe)));
		fprintf(stderr, "  %s\n",
			text_safe(exe_of(pid, exe, sizeof(exe)), safe, sizeof(safe)));
	}
	if (found->n > CANDIDATES_SHOWN)
		fprintf(stderr, "  … and %zu more; all of them: --comm\n",
			found->n - CANDIDATES_SHOWN);
}

static int find_name(const char *name, struct pid_list *out)
{
	SCOPED(closedir) DIR *proc = opendir("/proc");
	struct pid_list found = { 0 };
	struct dirent *entry;
	char safe[64];
	int status = EXIT_OK;

	while (proc && !status && (entry = readdir(proc))) {
		unsigned int pid;

		if (!parse_count(entry->d_name, 1, INT32_MAX, &pid) && is_named((pid_t)pid, name))
			status = add(&found, (pid_t)pid);
	}
	if (!status && found.n == 1) {
		status = add(out, found.items[0]);
	} else if (!status) {
		status = EXIT_NO_TARGET;
		if (found.n)
			list_candidates(name, &found);
		else
			log_error("no process is named %s", text_safe(name, safe, sizeof(safe)));
	}
	free(found.items);
	return status;
}

static int check_pid(pid_t pid, struct pid_list *out)
{
	pid_t process = procfs_process(pid);

	if (process == pid)
		return add(out, pid);
	if (process)
		log_error("%d is a thread of process %d: use --tid %d, or -p %d", pid, process, pid,
			  process);
	else
		log_error("there is no process %d", pid);
	return EXIT_NO_TARGET;
}

int targets_find(const struct options *opt, struct pid_list *out)
{
	int status = EXIT_OK;

	*out = (struct pid_list){ 0 };
	for (size_t i = 0; !status && i < opt->pids.n; i++)
		status = check_pid(opt->pids.items[i], out);
	for (size_t i = 0; !status && i < opt->pid_names.n; i++)
		status = find_name(opt->pid_names.items[i], out);
	for (size_t i = 0; !status && i < opt->tids.n; i++) {
		if (procfs_process(opt->tids.items[i]))
			continue;
		log_error("there is no thread %d", opt->tids.items[i]);
		status = EXIT_NO_TARGET;
	}
	return status;
}

bool targets_alive(const struct pid_list *pids)
{
	for (size_t i = 0; i < pids->n; i++) {
		struct proc_stat stat;

		if (!procfs_stat(pids->items[i], &stat) &&
		    !strchr("XxZ", stat.state)) /* dead, or a zombie */
			return true;
	}
	return false;
}

bool targets_any_named(const char *comm)
{
	SCOPED(closedir) DIR *proc = opendir("/proc");
	struct dirent *entry;
	char name[COMM_MAX + 1];

	while (proc && (entry = readdir(proc))) {
		unsigned int pid;

		if (!parse_count(entry->d_name, 1, INT32_MAX, &pid) && (pid_t)pid != getpid() &&
		    !strcmp(target_comm((pid_t)pid, name), comm))
			return true;
	}
	return false;
}
