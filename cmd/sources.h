/* SPDX-License-Identifier: Apache-2.0 */
/* The files weft reads: a table of sources, chosen by their first bytes. */
#ifndef CMD_SOURCES_H
#define CMD_SOURCES_H

struct options;
struct profile;

/*
 * Reads a whole file ("-" is stdin) into a new profile. NULL when there is nothing to show. *status
 * is EXIT_OK, or the exit status that says what was wrong, which was logged: with EXIT_DAMAGED
 * there may be a profile of what came before the damage.
 */
struct profile *sources_load(const char *path, const struct options *opt, int *status);

#endif
