// SPDX-License-Identifier: Apache-2.0
/* The rows of a ledger. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "jfr/ledger.h"
#include "jfr/ledger_db.h"

static const char *const texts[N_LEDGER_STATEMENTS] = {
	[LEDGER_BEGIN] = "BEGIN IMMEDIATE",
	[LEDGER_COMMIT] = "COMMIT",
	[LEDGER_ROLLBACK] = "ROLLBACK",
	[LEDGER_FIND_SOURCE] =
		"SELECT dev, ino, start_ns, size, mtime_ns, offset, exported, state, seen_ns, path,"
		" reason FROM source WHERE dev = ? AND ino = ? AND start_ns = ?",
	[LEDGER_PUT_SOURCE] =
		"INSERT OR REPLACE INTO source (dev, ino, start_ns, size, mtime_ns, offset,"
		" exported, state, seen_ns, path, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	[LEDGER_EACH_SOURCE] =
		"SELECT dev, ino, start_ns, size, mtime_ns, offset, exported, state, seen_ns, path,"
		" reason FROM source WHERE state = ?",
	[LEDGER_FIND_CHUNK] =
		"SELECT start_ns, start_ticks, fingerprint, exported, size, seen_ns, batch, held,"
		" seen FROM chunk WHERE start_ns = ? AND start_ticks = ? AND fingerprint = ?",
	[LEDGER_PUT_CHUNK] =
		"INSERT OR REPLACE INTO chunk (start_ns, start_ticks, fingerprint, exported, size,"
		" seen_ns, seen, batch, held) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
	[LEDGER_FIND_ROOT] = "SELECT since_ns FROM root WHERE path = ?",
	[LEDGER_PUT_ROOT] = "INSERT OR IGNORE INTO root (since_ns, path) VALUES (?, ?)",
	[LEDGER_ADD_LOST] = "INSERT INTO lost (n, bytes, reason) VALUES (?, ?, ?) ON CONFLICT"
			    " (reason) DO UPDATE SET n = n + excluded.n,"
			    " bytes = bytes + excluded.bytes",
	[LEDGER_EACH_LOST] = "SELECT reason, n, bytes FROM lost ORDER BY reason",
	[LEDGER_PRUNE_CHUNKS] = "DELETE FROM chunk WHERE seen_ns < ?",
	[LEDGER_CAP_CHUNKS] =
		"DELETE FROM chunk WHERE (start_ns, start_ticks, fingerprint) IN (SELECT start_ns,"
		" start_ticks, fingerprint FROM chunk ORDER BY seen_ns DESC LIMIT -1 OFFSET ?)",
	[LEDGER_PRUNE_SOURCES] = "DELETE FROM source WHERE seen_ns < ? AND state != 0",
};

int ledger_prepare(struct ledger *l)
{
	for (int i = 0; i < N_LEDGER_STATEMENTS; i++) {
		int rc = sqlite3_prepare_v3(l->db, texts[i], -1, SQLITE_PREPARE_PERSISTENT,
					    &l->statements[i], NULL);

		/* What it says it is, it is not: a table or a column is missing. */
		if (rc == SQLITE_ERROR)
			return -EBADMSG;
		if (rc != SQLITE_OK)
			return ledger_error(l, rc);
	}
	return 0;
}

/* A statement with its first parameters; text, if any, goes behind them. */
static sqlite3_stmt *bind(struct ledger *l, enum ledger_statement which, const uint64_t *numbers,
			  int n)
{
	sqlite3_stmt *s = l->statements[which];

	sqlite3_reset(s);
	for (int i = 0; i < n; i++)
		sqlite3_bind_int64(s, i + 1, (sqlite3_int64)numbers[i]);
	return s;
}

/* A name may be any bytes. */
static void bind_path(sqlite3_stmt *s, int at, const char *path)
{
	sqlite3_bind_blob(s, at, path, (int)strlen(path), SQLITE_TRANSIENT);
}

static void bind_text(sqlite3_stmt *s, int at, const char *text)
{
	sqlite3_bind_text(s, at, text, -1, SQLITE_TRANSIENT);
}

static int finish(struct ledger *l, sqlite3_stmt *s)
{
	int err = ledger_error(l, sqlite3_step(s));

	sqlite3_reset(s);
	return err;
}

static uint64_t number(sqlite3_stmt *s, int column)
{
	return (uint64_t)sqlite3_column_int64(s, column);
}

static const char *text(sqlite3_stmt *s, int column)
{
	const char *found = (const char *)sqlite3_column_text(s, column);

	return found ? found : "";
}

static struct source_record read_source(sqlite3_stmt *s)
{
	uint64_t state = number(s, 7);

	return (struct source_record){
		.id = { number(s, 0), number(s, 1), number(s, 2) },
		.size = number(s, 3),
		.mtime_ns = (int64_t)number(s, 4),
		.offset = number(s, 5),
		.exported = number(s, 6),
		.state = state < N_SOURCE_STATES ? (enum source_state)state : SOURCE_GROWING,
		.seen_ns = number(s, 8),
		.path = text(s, 9),
		.reason = text(s, 10),
	};
}

