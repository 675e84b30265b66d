// SPDX-License-Identifier: Apache-2.0
#include "exporter/exporter.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "exporter/replacement.h"

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

int exporter_write_file(const struct exporter_ops *ops, const struct profile *p, const char *path,
			bool is_private)
{
	struct replacement r;
	int err, fd;

	if (!strcmp(path, "-"))
		return write_stream(ops, p, stdout);
	err = replacement_open(&r, path, is_private);
	if (err)
		return err;
	fd = fcntl(r.fd, F_DUPFD_CLOEXEC, 0); /* r.fd is needed after the stream is closed */
	err = fd < 0 ? -errno : write_fd(ops, p, fd);
	if (!err)
		return replacement_finish(&r);
	replacement_abandon(&r);
	return err;
}
