/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows the recordings below some directories and has each piece of their chunks exported once:
 * found by jfr/discover.h, read as jfr/tail.h says, remembered in a ledger. Who exports is told
 * what to read and where it goes; what it took counts as exported when it was delivered and the
 * ledger has it on disk, and is exported again under the same name otherwise.
 *
 * One thread. When the output takes nothing, nothing is read: the files are the queue, and their
 * descriptors are held.
 */
#ifndef JFR_WATCH_H
#define JFR_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jfr/discover.h"
#include "jfr/held.h"
#include "jfr/identity.h"
#include "jfr/tail.h"

struct late_scopes;
struct ledger;
struct watch;

/* A piece of a chunk for one batch. */
struct export_job {
	int fd;	     /* of the file */
	uint64_t at; /* of the chunk in it */
	const struct chunk_header *header;
	uint64_t from, to;		/* in the chunk */
	bool is_whole;			/* the header's offsets can be relied on */
	const struct held *held;	/* events before `from` that are exported now */
	int64_t hold_from_ns;		/* what was written from then on may be held; or NOT_HELD */
	const char *root, *path;	/* of the file, for labels and messages */
	const struct late_scopes *late; /* that go over from chunk to chunk of it */
	char name[BATCH_NAME_MAX];
	void **state; /* of the exporter, for this chunk: NULL at first */
};

struct export_result {
	uint64_t to;  /* up to where it was exported, where an event ends */
	uint64_t cut; /* bytes before that, of an event that is cut off: another file may have it */
	uint64_t n_events;
	uint64_t lost; /* bytes that are no events, ... */
	uint64_t lost_at;
	const char *what; /* ... and why: of the first of them, at lost_at in the file */
	int file_err;	  /* the file, not the output, is why it ends here */
	struct held
		held; /* events before `to` that come with the next piece; the watch's to free */
	uint64_t n_late_scopes; /* of whose events some were exported without their span */
};

struct watch_ops {
	/* 0; -EAGAIN: not before another piece that was exported is delivered; or what is wrong
	   with the output. Then nothing of it was delivered. */
	int (*export_piece)(void *ctx, const struct export_job *job, struct export_result *result);
	/* All that was exported since is delivered. */
	int (*sync)(void *ctx);
	/* The chunk was read to its end, or is closed for now. */
	void (*release)(void *ctx, void *state, bool is_read);
	bool (*is_stopped)(void);
};

#define HISTORY_ALL UINT64_MAX

struct watch_settings {
	struct discover_limits limits;
	size_t max_open;     /* descriptors */
	uint64_t max_chunks; /* that are remembered */
	uint64_t rescan_ns, look_ns;
	uint64_t rotate_age_ns; /* a growing chunk is exported no more often */
	uint64_t rotate_bytes;	/* or when so much of it waits */
	uint64_t hold_ns;    /* events of growing chunks may wait until they are so old; 0: never */
	uint64_t ask_ns;     /* between two looks at what all processes have open */
	uint64_t stale_ns;   /* without growth, and then with nobody who has it open */
	uint64_t linger_ns;  /* a file that was read to its end is held for so long */
	uint64_t history_ns; /* before the first look at a directory; 0: nothing */
	uint64_t remember_ns; /* chunks and files that are gone */
	uint64_t slice_ns;    /* between two commits */
	const char *proc;     /* "/proc" */
};

extern const struct watch_settings watch_settings_default;

enum lost_reason {
	LOST_VANISHED,	/* the file was deleted before it could be read */
	LOST_REPLACED,	/* it was cut off or begun anew */
	LOST_UNFLUSHED, /* its JVM died before it committed them */
	LOST_DAMAGED,
	LOST_UNREADABLE,
	N_LOST_REASONS
};

const char *lost_reason_name(enum lost_reason reason);

struct watch_counts {
	uint64_t n_files, n_growing, n_open, n_quarantined, n_foreign;
	uint64_t n_batches, n_events, n_bytes; /* bytes of the files */
	uint64_t n_duplicate_chunks, n_duplicate_bytes;
	uint64_t n_late_scopes;
	uint64_t n_historic; /* chunks before the history that is wanted */
	uint64_t n_lost[N_LOST_REASONS], lost_bytes[N_LOST_REASONS];
	uint64_t n_over_limit, n_unwatched, n_unreadable; /* files or directories; directories */
	uint64_t lag_ns;	/* how old the newest event is of what was exported just now, or of
				   what cannot be; the largest. 0: nothing waits */
	uint64_t n_failures;	/* of the output or the ledger, in a row */
	int err;		/* the last one */
	bool is_ledger_failing; /* it was the ledger's */
};

/* The ledger and the ops are borrowed. NULL: no memory. */
struct watch *watch_new(const struct watch_settings *settings, struct ledger *ledger,
			const struct watch_ops *ops, void *ctx);
void watch_free(struct watch *w);
int watch_add_root(struct watch *w, const char *path);
void watch_exclude(struct watch *w, const struct stat *dir);

/*
 * The first look at everything, then what happens within some ms: 0, or a negative errno that
 * ends it (no memory; the ledger is damaged). Failing outputs and full disks are tried again and
 * show in the counts.
 */
int watch_start(struct watch *w);
int watch_round(struct watch *w, int timeout_ms);
/* Is there nothing left to read but what may still grow? */
bool watch_is_idle(const struct watch *w);
const struct watch_counts *watch_counts(struct watch *w);

#endif
