// SPDX-License-Identifier: Apache-2.0
/* Opening a ledger, and its transactions. */
#include "jfr/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/reader.h"
#include "core/scoped.h"
#include "jfr/ledger_db.h"

#define APPLICATION_ID 0x77656674 /* "weft" */
#define APPLICATION_AT 68	  /* in the file, big endian */
#define HEAD_LEN 100
#define VERSION 3

SCOPED_DEFINE(struct ledger, ledger_close)

/* Rows are found by what identifies them; times are unix ns. Unsigned numbers are stored as the
   signed ones of the same bits. */
static const char schema[] =
	"CREATE TABLE source (dev INTEGER, ino INTEGER, start_ns INTEGER, path BLOB, size INTEGER,"
	" mtime_ns INTEGER, offset INTEGER, exported INTEGER, state INTEGER, reason TEXT,"
	" seen_ns INTEGER, PRIMARY KEY (dev, ino, start_ns)) WITHOUT ROWID;"
	"CREATE TABLE chunk (start_ns INTEGER, start_ticks INTEGER, fingerprint INTEGER,"
	" exported INTEGER, size INTEGER, batch TEXT, seen_ns INTEGER, held BLOB, seen INTEGER,"
	" PRIMARY KEY (start_ns, start_ticks, fingerprint)) WITHOUT ROWID;"
	"CREATE INDEX chunk_seen ON chunk (seen_ns);"
	"CREATE TABLE root (path BLOB PRIMARY KEY, since_ns INTEGER) WITHOUT ROWID;"
	"CREATE TABLE lost (reason TEXT PRIMARY KEY, n INTEGER, bytes INTEGER) WITHOUT ROWID;"
	"PRAGMA application_id = 2003134068;"
	"PRAGMA user_version = 3;";

/* From each version to the next one. */
static const char *const upgrades[VERSION] = {
	[1] = "ALTER TABLE chunk ADD COLUMN held BLOB; PRAGMA user_version = 2;",
	[2] = "ALTER TABLE chunk ADD COLUMN seen INTEGER; PRAGMA user_version = 3;",
};

int ledger_error(struct ledger *l, int rc)
{
	int system_errno;

	switch (rc & 0xff) {
	case SQLITE_OK:
	case SQLITE_DONE:
	case SQLITE_ROW:
		return 0;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_NOTADB:
		return -EMEDIUMTYPE;
	case SQLITE_CORRUPT:
		return -EBADMSG;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_READONLY:
	case SQLITE_PERM:
		return -EACCES;
	default:
		system_errno = l->db ? sqlite3_system_errno(l->db) : 0;
		return system_errno ? -system_errno : -EIO;
	}
}

static int execute(struct ledger *l, const char *sql)
{
	return ledger_error(l, sqlite3_exec(l->db, sql, NULL, NULL, NULL));
}

static int ask_number(struct ledger *l, const char *sql, int64_t *out)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(l->db, sql, -1, &s, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	if (rc == SQLITE_ROW)
		*out = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return ledger_error(l, rc);
}

/* Looked at before sqlite3 does, which would tidy up a database of somebody else's. */
static int check_head(int fd)
{
	uint8_t head[HEAD_LEN];
	ssize_t n = pread(fd, head, sizeof(head), 0);
	struct reader r;
	uint32_t application;

	if (n < 0)
		return -errno;
	reader_init(&r, head, (size_t)n);
	if (memcmp(head, "SQLite format 3", n < 16 ? (size_t)n : 16))
		return -EMEDIUMTYPE;
	reader_seek(&r, APPLICATION_AT, "application id");
	application = reader_u32_be(&r, "application id");
	return n && (reader_error(&r) || application != APPLICATION_ID) ? -EMEDIUMTYPE : 0;
}

/* With a journal beside it, it was being made when weft was killed. */
static bool has_journal(const char *path)
{
	char journal[PATH_MAX];

	return snprintf(journal, sizeof(journal), "%s-journal", path) < (int)sizeof(journal) &&
	       !access(journal, F_OK);
}

/* Only its owner reads it: it names files of others. */
static int create(const char *path)
{
	SCOPED(close)
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EMEDIUMTYPE;
	return has_journal(path) ? 0 : check_head(fd);
}

/* *version: VERSION also of one that has nothing yet, which is_new says. */
static int check_kind(struct ledger *l, bool *is_new, int64_t *version)
{
	int64_t application = 0, n_tables = 0;
	int err = ask_number(l, "PRAGMA application_id", &application);

	if (!err)
		err = ask_number(l, "PRAGMA user_version", version);
	if (!err)
		err = ask_number(l, "SELECT count(*) FROM sqlite_master", &n_tables);
	if (err)
		return err;
	*is_new = !application && !*version && !n_tables;
	if (*is_new) {
		*version = VERSION;
		return 0;
	}
	if (application != APPLICATION_ID)
		return -EMEDIUMTYPE;
	return *version > VERSION ? -ENOTSUP : *version < 1 ? -EBADMSG : 0;
}

static int is_ok(void *ok, int n, char **values, char **names)
{
	(void)names;
	*(bool *)ok = n == 1 && values[0] && !strcmp(values[0], "ok");
	return 0;
}

static int check_pages(struct ledger *l)
{
	bool ok = false;
	int err = ledger_error(l, sqlite3_exec(l->db, "PRAGMA quick_check(1)", is_ok, &ok, NULL));

	return err ? err : ok ? 0 : -EBADMSG;
}

/* The lock is kept from the first transaction to the end, and the kernel drops it with a process
   that is killed. */
static int take(struct ledger *l)
{
	int64_t version = VERSION;
	bool is_new;
	int err = execute(l, "PRAGMA locking_mode = EXCLUSIVE");

	if (!err)
		err = check_kind(l, &is_new, &version);
	if (!err)
		err = execute(l, "BEGIN IMMEDIATE");
	if (!err && is_new)
		err = execute(l, schema);
	else if (!err)
		err = check_pages(l);
	for (; !err && version < VERSION; version++)
		err = execute(l, upgrades[version]);
	if (!err)
		err = execute(l, "COMMIT");
	/* Last, so that the file's own head has the application id and not the log beside it. */
	return err ? err : execute(l, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
}

int ledger_open(const char *path, struct ledger **out)
{
	SCOPED(ledger_close) struct ledger *l = (struct ledger *)calloc(1, sizeof(*l));
	int err = create(path);

	if (!l)
		return -ENOMEM;
	if (!err)
		err = ledger_error(l, sqlite3_open_v2(path, &l->db,
						      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW,
						      NULL));
	if (!err)
		err = take(l);
	if (!err)
		err = ledger_prepare(l);
	if (!err)
		*out = TAKE(l);
	return err;
}

void ledger_close(struct ledger *l)
{
	if (!l)
		return;
	for (int i = 0; i < N_LEDGER_STATEMENTS; i++)
		sqlite3_finalize(l->statements[i]);
	sqlite3_close(l->db);
	free(l);
}

static int step_alone(struct ledger *l, enum ledger_statement which)
{
	sqlite3_stmt *s = l->statements[which];
	int err = ledger_error(l, sqlite3_step(s));

	sqlite3_reset(s);
	return err;
}

int ledger_begin(struct ledger *l)
{
	return step_alone(l, LEDGER_BEGIN);
}

int ledger_commit(struct ledger *l)
{
	return step_alone(l, LEDGER_COMMIT);
}

void ledger_rollback(struct ledger *l)
{
	/* Some failures have rolled it back already. */
	if (!sqlite3_get_autocommit(l->db))
		step_alone(l, LEDGER_ROLLBACK);
}
