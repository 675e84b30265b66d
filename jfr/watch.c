// SPDX-License-Identifier: Apache-2.0
#include "jfr/watch.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/array.h"
#include "core/clock.h"
#include "core/scoped.h"
#include "jfr/watch_inside.h"

#define MS UINT64_C(1000000)
#define MIN_ROUND_NS (50 * MS)
#define BACKOFF_NS (500 * MS) /* twice as long each time */
#define BACKOFF_MAX_NS (60 * NS_PER_S)
#define MAX_PENDING 256 /* batches that are committed together; each may hold a descriptor */
#define MAX_STATES 64	/* chunks whose names are kept in memory between their pieces */
#define PRUNE_NS (3600 * NS_PER_S)

const struct watch_settings watch_settings_default = {
	.limits = { .depth = 12, .dirs = 8192, .files = 65536 },
	.max_open = 4096,
	.max_chunks = 1000000,
	.rescan_ns = 30 * NS_PER_S,
	.look_ns = NS_PER_S,
	.rotate_age_ns = 500 * MS,
	.rotate_bytes = 64 << 20,
	.hold_ns = 1500 * MS, /* events are to be there after 2 s */
	.ask_ns = 2 * NS_PER_S,
	.stale_ns = 60 * NS_PER_S,
	.linger_ns = 2 * NS_PER_S,
	.history_ns = 3600 * NS_PER_S,
	.remember_ns = 24 * 3600 * NS_PER_S,
	.slice_ns = 500 * MS,
	.proc = "/proc",
};

uint64_t watch_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t watch_unix_now(void)
{
	return clock_ns(CLOCK_REALTIME);
}

struct watch *watch_new(const struct watch_settings *settings, struct ledger *ledger,
			const struct watch_ops *ops, void *ctx)
{
	struct watch *w = (struct watch *)calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->settings = *settings;
	w->ledger = ledger;
	w->ops = ops;
	w->ctx = ctx;
	w->discover = discover_new(&settings->limits);
	if (!w->discover) {
		free(w);
		return NULL;
	}
	return w;
}

void watch_free(struct watch *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->files.n; i++)
		watch_close(w, w->files.items[i]);
	files_deinit(&w->files);
	for (size_t i = 0; i < w->n_roots; i++)
		free(w->roots[i]);
	free(w->roots);
	free(w->is_root_known);
	free(w->pending);
	discover_free(w->discover);
	free(w);
}

int watch_add_root(struct watch *w, const char *path)
{
	SCOPED(free) char *real = discover_real_path(path);
	int err;

	if (!real)
		return -errno;
	if (ARRAY_RESERVE(w->roots, w->roots_cap, w->n_roots) ||
	    ARRAY_RESERVE(w->is_root_known, w->known_cap, w->n_roots))
		return -ENOMEM;
	err = discover_add_root(w->discover, real);
	if (err)
		return err;
	w->is_root_known[w->n_roots] = ledger_find_root(w->ledger, real) != -ENOENT;
	w->roots[w->n_roots++] = TAKE(real);
	return 0;
}

void watch_exclude(struct watch *w, const struct stat *dir)
{
	discover_exclude(w->discover, dir);
}

/* Log files change all the time and stay what they are. */
static bool is_worth_a_look(const struct watch *w, const struct file *file, const struct stat *st)
{
	int64_t mtime_ns = st->st_mtim.tv_sec * (int64_t)NS_PER_S + st->st_mtim.tv_nsec;

	if (file->kind == FILE_DONE || file->kind == FILE_FOREIGN) {
		if (file->size == (uint64_t)st->st_size && file->mtime_ns == mtime_ns)
			return false;
		return file->kind == FILE_DONE ||
		       watch_now() - file->looked_ns >= w->settings.rescan_ns;
	}
	return true;
}

