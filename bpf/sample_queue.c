// SPDX-License-Identifier: Apache-2.0
#include "bpf/sample_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"

#define ID_CPU_SHIFT 40 /* sample.bpf.h: the CPU's number is above it, a count below */

struct item {
	uint64_t time_ns, number;
	struct wire_sample *sample;
	struct wire_snapshot_page **pages;
	size_t n_pages;
	struct wire_build_ids *build_ids;
};

struct sample_queue {
	struct item *items; /* [first, n): sorted by time after sample_queue_sort() */
	size_t first, n, cap;
	struct wire_part **parts; /* whose sample has not come yet */
	size_t n_parts, cap_parts;
	struct item taken;
	uint64_t n_seen;
	size_t len; /* bytes of records held */
};

struct sample_queue *sample_queue_new(void)
{
	return calloc(1, sizeof(struct sample_queue));
}

static void part_free(struct sample_queue *q, struct wire_part *part)
{
	if (part)
		q->len -= part->h.len;
	free(part);
}

static void item_free(struct sample_queue *q, struct item *item)
{
	for (size_t i = 0; i < item->n_pages; i++)
		part_free(q, (struct wire_part *)item->pages[i]);
	part_free(q, (struct wire_part *)item->build_ids);
	free(item->pages);
	if (item->sample)
		q->len -= item->sample->h.len;
	free(item->sample);
	*item = (struct item){ 0 };
}

void sample_queue_free(struct sample_queue *q)
{
	if (!q)
		return;
	item_free(q, &q->taken);
	for (size_t i = q->first; i < q->n; i++)
		item_free(q, &q->items[i]);
	for (size_t i = 0; i < q->n_parts; i++)
		part_free(q, q->parts[i]);
	free(q->items);
	free(q->parts);
	free(q);
}

/* A copy that is as long as its header says. */
static void *copy_record(struct sample_queue *q, const void *record, size_t len)
{
	void *copy = malloc(len);

	if (!copy)
		return NULL;
	memcpy(copy, record, len);
	((struct wire_header *)copy)->len = (uint32_t)len;
	q->len += len;
	return copy;
}

static int add_part(struct sample_queue *q, const void *record, size_t len)
{
	if (ARRAY_RESERVE(q->parts, q->cap_parts, q->n_parts) < 0)
		return -ENOMEM;
	q->parts[q->n_parts] = copy_record(q, record, len);
	if (!q->parts[q->n_parts])
		return -ENOMEM;
	q->n_parts++;
	return 0;
}

static int add_page(struct sample_queue *q, const void *record, size_t len)
{
	struct wire_snapshot_page page;

	if (len < sizeof(page))
		return -EBADMSG;
	memcpy(&page, record, sizeof(page));
	return page.len > len - sizeof(page) ? -EBADMSG : add_part(q, record, len);
}

static int add_build_ids(struct sample_queue *q, const void *record, size_t len)
{
	struct wire_build_ids ids;

	if (len < sizeof(ids))
		return -EBADMSG;
	memcpy(&ids, record, sizeof(ids));
	return ids.n > WIRE_MAX_BUILD_IDS ? -EBADMSG : add_part(q, record, len);
}

/* False: there is no place for it. */
static bool give_part(struct item *item, struct wire_part *part)
{
	if (part->h.type == WIRE_BUILD_IDS && !item->build_ids)
		item->build_ids = (struct wire_build_ids *)part;
	else if (part->h.type == WIRE_SNAPSHOT_PAGE && item->pages)
		item->pages[item->n_pages++] = (struct wire_snapshot_page *)part;
	else
		return false;
	return true;
}

/* Moves the parts of a sample to it. A CPU's records come in order: older parts of the same CPU are
   of samples that were lost. */
static void take_parts(struct sample_queue *q, struct item *item)
{
	uint64_t id = item->sample->id;
	size_t kept = 0;

	if (q->n_parts)
		item->pages = calloc(q->n_parts, sizeof(*item->pages));
	for (size_t i = 0; i < q->n_parts; i++) {
		struct wire_part *part = q->parts[i];
		bool is_older = part->sample_id >> ID_CPU_SHIFT == id >> ID_CPU_SHIFT &&
				part->sample_id <= id;

		if (part->sample_id == id && give_part(item, part))
			continue;
		if (is_older)
			part_free(q, part);
		else
			q->parts[kept++] = part;
	}
	q->n_parts = kept;
}

static int add_sample(struct sample_queue *q, const void *record, size_t len)
{
	struct wire_sample sample;
	struct item *item;

	if (len < sizeof(sample))
		return -EBADMSG;
	memcpy(&sample, record, sizeof(sample));
	if ((len - sizeof(sample)) / sizeof(struct wire_frame) < sample.n_kernel + sample.n_user)
		return -EBADMSG;
	if (ARRAY_RESERVE(q->items, q->cap, q->n) < 0)
		return -ENOMEM;
	item = &q->items[q->n];
	*item = (struct item){ .time_ns = sample.time_ns, .number = q->n_seen++ };
	item->sample = copy_record(q, record, len);
	if (!item->sample)
		return -ENOMEM;
	q->n++;
	take_parts(q, item);
	return 0;
}

int sample_queue_add(struct sample_queue *q, const void *record, size_t len)
{
	struct wire_header h;

	if (len < sizeof(h) || len > UINT32_MAX)
		return -EBADMSG;
	memcpy(&h, record, sizeof(h));
	if (h.type == WIRE_SAMPLE)
		return add_sample(q, record, len);
	if (h.type == WIRE_SNAPSHOT_PAGE)
		return add_page(q, record, len);
	return h.type == WIRE_BUILD_IDS ? add_build_ids(q, record, len) : -EBADMSG;
}

static int by_time(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

void sample_queue_sort(struct sample_queue *q)
{
	q->n -= q->first;
	if (q->first && q->n)
		memmove(q->items, q->items + q->first, q->n * sizeof(*q->items));
	q->first = 0;
	if (q->n)
		qsort(q->items, q->n, sizeof(*q->items), by_time);
}

uint64_t sample_queue_time(const struct sample_queue *q)
{
	return q->first < q->n ? q->items[q->first].time_ns : UINT64_MAX;
}

bool sample_queue_take(struct sample_queue *q, struct queued_sample *out)
{
	item_free(q, &q->taken);
	if (q->first == q->n)
		return false;
	q->taken = q->items[q->first++];
	*out = (struct queued_sample){
		.sample = q->taken.sample,
		.pages = (const struct wire_snapshot_page *const *)q->taken.pages,
		.n_pages = q->taken.n_pages,
		.build_ids = q->taken.build_ids,
	};
	return true;
}

size_t sample_queue_memory(const struct sample_queue *q)
{
	return sizeof(*q) + q->len + q->cap * sizeof(*q->items) + q->cap_parts * sizeof(*q->parts);
}
