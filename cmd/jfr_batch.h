/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where `weft jfr --watch` writes: a directory of files, one a batch, that appear when they are
 * complete and on the disk; or stdout, which has what it took and nothing to take back.
 *
 * A batch is begun, written to and ended; what was ended is delivered once batch_place_sync() said
 * so. A batch of a name that is there already takes its place.
 */
#ifndef CMD_JFR_BATCH_H
#define CMD_JFR_BATCH_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

struct batch_place;

/* "-" is stdout, anything else a directory, which is made. extension: ".json". NULL after saying
   why. is_stopped is asked while stdout takes nothing. */
struct batch_place *batch_place_open(const char *path, const char *extension,
				     bool (*is_stopped)(void));
void batch_place_close(struct batch_place *place); /* NULL is fine */
/* NULL for stdout. */
const struct stat *batch_place_dir(const struct batch_place *place);

/* One is open at a time, and any number ended and not synced; none of these of the same name. 0 or
   a negative errno: -ENOSPC the disk is full, -EPIPE nobody reads stdout, -EINTR it was stopped. */
int batch_begin(struct batch_place *place, const char *name, FILE **out);
int batch_end(struct batch_place *place);
void batch_abandon(struct batch_place *place);
/* There is nothing in it: it goes, and one of its name too. */
int batch_discard(struct batch_place *place, const char *name);
int batch_place_sync(struct batch_place *place);

#endif
