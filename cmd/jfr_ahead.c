// SPDX-License-Identifier: Apache-2.0
#include "cmd/jfr_ahead.h"

#include <errno.h>
#include <inttypes.h>

#include "cmd/jfr.h"
#include "cmd/jfr_paths.h"
#include "cmd/jfr_workers.h"
#include "core/log.h"
#include "core/options.h"
#include "core/scoped.h"
#include "core/text.h"
#include "jfr/chunk_list.h"
#include "jfr/scope_search.h"
#include "jfr/tail.h"
#include "jfr/unpack.h"

/* Of a file that cannot be read whoever reads it next says so. --check asks for no spans. */
static int search(struct jfr_run *run, int fd, bool is_only, struct late_scopes *found)
{
	bool is_of_use = fd >= 0 && !run->opt->check;
	int err = is_of_use ? scope_search(fd, run->interpreter.file, is_only,
					   jfr_workers_most(run), found, &run->interpreter.known)
			    : 0;

	return err == -ENOMEM || err == -EINTR ? err : 0;
}

/* Whole chunks, of which other files may have copies that are cut off. */
static int expect(struct jfr_run *run, int fd)
{
	struct chunk_list l = { 0 };
	int err = 0;

	if (fd >= 0)
		chunk_list_read(fd, &l);
	for (size_t i = 0; i < l.n && !err; i++)
		err = seen_chunks_expect(&run->seen, &l.items[i].header);
	chunk_list_deinit(&l);
	return err;
}

static void be_ready(const char *name, struct late_scopes *found)
{
	char safe[128];

	late_scopes_sort(found);
	if (found->n_left_out)
		log_error("jfr: %s: %" PRIu64 " scopes of spans that go over from chunk to chunk "
			  "are left out: there is no room for so many",
			  text_safe(name, safe, sizeof(safe)), found->n_left_out);
}

int jfr_ahead(struct jfr_run *run, const struct jfr_paths *paths)
{
	int err = 0;

	for (size_t i = 0; i < paths->n && !err; i++) {
		SCOPED(close) int fd = jfr_path_open(&paths->items[i]);

		run->interpreter.file = i;
		err = paths->n > 1 ? expect(run, fd) : 0;
		if (!err)
			err = search(run, fd, paths->n == 1, &run->late);
	}
	be_ready(run->opt->files.items[0], &run->late);
	return err;
}

int jfr_ahead_of_part(struct jfr_run *run, const struct unpack_part *part)
{
	struct late_scopes *of_part = &run->late_of_part;
	struct chunk_header h;
	const char *what;
	int err;

	run->interpreter.late = part->is_self ? &run->late : of_part;
	if (part->is_self)
		return 0;
	late_scopes_deinit(of_part);
	if (part->fd < 0 || tail_read_header(part->fd, 0, &h, &what))
		return 0;
	err = search(run, part->fd, true, of_part);
	be_ready(part->name, of_part);
	return err;
}
