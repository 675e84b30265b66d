// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/perf_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/filemap.h"
#include "core/hurry.h"
#include "core/located.h"
#include "core/scoped.h"
#include "symbolizer/jit_symbols.h"
#include "symbolizer/jitdump.h"
#include "symbolizer/perf_map_line.h"

#define MAX_MAP_SIZE (64 << 20)
#define MAX_DUMP_SIZE (1 << 30) /* holds the code, which is passed over */
#define MAX_DUMPS 16
#define TAIL_LEN 64

struct dump {
	char *path;
	struct jitdump state;
	dev_t dev;
	ino_t ino;
};

struct perf_map {
	int root_fd;
	uid_t uid;
	char path[32];
	struct jit_symbols *symbols;
	/* How far the map was read, and what to know it by. */
	dev_t dev;
	ino_t ino;
	size_t offset;
	char tail[TAIL_LEN]; /* the last bytes before offset */
	size_t tail_len;
	bool is_reread;	  /* it was written anew: most lines will be known */
	uint64_t last_ns; /* when it was last read */
	struct dump dumps[MAX_DUMPS];
	size_t n_dumps;
};

struct perf_map *perf_map_new(int root_fd, pid_t ns_pid, uid_t uid, struct jit_room *room)
{
	struct perf_map *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->uid = uid;
	m->root_fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 0);
	snprintf(m->path, sizeof(m->path), "/tmp/perf-%d.map", (int)ns_pid);
	m->symbols = jit_symbols_new(room);
	if (!m->symbols) {
		perf_map_free(m);
		return NULL;
	}
	return m;
}

void perf_map_free(struct perf_map *m)
{
	if (!m)
		return;
	if (m->root_fd >= 0)
		close(m->root_fd);
	for (size_t i = 0; i < m->n_dumps; i++)
		free(m->dumps[i].path);
	jit_symbols_free(m->symbols);
	free(m);
}

int perf_map_add_jitdump(struct perf_map *m, const char *path)
{
	for (size_t i = 0; i < m->n_dumps; i++)
		if (!strcmp(m->dumps[i].path, path))
			return 0;
	if (m->n_dumps == MAX_DUMPS)
		return -E2BIG;
	m->dumps[m->n_dumps].path = strdup(path);
	if (!m->dumps[m->n_dumps].path)
		return -ENOMEM;
	m->n_dumps++;
	return 0;
}

/*
 * The file as it is now, if it may be read at all: below the target's root, no link, a regular file
 * with one name only, and owned by the target's user or root.
 */
static int open_safely(const struct perf_map *m, const char *path, off_t max, struct stat *st)
{
	SCOPED(close) int located = located_below(m->root_fd, path, O_NOFOLLOW);
	SCOPED(close) int fd = located < 0 ? located : located_open(located, st);

	if (fd < 0)
		return fd;
	if ((st->st_uid != m->uid && st->st_uid != 0) || st->st_nlink > 1)
		return -EPERM;
	if (st->st_size > max)
		return -E2BIG;
	return TAKE_FD(fd);
}

/* Is the file still the one that was read so far, only longer? */
static bool is_continued(const struct perf_map *m, const struct stat *st, const char *bytes,
			 size_t len)
{
	return m->dev == st->st_dev && m->ino == st->st_ino && len >= m->offset &&
	       !memcmp(bytes + m->offset - m->tail_len, m->tail, m->tail_len);
}

static int read_lines(struct perf_map *m, const char *bytes, size_t len)
{
	int err = 0;

	while (!err && m->offset < len && !hurry_is_on()) {
		const char *line = bytes + m->offset;
		const char *end = memchr(line, '\n', len - m->offset);
		struct perf_map_line l;

		if (!end)
			break; /* still being written */
		m->offset += (size_t)(end - line) + 1;
		if (!perf_map_line_parse(line, (size_t)(end - line), &l))
			continue;
		if (!m->is_reread ||
		    !jit_symbols_has(m->symbols, l.start, l.size, l.name, l.name_len))
			err = jit_symbols_add(m->symbols, l.start, l.size, m->last_ns, l.name,
					      l.name_len);
	}
	m->tail_len = m->offset < TAIL_LEN ? m->offset : TAIL_LEN;
	memcpy(m->tail, bytes + m->offset - m->tail_len, m->tail_len);
	return err;
}

static int refresh_map(struct perf_map *m)
{
	SCOPED(filemap_free) struct filemap *map = NULL;
	SCOPED(close) int fd = -1;
	struct stat st;
	int err = 0;

	fd = open_safely(m, m->path, MAX_MAP_SIZE, &st);
	if (fd < 0)
		return fd;
	if (!st.st_size)
		return 0;
	map = filemap_new(fd, &err);
	if (!map)
		return err;
	if (!is_continued(m, &st, filemap_data(map), filemap_len(map))) {
		m->is_reread = m->offset;
		m->offset = 0;
		m->dev = st.st_dev;
		m->ino = st.st_ino;
		jit_symbols_find(m->symbols, 0, 0, NULL,
				 NULL); /* sorts them, for jit_symbols_has() */
	}
	err = read_lines(m, filemap_data(map), filemap_len(map));
	return !err && filemap_is_cut(map) ? -EBADMSG : err;
}

static int refresh_dump(struct perf_map *m, struct dump *d)
{
	SCOPED(filemap_free) struct filemap *map = NULL;
	SCOPED(close) int fd = -1;
	struct stat st;
	int err = 0;

	fd = open_safely(m, d->path, MAX_DUMP_SIZE, &st);
	if (fd < 0)
		return fd;
	if (!st.st_size)
		return 0;
	if (d->dev != st.st_dev || d->ino != st.st_ino || (uint64_t)st.st_size < d->state.offset) {
		d->state = (struct jitdump){ 0 };
		d->dev = st.st_dev;
		d->ino = st.st_ino;
	}
	map = filemap_new(fd, &err);
	if (map)
		err = jitdump_read(&d->state, filemap_data(map), filemap_len(map), m->symbols);
	return !err && filemap_is_cut(map) ? -EBADMSG : err;
}

/* Lines of a map have no time: they hold from when it was last read without them. */
int perf_map_refresh(struct perf_map *m)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int err = refresh_map(m), n_read = !err;

	for (size_t i = 0; i < m->n_dumps; i++) {
		int e = refresh_dump(m, &m->dumps[i]);

		n_read += !e;
		if (e < 0 && (!err || err == -ENOENT))
			err = e;
	}
	m->last_ns = now;
	m->is_reread = false;
	return err == -ENOENT && n_read ? 0 : err;
}

const char *perf_map_find_at(const struct perf_map *m, uint64_t addr, uint64_t time_ns,
			     uint64_t *start, uint64_t *size)
{
	return jit_symbols_find(m->symbols, addr, time_ns, start, size);
}

uint32_t perf_map_line(const struct perf_map *m, uint64_t addr, const char **file)
{
	return jit_symbols_line(m->symbols, addr, file);
}

size_t perf_map_count(const struct perf_map *m)
{
	return jit_symbols_count(m->symbols);
}

size_t perf_map_memory(const struct perf_map *m)
{
	return sizeof(*m) + jit_symbols_memory(m->symbols);
}
