/* SPDX-License-Identifier: Apache-2.0 */
/* What the options say about `weft jfr --watch`: exit statuses, EXIT_OK or after saying why. */
#ifndef CMD_JFR_WATCH_OPTIONS_H
#define CMD_JFR_WATCH_OPTIONS_H

#include <stdbool.h>

#include "cmd/jfr_export.h"
#include "jfr/watch.h"

struct options;

struct jfr_watch_plan {
	struct jfr_export_settings exports;
	struct watch_settings watch;
};

/* Borrows from the options. is_stopped as in cmd/jfr_export.h. */
int jfr_watch_plan(const struct options *opt, bool (*is_stopped)(void),
		   struct jfr_watch_plan *plan);
/* Without --watch: none of its own options may be there. */
int jfr_watch_refuse_options(const struct options *opt);

#endif
