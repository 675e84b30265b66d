/* SPDX-License-Identifier: Apache-2.0 */
/* What `weft jfr --watch` says about itself while it runs. */
#ifndef CMD_JFR_WATCH_TEXT_H
#define CMD_JFR_WATCH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct watch_counts;

/* For a terminal: `watch 12s · 31 recordings · 2376 events · lag 0.8s · 0 lost · ^C stop`; when it
   is over, without what is over. */
const char *watch_status_line(const struct watch_counts *c, uint64_t elapsed_ns, bool is_over,
			      char *out, size_t size);
/* For a log and its readers: key=value, lost by reason. */
const char *watch_metrics_line(const struct watch_counts *c, char *out, size_t size);

#endif
