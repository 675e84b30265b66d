/* SPDX-License-Identifier: Apache-2.0 */
/* Where the ledger of `weft jfr --watch` is, and opening it. */
#ifndef CMD_JFR_LEDGER_PATH_H
#define CMD_JFR_LEDGER_PATH_H

struct ledger;
struct options;

/* By --ledger, else a file for these directories in a state directory, which is made. NULL after
   saying why and what to do. */
struct ledger *jfr_ledger_open(const struct options *opt);

#endif