static void on_found(void *ctx, const struct found *found)
{
	struct watch *w = (struct watch *)ctx;
	const struct stat *st = &found->st;
	struct file *file = files_find(&w->files, st->st_dev, st->st_ino);

	if (!file && w->files.n < w->settings.limits.files) {
		file = files_add(&w->files, st->st_dev, st->st_ino, found->root, found->path);
		if (file)
			file->is_touched = true;
	} else if (file) {
		file_set_path(file, found->root, found->path);
		file->is_touched |= is_worth_a_look(w, file, st);
	}
	if (!file)
		return;
	if (file->kind == FILE_NEW)
		file->size = (uint64_t)st->st_size;
	file->scan = w->scan;
	/* Rows of files that are there are not forgotten. */
	if (file->kind == FILE_DONE && file->is_recorded &&
	    watch_unix_now() - file->recorded_ns > w->settings.remember_ns / 4)
		file->is_dirty = true;
}

/* A file that is not open and has no name any more. */
static void forget(struct watch *w, size_t index)
{
	struct file *file = w->files.items[index];
	uint64_t read = watch_read_to(file);
	struct stat st;
	int fd = discover_open(w->discover, file->root, file->path, &st);

	if (fd >= 0 && st.st_dev == file->dev && st.st_ino == file->ino) {
		close(fd);
		return;
	}
	scoped_close(&fd);
	/* It came and went too fast, or might not be read. */
	if (file->kind == FILE_NEW && file->size && watch_is_named_recording(file))
		watch_lose(w, LOST_VANISHED, file->size);
	/* Nobody knows what else there was of a chunk that was not finished. */
	if (file->kind == FILE_RECORDING && file->start_ns && file->size > file->tail.at)
		watch_lose(w, LOST_VANISHED, file->size > read ? file->size - read : 0);
	if (file->kind == FILE_RECORDING) {
		file->kind = FILE_DONE;
		if (watch_put_file(w, file))
			return;
	}
	files_remove(&w->files, index);
}

static int scan(struct watch *w)
{
	size_t n_known = w->files.n;
	int err;

	w->scan++;
	w->wants_scan = false;
	w->scanned_ns = watch_now();
	err = discover_scan(w->discover, on_found, w);
	/* Of many chunks of a JVM that are found at once an earlier one is read first. */
	if (w->files.n != n_known)
		files_sort(&w->files);
	for (size_t i = w->files.n; i-- > 0 && !err;) {
		const struct file *file = w->files.items[i];

		if (file->scan != w->scan && file->tail.fd < 0 && !file->is_busy && !file->is_dirty)
			forget(w, i);
	}
	return err;
}

/* Known files that went away while nobody watched. */
struct gone {
	struct watch *w;
	struct source_record *rows;
	size_t n, cap;
};

static bool is_below_a_root(const struct watch *w, const char *path)
{
	for (size_t i = 0; i < w->n_roots; i++) {
		size_t len = strlen(w->roots[i]);

		if (!strncmp(path, w->roots[i], len) && path[len] == '/')
			return true;
	}
	return false;
}

static int note_gone(void *ctx, const struct source_record *source)
{
	struct gone *gone = (struct gone *)ctx;
	const struct file *file = files_find(&gone->w->files, source->id.dev, source->id.ino);

	if ((file && file->start_ns == source->id.start_ns) ||
	    !is_below_a_root(gone->w, source->path))
		return 0;
	if (ARRAY_RESERVE(gone->rows, gone->cap, gone->n))
		return -ENOMEM;
	gone->rows[gone->n] = *source;
	gone->rows[gone->n].path = strdup(source->path);
	return gone->rows[gone->n++].path ? 0 : -ENOMEM;
}

