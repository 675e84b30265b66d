// SPDX-License-Identifier: Apache-2.0
#include "jfr/event_order.h"

#include <stdlib.h>

#include "core/array.h"

void event_order_deinit(struct event_order *o)
{
	free(o->items);
	*o = (struct event_order){ 0 };
}

int event_order_add(struct event_order *o, const struct ordered_event *e)
{
	int err = ARRAY_RESERVE(o->items, o->cap, o->n);

	if (!err)
		o->items[o->n++] = *e;
	return err;
}

static int compare(const void *a, const void *b)
{
	const struct ordered_event *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

void event_order_sort(struct event_order *o)
{
	if (o->n)
		qsort(o->items, o->n, sizeof(*o->items), compare);
}
