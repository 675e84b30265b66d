/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a ledger: its statements, prepared once. */
#ifndef JFR_LEDGER_DB_H
#define JFR_LEDGER_DB_H

#include <sqlite3.h>

enum ledger_statement {
	LEDGER_BEGIN,
	LEDGER_COMMIT,
	LEDGER_ROLLBACK,
	LEDGER_FIND_SOURCE,
	LEDGER_PUT_SOURCE,
	LEDGER_EACH_SOURCE,
	LEDGER_FIND_CHUNK,
	LEDGER_PUT_CHUNK,
	LEDGER_FIND_ROOT,
	LEDGER_PUT_ROOT,
	LEDGER_ADD_LOST,
	LEDGER_EACH_LOST,
	LEDGER_PRUNE_CHUNKS,
	LEDGER_CAP_CHUNKS,
	LEDGER_PRUNE_SOURCES,
	N_LEDGER_STATEMENTS
};

struct ledger {
	sqlite3 *db;
	sqlite3_stmt *statements[N_LEDGER_STATEMENTS];
};

/* What sqlite3 said as a negative errno; 0 for its kinds of success. */
int ledger_error(struct ledger *l, int rc);
/* Prepares all statements. 0 or a negative errno. */
int ledger_prepare(struct ledger *l);

#endif