static int settle_gone(struct watch *w)
{
	struct gone gone = { .w = w };
	int err = ledger_each_source(w->ledger, SOURCE_GROWING, note_gone, &gone);

	for (size_t i = 0; i < gone.n; i++) {
		struct source_record *row = &gone.rows[i];

		if (row->size > row->offset)
			watch_lose(w, LOST_VANISHED,
				   row->size > row->exported ? row->size - row->exported : 0);
		row->state = SOURCE_DONE;
		row->reason = "";
		if (!err)
			err = ledger_put_source(w->ledger, row);
		free((char *)row->path);
	}
	free(gone.rows);
	return err;
}

static int look_at_all(struct watch *w)
{
	int err = 0;

	for (size_t i = 0; i < w->files.n && !err; i++) {
		struct file *file = w->files.items[i];

		if (!w->is_root_known[file->root])
			err = watch_skip_history(w, file);
		else if (file->kind == FILE_NEW)
			watch_open(w, file);
	}
	for (size_t i = 0; i < w->n_roots && !err; i++)
		err = ledger_add_root(w->ledger, w->roots[i], watch_unix_now());
	for (size_t i = 0; i < w->n_roots && !err; i++)
		w->is_root_known[i] = true;
	return err ? err : settle_gone(w);
}

/* In one transaction: a watch that was killed in it begins as if it never had. */
int watch_start(struct watch *w)
{
	int err = scan(w);

	if (!err)
		err = ledger_begin(w->ledger);
	if (!err)
		err = look_at_all(w);
	for (size_t i = 0; i < w->files.n && !err; i++)
		if (w->files.items[i]->is_dirty)
			err = watch_put_file(w, w->files.items[i]);
	if (!err)
		err = ledger_commit(w->ledger);
	if (err)
		ledger_rollback(w->ledger);
	return err;
}

static bool is_due(const struct watch *w, const struct file *file, uint64_t now)
{
	bool is_time = now - file->looked_ns >= w->settings.look_ns;

	if (file->is_busy || file->retry_ns > now)
		return false;
	/* Nothing of what it waits for has been read to its end since. */
	if (file->is_waiting && !file->is_called && !is_time)
		return false;
	if (file->is_touched || file->kind == FILE_NEW || watch_is_held_too_long(file, now))
		return true;
	return (file->kind == FILE_RECORDING || file->kind == FILE_PACKED) && is_time;
}

/* Each file in turn, until the time is over. */
static int visit_all(struct watch *w)
{
	uint64_t now = watch_now(), begin = now;
	int err = 0;

	w->has_more = w->holds_any = false;
	for (size_t i = 0; i < w->files.n; i++)
		w->holds_any |= w->files.items[i]->held_at != 0;
	for (size_t n = w->files.n; n && !err; n--) {
		struct file *file = w->files.items[w->next++ % w->files.n];

		if (!is_due(w, file, now))
			continue;
		file->looked_ns = now;
		err = watch_visit(w, file);
		now = watch_now();
		if (now - begin >= w->settings.slice_ns || w->n_pending >= MAX_PENDING ||
		    w->ops->is_stopped()) {
			w->has_more = true;
			break;
		}
	}
	return err;
}

/* Those that were exported longest ago give way; they are read again when they are needed. */
static void trim_states(struct watch *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->files.n; i++)
		n += w->files.items[i]->state != NULL;
	while (n > MAX_STATES) {
		struct file *oldest = NULL;

		for (size_t i = 0; i < w->files.n; i++) {
			struct file *f = w->files.items[i];

			if (f->state && (!oldest || f->exported_ns < oldest->exported_ns))
				oldest = f;
		}
		w->ops->release(w->ctx, oldest->state, false);
		oldest->state = NULL;
		n--;
	}
}

/* What the output or the disk of the ledger cannot take now it may take later. */
static int back_off(struct watch *w, int err)
{
	w->counts.err = err;
	if (!err) {
		w->counts.n_failures = w->backoff_ns = 0;
		return 0;
	}
	if (err == -ENOMEM || err == -EBADMSG || err == -EPIPE)
		return err;
	w->counts.n_failures++;
	w->backoff_ns = w->backoff_ns ? w->backoff_ns * 2 : BACKOFF_NS;
	if (w->backoff_ns > BACKOFF_MAX_NS)
		w->backoff_ns = BACKOFF_MAX_NS;
	w->retry_ns = watch_now() + w->backoff_ns;
	w->has_more = false;
	return 0;
}

