/* SPDX-License-Identifier: Apache-2.0 */
/* The files that are watched, found by device and inode. */
#ifndef JFR_FILES_H
#define JFR_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "jfr/identity.h"
#include "jfr/late_scopes.h"
#include "jfr/tail.h"

struct unpack;

enum file_kind {
	FILE_NEW,	/* nobody looked at it yet */
	FILE_RECORDING, /* or it may become one: it is followed */
	FILE_PACKED,	/* its tail is of a copy, unpacked */
	FILE_DONE,	/* everything was read; looked at again when it changes */
	FILE_FOREIGN,	/* no recording; the same */
};

struct file {
	uint64_t dev, ino;
	unsigned int root;
	char *path; /* below the root */
	enum file_kind kind;
	uint64_t start_ns; /* of its identity; what is packed has none */
	struct tail tail;
	uint64_t size; /* as found or looked at last */
	int64_t mtime_ns;
	unsigned int scan;			   /* the last one that came by */
	uint64_t looked_ns, exported_ns, retry_ns; /* monotonic */
	uint64_t recorded_ns;			   /* in the ledger, unix time */
	uint64_t flushed_ns;	    /* when its JVM flushed what was exported last, unix time */
	uint64_t flush_gap_ns;	    /* between the last two of its chunk that were exported, ... */
	uint64_t flush_interval_ns; /* ... and what that says of the next one; 0: not known */
	uint64_t held_at;	    /* in the chunk: of the first event that is held; 0: none is */
	uint64_t due_ns;	    /* those that are held are then exported, monotonic */
	bool is_followed;	    /* its chunk was looked at while its JVM wrote it */
	bool is_touched;	    /* something was heard of it */
	bool is_dirty;		    /* the ledger does not know */
	bool is_recorded;
	bool is_resumed;	 /* what is known of its chunk is known of itself */
	bool is_waiting;	 /* for other chunks to be read first */
	bool is_called;		 /* and the one before its own has been */
	bool is_busy;		 /* a batch of it waits to be delivered */
	char *reason;		 /* of its quarantine; NULL: none */
	int packed;		 /* the packed file itself; -1 */
	struct late_scopes late; /* of what is open, when its end was there: */
	uint64_t late_size;	 /* at this size it was looked at; 0: never */
	struct unpack *unpack;
	void *state; /* of whoever exports the chunk */
};

struct files {
	struct file **items; /* in no order, unless they were sorted */
	size_t n, cap;
	struct file **slots; /* open addressing */
	size_t n_slots;
};

void files_deinit(struct files *f);
struct file *files_find(const struct files *f, uint64_t dev, uint64_t ino);
/* A new one; NULL: no memory. */
struct file *files_add(struct files *f, uint64_t dev, uint64_t ino, unsigned int root,
		       const char *path);
/* By its place in items, where another one is then; it is freed. Its state and unpack were. */
void files_remove(struct files *f, size_t index);
/* By their paths, as the chunks of a JVM are called by their time. */
void files_sort(struct files *f);
int file_set_path(struct file *file, unsigned int root, const char *path);
void file_set_reason(struct file *file, const char *reason);

#endif
