// SPDX-License-Identifier: Apache-2.0
#include "runtimes/procfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/scoped.h"

/* Four times vm.max_map_count's default: where reading maps stops to be worth the time. */
#define MAX_MAPS_LINES (1u << 18)
/* A line of maps is at most an escaped path (4 bytes for a newline) and 100 bytes more. */
#define LINES_SIZE (32 * 1024)

static int open_proc(pid_t pid, const char *name)
{
	char path[320];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 ? fd : errno == EACCES || errno == EPERM ? -EPERM : -ESRCH;
}

/* The first bytes of a file of /proc/PID; how many, or -errno. */
static ssize_t read_proc(pid_t pid, const char *name, char *buf, size_t size)
{
	SCOPED(close) int fd = open_proc(pid, name);
	size_t len = 0;

	if (fd < 0)
		return fd;
	while (len < size) {
		ssize_t n = read(fd, buf + len, size - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	return (ssize_t)len;
}

int procfs_stat(pid_t pid, struct proc_stat *out)
{
	char buf[1024];
	ssize_t len = read_proc(pid, "stat", buf, sizeof(buf));

	return len < 0 ? (int)len : proc_stat_parse(buf, (size_t)len, out);
}

void procfs_each(void *ctx, void (*fn)(void *ctx, pid_t pid))
{
	SCOPED(closedir) DIR *proc = opendir("/proc");
	const struct dirent *e;

	while (proc && (e = readdir(proc)))
		if (isdigit((unsigned char)e->d_name[0]))
			fn(ctx, (pid_t)strtol(e->d_name, NULL, 10));
}

int procfs_status(pid_t pid, struct proc_status *out)
{
	char buf[4096];
	ssize_t len = read_proc(pid, "status", buf, sizeof(buf));

	return len < 0 ? (int)len : proc_status_parse(buf, (size_t)len, out);
}

pid_t procfs_process(pid_t tid)
{
	struct proc_status status;

	return procfs_status(tid, &status) == 0 ? status.pid : 0;
}

int procfs_container(pid_t pid, char id[CONTAINER_ID_SIZE])
{
	char buf[16384];
	ssize_t len = read_proc(pid, "cgroup", buf, sizeof(buf));

	if (len < 0)
		return (int)len;
	if (!proc_cgroup_parse(buf, (size_t)len, id))
		id[0] = 0;
	return 0;
}

struct lines {
	char buf[LINES_SIZE];
	size_t len;
	uint32_t n;
	struct maps_line line;
	int (*fn)(void *ctx, const struct maps_line *line);
	void *ctx;
};

static int one_line(struct lines *l, const char *text, size_t len)
{
	if (l->n++ == MAX_MAPS_LINES)
		return -E2BIG;
	/* A line we cannot read costs itself only. */
	if (maps_line_parse(text, len, &l->line) < 0 || !l->line.is_executable)
		return 0;
	return l->fn(l->ctx, &l->line);
}

/* Takes the whole lines out of the buffer. */
static int take_lines(struct lines *l)
{
	size_t from = 0;
	char *end;

	while ((end = memchr(l->buf + from, '\n', l->len - from))) {
		int err = one_line(l, l->buf + from, (size_t)(end - l->buf) - from);

		if (err < 0)
			return err;
		from = (size_t)(end - l->buf) + 1;
	}
	/* What fills the buffer without an end is dropped: no line is that long. */
	if (!from && l->len == sizeof(l->buf))
		l->len = 0;
	l->len -= from;
	memmove(l->buf, l->buf + from, l->len);
	return 0;
}

/* How many lines there were, or -errno. */
static int read_lines(struct lines *l, int fd)
{
	for (;;) {
		ssize_t n = read(fd, l->buf + l->len, sizeof(l->buf) - l->len);
		int err;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return (int)l->n;
		l->len += (size_t)n;
		err = take_lines(l);
		if (err < 0)
			return err;
	}
}

static int read_maps(struct lines *l, pid_t pid, const char *name)
{
	SCOPED(close) int fd = open_proc(pid, name);

	return fd < 0 ? fd : read_lines(l, fd);
}

/* The maps of a thread other than the main one, which has ended. */
static int read_thread_maps(struct lines *l, pid_t pid)
{
	char path[64];
	struct dirent *d;
	int n = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	SCOPED(closedir) DIR *dir = opendir(path);

	if (!dir)
		return -ESRCH;
	while (n == 0 && (d = readdir(dir))) {
		char name[300];

		if (!isdigit((unsigned char)d->d_name[0]) || atoi(d->d_name) == pid)
			continue;
		snprintf(name, sizeof(name), "task/%s/maps", d->d_name);
		n = read_maps(l, pid, name);
		if (n == -ESRCH)
			n = 0;
	}
	return n;
}

int procfs_maps(pid_t pid, int (*fn)(void *ctx, const struct maps_line *line), void *ctx)
{
	SCOPED(free) struct lines *l = malloc(sizeof(*l));
	int n;

	if (!l)
		return -ENOMEM;
	l->len = 0;
	l->n = 0;
	l->fn = fn;
	l->ctx = ctx;
	n = read_maps(l, pid, "maps");
	if (n == 0)
		n = read_thread_maps(l, pid);
	return n < 0 ? n : 0;
}
