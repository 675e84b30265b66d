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
	uint32_t kept; /* event_order_fields() knows */
	struct event_type *type;
};

#define MAX_ORDERED (256 * 1024) /* 8 MB; more are put in order in turns */
#define MAX_KEPT (6 << 20) /* bytes of their fields; what is more is read from the file again */

struct event_order { /* all zero at first */
	struct ordered_event *items;
	size_t n, cap;
	uint8_t *bytes;
	size_t len, bytes_cap;
};

void event_order_deinit(struct event_order *o);
void event_order_clear(struct event_order *o);
/* With a copy of its fields, when there is room. 0 or -ENOMEM. */
int event_order_add(struct event_order *o, const struct ordered_event *e, const uint8_t *fields,
		    size_t fields_len);
/* The copy, until the next one is added; NULL: there is none. */
const uint8_t *event_order_fields(const struct event_order *o, const struct ordered_event *e,
				  size_t *len);
/* By time, and by where they are when that is the same. */
void event_order_sort(struct event_order *o);

#endif
