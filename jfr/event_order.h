/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of a chunk by their time. JVMs write them buffer by buffer, each thread's by itself, so
 * that those of about a second are mixed up.
 */
#ifndef JFR_EVENT_ORDER_H
#define JFR_EVENT_ORDER_H

#include <stddef.h>
#include <stdint.h>

struct event_type;

struct ordered_event {
	int64_t time_ns;
	uint64_t at; /* in the file */
	uint32_t size;
	struct event_type *type;
};

#define MAX_ORDERED (256 * 1024) /* 8 MB; more are put in order in turns */

struct event_order { /* all zero at first */
	struct ordered_event *items;
	size_t n, cap;
};

void event_order_deinit(struct event_order *o);
int event_order_add(struct event_order *o, const struct ordered_event *e); /* 0 or -ENOMEM */
/* By time, and by where they are when that is the same. */
void event_order_sort(struct event_order *o);

#endif
