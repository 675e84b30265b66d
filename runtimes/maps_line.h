/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text of /proc that describes a process, as parsers over bytes (proc(5)): a line of maps, stat,
 * status, cgroup. The names in it are the target's.
 */
#ifndef RUNTIMES_MAPS_LINE_H
#define RUNTIMES_MAPS_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* PATH_MAX; what is longer is cut (such a file cannot be opened by its path anyway). */
#define MAPS_NAME_SIZE 4096
#define CONTAINER_ID_SIZE 65

struct maps_line {
	uint64_t start, end, pgoff, dev, ino; /* dev as makedev() */
	bool is_executable;
	char name[MAPS_NAME_SIZE]; /* newlines unescaped; "" for anonymous memory */
};

struct proc_stat {
	pid_t parent;
	char state;	      /* 'R', 'S', 'Z', ... */
	uint64_t cpu_ticks;   /* user and system time, in clock ticks */
	uint64_t start_ticks; /* since boot */
	bool is_kernel_thread;
	char comm[16];
};

struct proc_status {
	pid_t pid;    /* of the process, also when a thread was asked */
	uid_t uid;    /* effective */
	pid_t ns_pid; /* in its innermost pid namespace */
};

/* One line without its newline. 0 or -EBADMSG; name only when it is executable. */
int maps_line_parse(const char *line, size_t len, struct maps_line *out);
int proc_stat_parse(const char *text, size_t len, struct proc_stat *out);
int proc_status_parse(const char *text, size_t len, struct proc_status *out);
/* The container's id: the last run of exactly 64 hexadecimal digits of a line that names one
   (Docker, containerd, CRI-O, Podman; versions 1 and 2 of cgroups). False: in none. */
bool proc_cgroup_parse(const char *text, size_t len, char id[CONTAINER_ID_SIZE]);

#endif
