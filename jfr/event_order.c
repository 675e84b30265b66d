// SPDX-License-Identifier: Apache-2.0
#include "jfr/event_order.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "jfr/wire.h"

#define FIRST_BYTES (64 * 1024)
#define NOT_KEPT UINT32_MAX

void event_order_deinit(struct event_order *o)
{
	free(o->items);
	free(o->bytes);
	*o = (struct event_order){ 0 };
}

void event_order_clear(struct event_order *o)
{
	o->n = o->len = 0;
}

static bool has_room(struct event_order *o, size_t len)
{
	size_t cap = o->bytes_cap ? o->bytes_cap : FIRST_BYTES;
	uint8_t *bytes;

	if (len > MAX_KEPT - o->len)
		return false;
	while (cap < o->len + len)
		cap *= 2;
	if (cap == o->bytes_cap)
		return true;
	bytes = realloc(o->bytes, cap + WIRE_PADDING);
	if (!bytes)
		return false;
	o->bytes = bytes;
	o->bytes_cap = cap;
	return true;
}

/* Before them how many bytes of the event are no fields, in one byte. */
static uint32_t keep(struct event_order *o, const struct ordered_event *e, const uint8_t *fields,
		     size_t len)
{
	uint32_t kept = (uint32_t)o->len;

	if (e->size - len > UINT8_MAX || !has_room(o, len + 1))
		return NOT_KEPT;
	o->bytes[o->len++] = (uint8_t)(e->size - len);
	memcpy(o->bytes + o->len, fields, len);
	o->len += len;
	return kept;
}

int event_order_add(struct event_order *o, const struct ordered_event *e, const uint8_t *fields,
		    size_t fields_len)
{
	int err = ARRAY_RESERVE(o->items, o->cap, o->n);

	if (err)
		return err;
	o->items[o->n] = *e;
	o->items[o->n++].kept = keep(o, e, fields, fields_len);
	return 0;
}

const uint8_t *event_order_fields(const struct event_order *o, const struct ordered_event *e,
				  size_t *len)
{
	if (e->kept == NOT_KEPT)
		return NULL;
	*len = e->size - o->bytes[e->kept];
	return o->bytes + e->kept + 1;
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
