/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of a profile before it is shown or written: samples that the filter does not keep
 * go, with --only LANGUAGE frames of other languages do, and with --by KEY all stacks begin with a
 * frame that says what label KEY is.
 */
#ifndef CMD_SELECTION_H
#define CMD_SELECTION_H

#include <stdbool.h>

#include "core/profile.h"

struct options;

/* Only the samples that --focus, --ignore and --label keep, of their frames only those that --only
   does. 0 or -ENOMEM. */
int selection_keep(struct profile *p, const struct options *opt);
/* A root for each value of the label: "[task: refresher]", "[no task]". Names that asyncio makes
   are one:
   "[task: Task-*]". */
void selection_by_label(struct profile *p, const char *key);
/* What --only LANGUAGE keeps; FRAME_UNKNOWN: everything (NULL), or there is no such language. */
enum frame_kind selection_kind(const char *only);
/* What people call a kind: the word that --only takes where it takes one. */
const char *selection_language(enum frame_kind kind);
/* Does --only keep this frame? Marks and what --by begins stacks with stay. */
bool selection_keeps_frame(const struct location *l, enum frame_kind only);
/* "[no python]": the stack of what has no frame of that language, in text[32]. */
const char *selection_no_frame(const char *only, char *text);

#endif
