/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of a watch share: rounds (watch.c), files (watch_open.c, watch_file.c,
 * watch_history.c), pieces of their chunks (watch_piece.c), what waits to be committed
 * (watch_commit.c) or for the next piece (watch_hold.c), what is known of later chunks
 * (watch_ahead.c), and writers that died (watch_stale.c).
 */
#ifndef JFR_WATCH_INSIDE_H
#define JFR_WATCH_INSIDE_H

#include "jfr/files.h"
#include "jfr/ledger.h"
#include "jfr/watch.h"

/* A batch that was exported, and is not committed. What is held is the result's. */
struct pending {
	struct file *file;
	struct chunk_record chunk;
	struct export_result result;
	uint64_t from;
	bool is_last;
};

struct watch {
	struct watch_settings settings;
	struct watch_counts counts;
	struct ledger *ledger;
	const struct watch_ops *ops;
	void *ctx;
	struct discover *discover;
	char **roots;
	bool *is_root_known;
	size_t n_roots, roots_cap, known_cap;
	struct files files;
	size_t n_open, next; /* the file whose turn it is */
	struct pending *pending;
	size_t n_pending, pending_cap;
	unsigned int scan;
	uint64_t scanned_ns, asked_ns, pruned_ns, retry_ns, backoff_ns;
	uint64_t lag_ns, lagged_ns; /* of the pieces committed last, and when that was */
	bool wants_scan, has_more, is_silence_said;
	bool holds_any; /* in this round; few files hold anything, and none has to ask all others */
	uint64_t lost_n[N_LOST_REASONS], lost_bytes[N_LOST_REASONS]; /* not in the ledger yet */
};

uint64_t watch_now(void); /* of a clock that does not jump */
uint64_t watch_unix_now(void);

/* Opens it and finds where to go on. false: it cannot be read now. */
bool watch_open(struct watch *w, struct file *file);
void watch_close(struct watch *w, struct file *file);
/* What the inode was is over: its row says so, and another one begins. */
void watch_retire(struct watch *w, struct file *file);
/* Everything of it was read: nothing is held any more. */
void watch_finish(struct watch *w, struct file *file);
bool watch_is_named_recording(const struct file *file);
/* Something of it is damaged, and said once. */
void watch_quarantine(struct file *file, const char *what, uint64_t at);
/* It cannot be read any further, as its tail says. */
void watch_give_up(struct watch *w, struct file *file);
/* Its chunk is over. */
void watch_end_chunk(struct watch *w, struct file *file);
/* Before the history that is wanted: passes over what is older. */
int watch_skip_history(struct watch *w, struct file *file);
/* Up to where it was exported, in the file; before that nothing waits either. */
uint64_t watch_read_to(const struct file *file);
/* Looks at a file and exports the piece it has, if there is one. 0, or what the output said. */
int watch_visit(struct watch *w, struct file *file);
/* The scopes that go over from chunk to chunk of a file: none while it is still written. */
const struct late_scopes *watch_look_ahead(struct file *file);
/* The same, and those that go over to the JVM's next chunk, as far as that was flushed. */
const struct late_scopes *watch_look_at_next(struct watch *w, struct file *file);
/* Does a file begin with the chunk behind the one that is read of another, of the same JVM? */
bool watch_follows(const struct file *before, const struct file *file);
/* Exports what is left of its piece, or what waited too long for the next one: the same. */
int watch_take_piece(struct watch *w, struct file *file);
int watch_release_held(struct watch *w, struct file *file);

/* How old the newest event may be of what its header says; of finished chunks nothing is said. */
uint64_t watch_lag(const struct file *file);
void watch_lose(struct watch *w, enum lost_reason reason, uint64_t bytes);
/* Delivers and writes down what is pending. */
int watch_commit(struct watch *w);
int watch_put_file(struct watch *w, struct file *file);
/* Is a batch of this chunk waiting? */
bool watch_is_pending(const struct watch *w, const struct chunk_key *key);

/* Events of the piece that were written from then on may wait for the next one; NOT_HELD: none. */
int64_t watch_hold_from(const struct watch *w, const struct file *file);
/* Do events wait that should not wait any longer? */
bool watch_is_held_too_long(const struct file *file, uint64_t now);
/* Do events of its finished chunk wait for the first flush of the JVM's next one? */
bool watch_awaits_next_chunk(const struct file *file);
/* This is that flush: those that wait for it are due now, before anything of it. */
enum held_before {
	HELD_BEFORE_NONE,
	HELD_BEFORE_DUE,
	HELD_BEFORE_ON, /* it came so soon behind the chunk's end that they wait for the next one */
};
enum held_before watch_release_before(struct watch *w, const struct file *file);
/* Do events of its chunk, which ends, wait in another file for what that one knows better? */
bool watch_is_held_elsewhere(const struct watch *w, const struct file *file);
void watch_note_held(struct file *file, const struct held *held);
/* Whoever waits for what it holds at its chunk's end need not wait for the next look. */
void watch_call_next(struct watch *w, const struct file *file);
/* Another chunk begins. */
void watch_forget_held(struct file *file);

/* Settles the files whose writers died. */
void watch_settle_stale(struct watch *w);

#endif