int ledger_find_source(struct ledger *l, const struct file_identity *id, struct source_record *out)
{
	const uint64_t numbers[] = { id->dev, id->ino, id->start_ns };
	sqlite3_stmt *s = bind(l, LEDGER_FIND_SOURCE, numbers, 3);
	int rc = sqlite3_step(s);

	/* Not reset: the texts are the statement's until its next use. */
	if (rc == SQLITE_ROW)
		*out = read_source(s);
	return rc == SQLITE_DONE ? -ENOENT : ledger_error(l, rc);
}

int ledger_put_source(struct ledger *l, const struct source_record *source)
{
	const uint64_t numbers[] = {
		source->id.dev,
		source->id.ino,
		source->id.start_ns,
		source->size,
		(uint64_t)source->mtime_ns,
		source->offset,
		source->exported,
		source->state,
		source->seen_ns,
	};
	sqlite3_stmt *s = bind(l, LEDGER_PUT_SOURCE, numbers, 9);

	bind_path(s, 10, source->path);
	bind_text(s, 11, source->reason ? source->reason : "");
	return finish(l, s);
}

int ledger_each_source(struct ledger *l, enum source_state state,
		       int (*fn)(void *ctx, const struct source_record *source), void *ctx)
{
	const uint64_t numbers[] = { state };
	sqlite3_stmt *s = bind(l, LEDGER_EACH_SOURCE, numbers, 1);
	int rc, stop = 0;

	while ((rc = sqlite3_step(s)) == SQLITE_ROW && !stop) {
		struct source_record source = read_source(s);

		stop = fn(ctx, &source);
	}
	sqlite3_reset(s);
	return stop ? stop : ledger_error(l, rc);
}

int ledger_find_chunk(struct ledger *l, const struct chunk_key *key, struct chunk_record *out)
{
	const uint64_t numbers[] = { key->start_ns, key->start_ticks, key->fingerprint };
	sqlite3_stmt *s = bind(l, LEDGER_FIND_CHUNK, numbers, 3);
	int rc = sqlite3_step(s), err = rc == SQLITE_DONE ? -ENOENT : ledger_error(l, rc);
	struct held held = { 0 };

	if (!err)
		err = held_decode(&held, sqlite3_column_blob(s, 7),
				  (size_t)sqlite3_column_bytes(s, 7));
	if (!err) {
		*out = (struct chunk_record){ .key = *key,
					      .exported = number(s, 3),
					      .size = number(s, 4),
					      .seen_ns = number(s, 5),
					      .held = held,
					      .seen = number(s, 8) };
		snprintf(out->batch, sizeof(out->batch), "%s", text(s, 6));
	}
	sqlite3_reset(s);
	return err;
}

static void bind_held(sqlite3_stmt *s, int at, const struct held *held)
{
	uint8_t bytes[MAX_HELD * HELD_LEN];

	held_encode(held, bytes);
	sqlite3_bind_blob(s, at, bytes, (int)(held->n * HELD_LEN), SQLITE_TRANSIENT);
}

int ledger_put_chunk(struct ledger *l, const struct chunk_record *chunk)
{
	const uint64_t numbers[] = {
		chunk->key.start_ns,
		chunk->key.start_ticks,
		chunk->key.fingerprint,
		chunk->exported,
		chunk->size,
		chunk->seen_ns,
		chunk->seen,
	};
	sqlite3_stmt *s = bind(l, LEDGER_PUT_CHUNK, numbers, 7);

	bind_text(s, 8, chunk->batch);
	bind_held(s, 9, &chunk->held);
	return finish(l, s);
}

int ledger_find_root(struct ledger *l, const char *path)
{
	sqlite3_stmt *s = bind(l, LEDGER_FIND_ROOT, NULL, 0);
	int rc;

	bind_path(s, 1, path);
	rc = sqlite3_step(s);
	sqlite3_reset(s);
	return rc == SQLITE_DONE ? -ENOENT : ledger_error(l, rc);
}

int ledger_add_root(struct ledger *l, const char *path, uint64_t now_ns)
{
	sqlite3_stmt *s = bind(l, LEDGER_PUT_ROOT, &now_ns, 1);

	bind_path(s, 2, path);
	return finish(l, s);
}

int ledger_add_lost(struct ledger *l, const char *reason, uint64_t n, uint64_t bytes)
{
	const uint64_t numbers[] = { n, bytes };
	sqlite3_stmt *s = bind(l, LEDGER_ADD_LOST, numbers, 2);

	bind_text(s, 3, reason);
	return finish(l, s);
}

int ledger_each_lost(struct ledger *l,
		     int (*fn)(void *ctx, const char *reason, uint64_t n, uint64_t bytes),
		     void *ctx)
{
	sqlite3_stmt *s = bind(l, LEDGER_EACH_LOST, NULL, 0);
	int rc, stop = 0;

	while ((rc = sqlite3_step(s)) == SQLITE_ROW && !stop)
		stop = fn(ctx, text(s, 0), number(s, 1), number(s, 2));
	sqlite3_reset(s);
	return stop ? stop : ledger_error(l, rc);
}

int ledger_prune(struct ledger *l, uint64_t before_ns, uint64_t max_chunks)
{
	int err = finish(l, bind(l, LEDGER_PRUNE_CHUNKS, &before_ns, 1));

	if (!err)
		err = finish(l, bind(l, LEDGER_CAP_CHUNKS, &max_chunks, 1));
	if (!err)
		err = finish(l, bind(l, LEDGER_PRUNE_SOURCES, &before_ns, 1));
	return err;
}
