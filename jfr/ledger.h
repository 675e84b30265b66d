/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was exported already, on disk: one sqlite3 file. It is written only after an output took a
 * batch, each batch in a transaction of its own that is on the disk when ledger_commit() returns;
 * so a weft that is killed at any moment finds the state before or after a batch, never between.
 *
 * One weft has it at a time. Functions return 0 or a negative errno: -ENOENT no such row, -ENOSPC
 * the disk is full, -EBUSY another weft has it, -EBADMSG it is damaged, -EMEDIUMTYPE it is no
 * ledger, -ENOTSUP a newer weft made it. What is no ledger or damaged is never written to.
 */
#ifndef JFR_LEDGER_H
#define JFR_LEDGER_H

#include <stdint.h>

#include "jfr/held.h"
#include "jfr/identity.h"

struct ledger;

int ledger_open(const char *path, struct ledger **out);
void ledger_close(struct ledger *l); /* NULL is fine */

int ledger_begin(struct ledger *l);
int ledger_commit(struct ledger *l);
void ledger_rollback(struct ledger *l);

enum source_state { SOURCE_GROWING, SOURCE_DONE, SOURCE_QUARANTINED, N_SOURCE_STATES };

/* A file. Paths and reasons of what is found are valid until the next call for sources. */
struct source_record {
	struct file_identity id;
	const char *path;
	uint64_t size;
	int64_t mtime_ns;
	uint64_t offset;   /* of the chunk that is not done yet */
	uint64_t exported; /* bytes of the file that need not be read again */
	enum source_state state;
	const char *reason; /* of a quarantine, else "" */
	uint64_t seen_ns;   /* unix time */
};

int ledger_find_source(struct ledger *l, const struct file_identity *id, struct source_record *out);
int ledger_put_source(struct ledger *l, const struct source_record *source);
/* All in this state. fn must not ask for sources; an answer other than 0 ends it. */
int ledger_each_source(struct ledger *l, enum source_state state,
		       int (*fn)(void *ctx, const struct source_record *source), void *ctx);

struct chunk_record {
	struct chunk_key key;
	uint64_t exported;	    /* up to this offset in the chunk */
	uint64_t seen;		    /* up to here files had it: what is lost of that was said */
	uint64_t size;		    /* of the finished chunk; 0 while it grows */
	char batch[BATCH_NAME_MAX]; /* the last one */
	uint64_t seen_ns;
	struct held held; /* events before `exported` that were not exported with it */
};

/* What is held is the caller's then, to be freed. */
int ledger_find_chunk(struct ledger *l, const struct chunk_key *key, struct chunk_record *out);
int ledger_put_chunk(struct ledger *l, const struct chunk_record *chunk);

/* Was this directory looked into before? What was in it then counts as seen. 0 or -ENOENT. */
int ledger_find_root(struct ledger *l, const char *path);
int ledger_add_root(struct ledger *l, const char *path, uint64_t now_ns);

/* What could not be exported, for ever: in all runs together. */
int ledger_add_lost(struct ledger *l, const char *reason, uint64_t n, uint64_t bytes);
int ledger_each_lost(struct ledger *l,
		     int (*fn)(void *ctx, const char *reason, uint64_t n, uint64_t bytes),
		     void *ctx);

/* Forgets chunks and finished files that were last seen before this time, and the longest unseen
   chunks beyond so many. */
int ledger_prune(struct ledger *l, uint64_t before_ns, uint64_t max_chunks);

#endif
