/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Large recordings are read by several threads, each of which has a run of chunks of the file, and
 * all that is made of them, to itself. The results are put together in the order of the file, so
 * that they are what one thread would have made.
 */
#ifndef CMD_JFR_WORKERS_H
#define CMD_JFR_WORKERS_H

#include <stddef.h>

struct jfr_run;
struct recording_report;

/* How many threads there may be at most. */
size_t jfr_workers_most(const struct jfr_run *run);

/* As recording_read(), with what the run has of options and chunks that were seen. */
int jfr_workers_read(struct jfr_run *run, int fd, struct recording_report *report);

#endif
