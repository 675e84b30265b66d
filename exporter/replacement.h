/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that takes its place when it is complete. The place is settled once, as a directory and a
 * name in it, where what was there was really opened: links and directories that are swapped later
 * lead nowhere. Until then the file has no name at all, so that a weft that is killed leaves
 * nothing; where the file system cannot do that it is core/unfinished.h's.
 *
 * A device or a FIFO has nothing to replace and is written to.
 */
#ifndef EXPORTER_REPLACEMENT_H
#define EXPORTER_REPLACEMENT_H

#include <stdbool.h>

#include "core/unfinished.h"

struct replacement {
	int fd;	 /* to write to */
	int dir; /* -1: fd is the device or FIFO itself */
	char *name;
	char temporary[UNFINISHED_NAME_MAX]; /* in dir; "": there is none */
};

/* Asks the kernel whether what is at path may be written, and makes the new file. is_private: for
   nobody but its owner, who is the user behind sudo. 0 or -errno, and then there is nothing to
   abandon; -ESTALE: path leads to other files all the time. */
int replacement_open(struct replacement *r, const char *path, bool is_private);
/* Either one ends it. 0 or -errno, with the old file as it was. */
int replacement_finish(struct replacement *r);
void replacement_abandon(struct replacement *r);

#endif
