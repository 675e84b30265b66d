/* SPDX-License-Identifier: Apache-2.0 */
/* What has to be known of recordings before they are read. */
#ifndef CMD_JFR_AHEAD_H
#define CMD_JFR_AHEAD_H

struct jfr_paths;
struct jfr_run;
struct unpack_part;

/* Finds out which chunks are whole in one of several files, and the scopes of spans that go over
   from chunk to chunk, or from file to file. 0, -ENOMEM, -E2BIG or -EINTR. */
int jfr_ahead(struct jfr_run *run, const struct jfr_paths *paths);
/* The same of what is about to be read: what was packed has its own, from chunk to chunk only. */
int jfr_ahead_of_part(struct jfr_run *run, const struct unpack_part *part);

#endif
