// SPDX-License-Identifier: Apache-2.0
#include "exporter/pprof_source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/log.h"
#include "core/profile.h"
#include "core/scoped.h"
#include "core/text.h"
#include "exporter/pprof_decode.h"

#define MAX_FILE_MIB 256 /* read at most */

struct pprof_file {
	uint8_t *bytes;
	size_t len, cap;
};

static int read_some(struct pprof_file *file, int fd)
{
	ssize_t n;

	if (file->len == file->cap) {
		size_t cap = file->cap ? file->cap * 2 : 64 * 1024;
		uint8_t *grown;

		if (cap > MAX_FILE_MIB << 20)
			return -E2BIG;
		grown = realloc(file->bytes, cap);
		if (!grown)
			return -ENOMEM;
		file->bytes = grown;
		file->cap = cap;
	}
	n = read(fd, file->bytes + file->len, file->cap - file->len);
	if (n < 0)
		return errno == EINTR ? 1 : -errno;
	file->len += (size_t)n;
	return n > 0;
}

static int pprof_open(struct source *src, const struct options *opt)
{
	struct pprof_file *file = src->priv;
	bool is_stdin = !strcmp(src->path, "-");
	SCOPED(close) int fd = is_stdin ? dup(STDIN_FILENO) : open(src->path, O_RDONLY | O_CLOEXEC);
	char name[256];
	int status = 1;

	(void)opt;
	while (fd >= 0 && status > 0)
		status = read_some(file, fd);
	if (fd < 0)
		status = -errno;
	text_safe(src->path, name, sizeof(name));
	if (status == -E2BIG)
		log_error("%s has %d MiB or more, which is refused", name, MAX_FILE_MIB);
	else if (status < 0)
		log_error("cannot read %s: %s", name, strerror(-status));
	if (status || file->len)
		return status;
	log_error("%s is empty", is_stdin ? "standard input" : name);
	return -EBADMSG;
}

static int pprof_pump(struct source *src, struct profile *p, int timeout_ms)
{
	struct pprof_file *file = src->priv;
	struct pprof_report report;
	char name[256];
	int err = pprof_decode(file->bytes, file->len, p, &report);

	(void)timeout_ms;
	text_safe(src->path, name, sizeof(name));
	if (err == -EBADMSG)
		log_error("%s is damaged: %s at byte %" PRIu64, name, report.what, report.where);
	else if (err == -ENOTSUP)
		log_error("%s is a packed JFR recording\n  as a profile: weft jfr %s -o x.pb.gz",
			  name, name);
	else if (err == -E2BIG)
		log_error("%s %s, which is refused", name, report.what);
	else if (err)
		log_error("cannot read %s: %s", name, strerror(-err));
	if (report.n_sample_types > MAX_VALUES)
		log_info("%s has %" PRIu64 " sample types; the first %d are read", name,
			 report.n_sample_types, MAX_VALUES);
	return err;
}

static void pprof_close(struct source *src)
{
	struct pprof_file *file = src->priv;

	free(file->bytes);
}

const struct source_ops source_pprof = {
	.name = "pprof",
	.help = "a profile of pprof's format (.pb.gz), whoever wrote it",
	.priv_size = sizeof(struct pprof_file),
	.sniff = pprof_sniff,
	.open = pprof_open,
	.pump = pprof_pump,
	.close = pprof_close,
};
