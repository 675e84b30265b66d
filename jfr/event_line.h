/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moments as ProfileEvent lines: one JSON object each, with the flat keys that dashboards of that
 * format know (docs/jfr.md), streamed as they come. Stacks are innermost first.
 */
#ifndef JFR_EVENT_LINE_H
#define JFR_EVENT_LINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "jfr/interpreter.h"

/* All zero at first, but for `out`. */
struct event_lines {
	FILE *out;	    /* borrowed */
	char *whose;	    /* keys and values, as they are written; NULL: nothing is known */
	bool shows_secrets; /* of jfr/secret.h */
	uint64_t n;	    /* lines written */
	int err;
	struct text_room room;
};

struct event_line_key {
	const char *key, *value;
};

void event_lines_deinit(struct event_lines *l);
/* What lines say from here on of whose recording it is. The first key is always there, of the
   others no value is "", and no pid 0. Without memory the next line is the error. */
void event_lines_set_whose(struct event_lines *l, const struct event_line_key *keys, size_t n,
			   int64_t pid);
struct moment_sink event_lines_sink(struct event_lines *l);

#endif
