// SPDX-License-Identifier: Apache-2.0
/* Writers that died: their files do not grow, and nobody has them open. */
#include <stdlib.h>

#include "core/array.h"
#include "core/scoped.h"
#include "jfr/openers.h"
#include "jfr/watch_inside.h"

#define UNSEEN_TIMES 10 /* as long where not all processes may be seen */

static uint64_t patience(const struct watch *w, const struct file *file)
{
	uint64_t stale = w->settings.stale_ns, linger = w->settings.linger_ns;

	/* Without a name nobody new will write to it. */
	return !file->tail.n_links && linger < stale ? linger : stale;
}

static bool is_candidate(const struct watch *w, const struct file *file, uint64_t now)
{
	const struct tail *t = &file->tail;

	if (file->kind != FILE_RECORDING || t->fd < 0 || t->is_settled || file->is_busy)
		return false;
	if (!t->grown_ns) /* nobody looked at it yet */
		return false;
	/* JVMs make empty files that they fill when they end. */
	if (!t->size && t->n_links)
		return false;
	/* What was read to its end is no question. */
	if (t->at && t->at == t->size)
		return false;
	return now - t->grown_ns >= patience(w, file);
}

static void settle(struct watch *w, struct file *file, bool is_open, bool saw_all, uint64_t now)
{
	struct tail *t = &file->tail;

	if (is_open)
		t->grown_ns = now;
	else if (saw_all || now - t->grown_ns >= UNSEEN_TIMES * w->settings.stale_ns)
		t->is_settled = file->is_touched = true;
}

void watch_settle_stale(struct watch *w)
{
	SCOPED(free) struct open_question *questions = NULL;
	SCOPED(free) struct file **files = NULL;
	size_t n = 0, questions_cap = 0, files_cap = 0;
	uint64_t now = watch_now();
	int saw_all;

	if (now - w->asked_ns < w->settings.ask_ns)
		return;
	for (size_t i = 0; i < w->files.n; i++) {
		struct file *f = w->files.items[i];

		if (!is_candidate(w, f, now))
			continue;
		if (ARRAY_RESERVE(questions, questions_cap, n) ||
		    ARRAY_RESERVE(files, files_cap, n))
			break;
		questions[n] = (struct open_question){ .dev = f->dev, .ino = f->ino };
		files[n++] = f;
	}
	if (!n)
		return;
	w->asked_ns = now;
	saw_all = openers_find(w->settings.proc, questions, n);
	for (size_t i = 0; i < n; i++)
		settle(w, files[i], questions[i].is_open, saw_all == 1, now);
}
