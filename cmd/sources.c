// SPDX-License-Identifier: Apache-2.0
#include "cmd/sources.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/verb.h"
#include "core/log.h"
#include "core/profile.h"
#include "core/scoped.h"
#include "core/source.h"
#include "core/text.h"
#include "exporter/pprof_source.h"
#include "jfr/source.h"

#define HEAD_LEN 512 /* first bytes that a sniff may look at */

static const struct source_ops *const file_sources[] = {
	&source_pprof,
	&source_jfr,
	NULL,
};

/* The source whose file this is; NULL after saying why there is none. */
static const struct source_ops *choose(const char *path, int *status)
{
	SCOPED(close) int fd = open(path, O_RDONLY | O_CLOEXEC);
	char head[HEAD_LEN], name[256];
	struct stat st;
	ssize_t len;

	text_safe(path, name, sizeof(name));
	*status = EXIT_FAILED;
	len = fd < 0 ? -1 : read(fd, head, sizeof(head));
	if (len < 0) {
		log_error("cannot read %s: %s", name, strerror(errno));
		return NULL;
	}
	for (size_t i = 0; file_sources[i]; i++)
		if (file_sources[i]->sniff(head, (size_t)len))
			return file_sources[i];
	*status = EXIT_DAMAGED;
	if (!len && !fstat(fd, &st) && S_ISREG(st.st_mode))
		log_error("%s is empty", name);
	else
		log_error("%s is no profile that weft reads\n  it reads: %s, %s", name,
			  source_pprof.help, source_jfr.help);
	return NULL;
}

static int status_of(int err)
{
	return !err ? EXIT_OK : err == -EBADMSG || err == -E2BIG ? EXIT_DAMAGED : EXIT_FAILED;
}

struct profile *sources_load(const char *path, const struct options *opt, int *status)
{
	const struct source_ops *ops = &source_pprof; /* stdin cannot be looked at twice */
	struct profile *p;
	struct source *src;
	int err;

	if (strcmp(path, "-")) {
		ops = choose(path, status);
		if (!ops)
			return NULL;
	}
	src = source_open(ops, path, opt, &err);
	p = src ? profile_new() : NULL;
	while (p && (err = source_pump(src, p, -1)) > 0)
		;
	source_close(src);
	*status = status_of(err);
	if (p && profile_error(p)) {
		log_error("not enough memory for this profile");
		*status = EXIT_FAILED;
	}
	/* What is refused for its size is not shown in part. */
	if (*status == EXIT_OK ||
	    (*status == EXIT_DAMAGED && err != -E2BIG && p && profile_n_samples(p)))
		return p;
	profile_free(p);
	return NULL;
}
