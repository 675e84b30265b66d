/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of a profile before it is shown or written: samples that the filter does not keep
 * go, and with --by KEY all stacks begin with a frame that says what label KEY is.
 */
#ifndef CMD_SELECTION_H
#define CMD_SELECTION_H

struct options;
struct profile;

/* Only the samples that --focus, --ignore and --label keep. 0 or -ENOMEM. */
int selection_keep(struct profile *p, const struct options *opt);
/* A root for each value of the label: "[task: refresher]", "[no task]". Names that asyncio makes
   are one:
   "[task: Task-*]". */
void selection_by_label(struct profile *p, const char *key);

#endif
