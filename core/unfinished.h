/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The temporary file that is being written, if it has a name: for a signal handler that is about to
 * end weft. There is one at most.
 */
#ifndef CORE_UNFINISHED_H
#define CORE_UNFINISHED_H

#define UNFINISHED_NAME_MAX 64

/* dir: a descriptor that stays open until the file is cleared. */
void unfinished_set(int dir, const char name[UNFINISHED_NAME_MAX]);
void unfinished_clear(void);
/* Unlinks it. Async-signal-safe. */
void unfinished_unlink(void);

#endif