static int prune(struct watch *w)
{
	if (watch_now() - w->pruned_ns < PRUNE_NS)
		return 0;
	w->pruned_ns = watch_now();
	return ledger_prune(w->ledger, watch_unix_now() - w->settings.remember_ns,
			    w->settings.max_chunks);
}

static void wait_for_news(struct watch *w, int timeout_ms)
{
	struct pollfd fd = { .fd = discover_fd(w->discover), .events = POLLIN };
	const struct timespec pause = { .tv_nsec = MIN_ROUND_NS };

	if (w->has_more)
		timeout_ms = 0;
	/* A busy JVM writes a thousand times a second: it is heard of all at once. */
	if (poll(&fd, 1, timeout_ms) > 0 && !w->has_more)
		nanosleep(&pause, NULL);
	w->wants_scan |= discover_pump(w->discover, on_found, w) > 0;
}

int watch_round(struct watch *w, int timeout_ms)
{
	int err = 0, committed;

	wait_for_news(w, timeout_ms);
	if (w->wants_scan || watch_now() - w->scanned_ns >= w->settings.rescan_ns)
		err = scan(w);
	/* Also while nothing is taken: what is held can be read later. */
	for (size_t i = 0; i < w->files.n; i++)
		if (w->files.items[i]->kind == FILE_NEW &&
		    watch_now() >= w->files.items[i]->retry_ns)
			watch_open(w, w->files.items[i]);
	if (err || w->retry_ns > watch_now())
		return err;
	watch_settle_stale(w);
	err = visit_all(w);
	committed = watch_commit(w);
	trim_states(w);
	if (!err)
		err = committed ? committed : prune(w);
	return back_off(w, err);
}

bool watch_is_idle(const struct watch *w)
{
	if (w->has_more || w->wants_scan || w->retry_ns > watch_now())
		return false;
	for (size_t i = 0; i < w->files.n; i++)
		if (w->files.items[i]->is_touched || w->files.items[i]->kind == FILE_NEW)
			return false;
	return true;
}

/* Something of it was flushed that is not exported. */
static bool is_behind(const struct file *file)
{
	const struct tail *t = &file->tail;

	return file->kind == FILE_RECORDING && t->fd >= 0 && t->piece.to > t->exported;
}

static uint64_t largest_lag(const struct watch *w)
{
	bool is_recent = watch_now() - w->lagged_ns < 2 * w->settings.look_ns;
	uint64_t lag = is_recent ? w->lag_ns : 0;

	for (size_t i = 0; i < w->files.n; i++) {
		const struct file *file = w->files.items[i];

		if (is_behind(file) && watch_lag(file) > lag)
			lag = watch_lag(file);
	}
	return lag;
}

const struct watch_counts *watch_counts(struct watch *w)
{
	struct watch_counts *c = &w->counts;
	struct discover_counts found = discover_counts(w->discover);

	c->n_over_limit = found.over_limit;
	c->n_unwatched = found.unwatched;
	c->n_unreadable = found.unreadable;
	c->n_files = c->n_growing = c->n_foreign = c->n_quarantined = 0;
	c->n_open = w->n_open;
	c->lag_ns = largest_lag(w);
	for (size_t i = 0; i < w->files.n; i++) {
		enum file_kind kind = w->files.items[i]->kind;

		c->n_quarantined += !!w->files.items[i]->reason;
		c->n_foreign += kind == FILE_FOREIGN;
		c->n_files += kind != FILE_FOREIGN;
		c->n_growing += kind == FILE_RECORDING || kind == FILE_PACKED;
	}
	return c;
}
