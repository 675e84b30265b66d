/* SPDX-License-Identifier: Apache-2.0 */
/* What JVMs did beside their programs, as tables for people. */
#ifndef CMD_JFR_TABLES_H
#define CMD_JFR_TABLES_H

#include <stddef.h>
#include <stdio.h>

struct options;
struct summary;

/* How many rows of n a table shows: as asked for, with --verbose all, else at most `most`. */
size_t table_rows(const struct options *opt, size_t n, size_t most);
/* Says how many rows are left out, if any, at column 12 of the numbers. */
void table_print_rest(const struct options *opt, size_t n, size_t shown, FILE *out);

/* How busy threads were, by what the JVM says. */
void tables_print_loads(const struct options *opt, const struct summary *s, FILE *out);
/* Collections, pauses, safepoints, compilations, methods, and what was measured now and then. */
void tables_print_jvm(const struct options *opt, const struct summary *s, FILE *out);

#endif
