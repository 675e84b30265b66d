// SPDX-License-Identifier: Apache-2.0
#include "bpf/sample_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ID_CPU_SHIFT 40 /* sample.bpf.h: the CPU's number is above it, a count below */

struct item {
	uint64_t time_ns, number;
	struct wire_sample *sample;
	struct wire_snapshot_page **pages;
	size_t n_pages;
};

struct sample_queue {
	struct item *items; /* [first, n): sorted by time after sample_queue_sort() */
	size_t first, n, cap;
	struct wire_snapshot_page **pages; /* whose sample has not come yet */
	size_t n_pages, cap_pages;
	struct item taken;
	uint64_t n_seen;
	size_t len; /* bytes of records held */
};

struct sample_queue *sample_queue_new(void)
{
	return calloc(1, sizeof(struct sample_queue));
}

static void page_free(struct sample_queue *q, struct wire_snapshot_page *page)
{
	q->len -= page->h.len;
	free(page);
}

static void item_free(struct sample_queue *q, struct item *item)
{
	for (size_t i = 0; i < item->n_pages; i++)
		page_free(q, item->pages[i]);
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
	for (size_t i = 0; i < q->n_pages; i++)
		page_free(q, q->pages[i]);
	free(q->items);
	free(q->pages);
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

static int add_page(struct sample_queue *q, const void *record, size_t len)
{
	struct wire_snapshot_page page;

	if (len < sizeof(page))
		return -EBADMSG;
	memcpy(&page, record, sizeof(page));
	if (page.len > len - sizeof(page))
		return -EBADMSG;
	if (q->n_pages == q->cap_pages) {
		size_t cap = q->cap_pages ? 2 * q->cap_pages : 64;
		struct wire_snapshot_page **grown = realloc(q->pages, cap * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		q->pages = grown;
		q->cap_pages = cap;
	}
	q->pages[q->n_pages] = copy_record(q, record, len);
	if (!q->pages[q->n_pages])
		return -ENOMEM;
	q->n_pages++;
	return 0;
}

/* Moves the pages of a sample to it. A CPU's records come in order: older pages of the same CPU are
   of samples that were lost. */
static void take_pages(struct sample_queue *q, struct item *item)
{
	uint64_t id = item->sample->id;
	size_t kept = 0;

	if (q->n_pages)
		item->pages = calloc(q->n_pages, sizeof(*item->pages));
	for (size_t i = 0; i < q->n_pages; i++) {
		struct wire_snapshot_page *page = q->pages[i];
		bool is_older = page->sample_id >> ID_CPU_SHIFT == id >> ID_CPU_SHIFT &&
				page->sample_id <= id;

		if (page->sample_id == id && item->pages)
			item->pages[item->n_pages++] = page;
		else if (is_older)
			page_free(q, page);
		else
			q->pages[kept++] = page;
	}
	q->n_pages = kept;
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
	if (q->n == q->cap) {
		size_t cap = q->cap ? 2 * q->cap : 256;
		struct item *grown = realloc(q->items, cap * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		q->items = grown;
		q->cap = cap;
	}
	item = &q->items[q->n];
	*item = (struct item){ .time_ns = sample.time_ns, .number = q->n_seen++ };
	item->sample = copy_record(q, record, len);
	if (!item->sample)
		return -ENOMEM;
	q->n++;
	take_pages(q, item);
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
	return h.type == WIRE_SNAPSHOT_PAGE ? add_page(q, record, len) : -EBADMSG;
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
	};
	return true;
}

size_t sample_queue_memory(const struct sample_queue *q)
{
	return sizeof(*q) + q->len + q->cap * sizeof(*q->items) + q->cap_pages * sizeof(*q->pages);
}
