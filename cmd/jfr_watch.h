/* SPDX-License-Identifier: Apache-2.0 */
/* `weft jfr DIR... --watch`. */
#ifndef CMD_JFR_WATCH_H
#define CMD_JFR_WATCH_H

struct options;

int jfr_watch(const struct options *opt); /* the exit status */

#endif
