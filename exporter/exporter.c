// SPDX-License-Identifier: Apache-2.0
#include "exporter/exporter.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/scoped.h"

extern const struct exporter_ops exporter_pprof;
extern const struct exporter_ops exporter_folded;
extern const struct exporter_ops exporter_html;
extern const struct exporter_ops exporter_json;
extern const struct exporter_ops exporter_speedscope;

const struct exporter_ops *const exporters[] = {
	&exporter_pprof, &exporter_folded,     &exporter_html,
	&exporter_json,	 &exporter_speedscope, NULL,
};

const struct exporter_ops *exporter_by_name(const char *name)
{
	for (size_t i = 0; exporters[i]; i++)
		if (!strcmp(exporters[i]->name, name))
			return exporters[i];
	return NULL;
}

const struct exporter_ops *exporter_by_path(const char *path)
{
	const struct exporter_ops *best = NULL;
	size_t best_len = 0, path_len = strlen(path);

	for (size_t i = 0; exporters[i]; i++) {
		size_t len = strlen(exporters[i]->extension);

		if (len > best_len && len <= path_len &&
		    !strcmp(path + path_len - len, exporters[i]->extension)) {
			best = exporters[i];
			best_len = len;
		}
	}
	return best;
}

static int stream_error(void)
{
	return errno ? -errno : -EIO;
}

/* Writes the profile and sees that every byte left. */
static int write_stream(const struct exporter_ops *ops, const struct profile *p, FILE *out)
{
	int err;

	errno = 0;
	err = ops->write(p, out);
	if (err == -EIO || (!err && (fflush(out) || ferror(out))))
		return stream_error();
	return err;
}

/* Takes over fd. */
static int write_fd(const struct exporter_ops *ops, const struct profile *p, int fd)
{
	FILE *out = fdopen(fd, "wb");
	int err;

	if (!out) {
		err = -errno;
		close(fd);
		return err;
	}
	err = write_stream(ops, p, out);
	if (fclose(out) && !err)
		err = stream_error();
	return err;
}

/* A new file in the directory of path; its name is allocated. Names of killed runs are passed over.
 */
static int open_beside(const char *path, char **name)
{
	SCOPED(free) char *copy = strdup(path);
	const char *dir;

	if (!copy)
		return -ENOMEM;
	dir = dirname(copy);
	for (unsigned int i = 0; i < 100; i++) {
		SCOPED(free) char *try = NULL;
		int fd;

		if (asprintf(&try, "%s/.weft-%d-%u.tmp", dir, getpid(), i) < 0)
			return -ENOMEM;
		fd = open(try, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0) {
			*name = TAKE(try);
			return fd;
		}
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

static int write_and_rename(const struct exporter_ops *ops, const struct profile *p,
			    const char *path)
{
	SCOPED(free) char *name = NULL;
	int fd = open_beside(path, &name);
	int err;

	if (fd < 0)
		return fd;
	err = write_fd(ops, p, fd);
	if (!err && rename(name, path) < 0)
		err = -errno;
	if (err)
		unlink(name);
	return err;
}

int exporter_write_file(const struct exporter_ops *ops, const struct profile *p, const char *path)
{
	SCOPED(close) int fd = -1;
	SCOPED(free) char *real = NULL;
	struct stat st;

	if (!strcmp(path, "-"))
		return write_stream(ops, p, stdout);
	/* Opening the old file asks the kernel whether we may: it refuses links that someone
	   planted in /tmp, and files that are read-only. */
	fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 && errno != ENOENT)
		return -errno;
	if (fd < 0)
		return write_and_rename(ops, p, path);
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return write_fd(ops, p, TAKE_FD(fd));
	real = realpath(path, NULL); /* /dev/stdout must stay the link it is */
	return real ? write_and_rename(ops, p, real) : -errno;
}
