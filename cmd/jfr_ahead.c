// SPDX-License-Identifier: Apache-2.0
#include "cmd/jfr_ahead.h"

#include <errno.h>

#include "cmd/jfr.h"
#include "cmd/jfr_paths.h"
#include "cmd/jfr_workers.h"
#include "core/options.h"
#include "core/scoped.h"
#include "jfr/scope_search.h"
#include "jfr/unpack.h"

/* Of a file that cannot be read whoever reads it next says so. Summaries say nothing of spans. */
static int search(struct jfr_run *run, int fd, bool is_only)
{
	bool is_of_use = fd >= 0 && (run->opt->output || run->opt->format);
	int err = is_of_use ? scope_search(fd, run->interpreter.file, is_only,
					   jfr_workers_most(run), &run->late)
			    : 0;

	return err == -ENOMEM || err == -EINTR ? err : 0;
}

int jfr_ahead(struct jfr_run *run, const struct jfr_paths *paths)
{
	int err = 0;

	run->interpreter.late = &run->late;
	for (size_t i = 0; i < paths->n && !err; i++) {
		SCOPED(close) int fd = jfr_path_open(&paths->items[i]);

		run->interpreter.file = i;
		err = search(run, fd, paths->n == 1);
	}
	return err;
}

int jfr_ahead_of_part(struct jfr_run *run, const struct unpack_part *part)
{
	if (part->is_self)
		return 0;
	run->interpreter.file = SIZE_MAX - run->n_files; /* no path has this number */
	return search(run, part->fd, true);
}
