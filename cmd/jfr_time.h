/* SPDX-License-Identifier: Apache-2.0 */
/* --from and --to. */
#ifndef CMD_JFR_TIME_H
#define CMD_JFR_TIME_H

#include <stdbool.h>
#include <stdint.h>

/* "2026-11-21T10:00:05.5Z" as unix time (without a Z it is local time; a space will do for the T),
   or "90s" as a length of time from the start. False: neither. */
bool jfr_time_parse(const char *text, int64_t *ns, bool *is_from_start);
/* The same, with a length of time counted from start_ns. 0; 1: start_ns is 0 and has to be known;
   -EINVAL. NULL leaves *ns as it is. */
int jfr_time_set(const char *text, int64_t start_ns, int64_t *ns);

#endif
