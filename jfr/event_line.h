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

#define EVENT_LINE_SERVICE_MAX 256

/* All zero at first, but for `out`. */
struct event_lines {
	FILE *out; /* borrowed */
	/* of whose recording it is; "" unknown */
	char service[EVENT_LINE_SERVICE_MAX], host[EVENT_LINE_SERVICE_MAX];
	char namespace[EVENT_LINE_SERVICE_MAX], pod[EVENT_LINE_SERVICE_MAX];
	char container[EVENT_LINE_SERVICE_MAX], deployment[EVENT_LINE_SERVICE_MAX];
	int64_t pid;
	bool shows_secrets; /* of jfr/secret.h */
	uint64_t n;	    /* lines written */
	struct text_room room;
};

void event_lines_deinit(struct event_lines *l);
struct moment_sink event_lines_sink(struct event_lines *l);

#endif
