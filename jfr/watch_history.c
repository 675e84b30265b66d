// SPDX-License-Identifier: Apache-2.0
/* What was there before a directory was watched for the first time. */
#include "jfr/watch_inside.h"

/* Unix time; 0: all of it is wanted. */
static uint64_t horizon(const struct watch *w)
{
	uint64_t now = watch_unix_now(), history = w->settings.history_ns;

	return history >= now ? 0 : now - history;
}

static bool is_older(const struct chunk_header *h, uint64_t since)
{
	uint64_t start = (uint64_t)h->start_ns;

	return start < since && h->duration_ns < since - start;
}

/* Nothing at all was wanted: of a chunk that grows, what comes from now on. */
static int pass_over_live(struct watch *w, struct file *file)
{
	struct tail *t = &file->tail;
	struct chunk_record chunk = {
		.key = t->key,
		.exported = t->piece.to,
		.seen_ns = watch_unix_now(),
	};

	w->counts.n_historic++;
	tail_took(t, t->piece.to);
	return ledger_put_chunk(w->ledger, &chunk);
}

static void pass_over_rest(struct watch *w, struct file *file)
{
	w->counts.n_historic++;
	file->tail.at = file->size;
	watch_finish(w, file);
}

/* Not finished, and not written to for long. */
static bool is_abandoned(const struct watch *w, const struct tail *t, uint64_t since)
{
	uint64_t written = (uint64_t)t->mtime_ns;

	return t->size && written < since && watch_unix_now() - written > w->settings.stale_ns;
}

int watch_skip_history(struct watch *w, struct file *file)
{
	uint64_t since = horizon(w);
	struct tail *t = &file->tail;

	if (!since || (t->fd < 0 && !watch_open(w, file)))
		return 0;
	for (;;) {
		enum tail_phase phase = tail_look(t, watch_now());
		bool is_piece = phase == TAIL_HAS_PIECE;

		file->size = t->size;
		if (phase == TAIL_SEARCHES)
			continue;
		if (is_piece && t->piece.is_last && t->piece.is_whole &&
		    is_older(&t->header, since)) {
			w->counts.n_historic++;
			tail_next_chunk(t);
			continue;
		}
		if (phase == TAIL_AT_END)
			watch_finish(w, file);
		else if (is_abandoned(w, t, since) && !(is_piece && t->piece.is_last))
			pass_over_rest(w, file);
		else if (is_piece && !t->piece.is_last && !w->settings.history_ns)
			return pass_over_live(w, file);
		return 0;
	}
}
