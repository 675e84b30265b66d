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
	struct wire_python *python;
	struct wire_python_task *task;
	struct wire_span *span;
	struct wire_python_code **codes;
	size_t n_codes;
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

static void record_free(struct sample_queue *q, void *record)
{
	if (record)
		q->len -= ((struct wire_header *)record)->len;
	free(record);
}

static void item_free(struct sample_queue *q, struct item *item)
{
	for (size_t i = 0; i < item->n_pages; i++)
		record_free(q, item->pages[i]);
	for (size_t i = 0; i < item->n_codes; i++)
		record_free(q, item->codes[i]);
	record_free(q, item->build_ids);
	free(item->pages);
	free(item->codes);
	record_free(q, item->python);
	record_free(q, item->task);
	record_free(q, item->span);
	record_free(q, item->sample);
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
		record_free(q, q->parts[i]);
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

static int check_page(const void *record, size_t len)
{
	struct wire_snapshot_page page;

	if (len < sizeof(page))
		return -EBADMSG;
	memcpy(&page, record, sizeof(page));
	return page.len > len - sizeof(page) ? -EBADMSG : 0;
}

static int check_build_ids(const void *record, size_t len)
{
	struct wire_build_ids ids;

	if (len < sizeof(ids))
		return -EBADMSG;
	memcpy(&ids, record, sizeof(ids));
	return ids.n > WIRE_MAX_BUILD_IDS ? -EBADMSG : 0;
}

static int check_python(const void *record, size_t len)
{
	struct wire_python python;

	if (len < sizeof(python))
		return -EBADMSG;
	memcpy(&python, record, sizeof(python));
	if (python.n > MAX_PYTHON_FRAMES || python.n_parents > MAX_PYTHON_FRAMES - python.n)
		return -EBADMSG;
	if ((len - sizeof(python)) / sizeof(struct wire_python_frame) < python.n + python.n_parents)
		return -EBADMSG;
	return 0;
}

static int check_code(const void *record, size_t len)
{
	static const uint32_t most[N_CODE_PARTS] = { CODE_OBJECT_MAX, CODE_STRING_MAX,
						     CODE_STRING_MAX, CODE_LINES_MAX };
	struct wire_python_code code;

	if (len < sizeof(code))
		return -EBADMSG;
	memcpy(&code, record, sizeof(code));
	for (size_t i = 0; i < N_CODE_PARTS; i++)
		if (code.parts[i].len > most[i])
			return -EBADMSG;
	return 0;
}

static int check_task(const void *record, size_t len)
{
	struct wire_python_task task;

	if (len < sizeof(task))
		return -EBADMSG;
	memcpy(&task, record, sizeof(task));
	return task.len > sizeof(task.name) ? -EBADMSG : 0;
}

static int check_span(const void *record, size_t len)
{
	struct wire_span span;

	if (len < sizeof(span))
		return -EBADMSG;
	memcpy(&span, record, sizeof(span));
	return span.name_len > WIRE_SPAN_NAME_MAX || span.name_len > len - sizeof(span) ? -EBADMSG
											: 0;
}

static int check_part(int type, const void *record, size_t len)
{
	switch (type) {
	case WIRE_SNAPSHOT_PAGE:
		return check_page(record, len);
	case WIRE_BUILD_IDS:
		return check_build_ids(record, len);
	case WIRE_PYTHON:
		return check_python(record, len);
	case WIRE_PYTHON_CODE:
		return check_code(record, len);
	case WIRE_PYTHON_TASK:
		return check_task(record, len);
	case WIRE_SPAN:
		return check_span(record, len);
	}
	return -EBADMSG;
}

/* Keeps what comes before its sample. */
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

/* False: there is no place for it. */
static bool give_part(struct item *item, struct wire_part *part)
{
	switch (part->h.type) {
	case WIRE_SNAPSHOT_PAGE:
		if (item->pages)
			item->pages[item->n_pages++] = (struct wire_snapshot_page *)part;
		return item->pages;
	case WIRE_PYTHON_CODE:
		if (item->codes)
			item->codes[item->n_codes++] = (struct wire_python_code *)part;
		return item->codes;
	case WIRE_BUILD_IDS:
		if (item->build_ids)
			return false;
		item->build_ids = (struct wire_build_ids *)part;
		return true;
	case WIRE_PYTHON_TASK:
		if (item->task)
			return false;
		item->task = (struct wire_python_task *)part;
		return true;
	case WIRE_SPAN:
		if (item->span)
			return false;
		item->span = (struct wire_span *)part;
		return true;
	default:
		if (item->python)
			return false;
		item->python = (struct wire_python *)part;
		return true;
	}
}

/* Moves the parts of a sample to it. A CPU's records come in order: older parts of the same CPU are
   of samples that were lost. */
static void take_parts(struct sample_queue *q, struct item *item)
{
	uint64_t id = item->sample->id;
	size_t kept = 0;

	if (q->n_parts) {
		item->pages = calloc(q->n_parts, sizeof(*item->pages));
		item->codes = calloc(q->n_parts, sizeof(*item->codes));
	}
	for (size_t i = 0; i < q->n_parts; i++) {
		struct wire_part *part = q->parts[i];
		bool is_older = part->sample_id >> ID_CPU_SHIFT == id >> ID_CPU_SHIFT &&
				part->sample_id <= id;

		if (part->sample_id == id && give_part(item, part))
			continue;
		if (is_older)
			record_free(q, part);
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

static int add_weight(struct sample_queue *q, const void *record, size_t len)
{
	struct wire_weight weight;

	if (len < sizeof(weight))
		return -EBADMSG;
	memcpy(&weight, record, sizeof(weight));
	for (size_t i = q->n; i > q->first; i--) {
		if (q->items[i - 1].sample->id != weight.sample_id)
			continue;
		q->items[i - 1].sample->weight = weight.weight;
		return 0;
	}
	return -ENOENT;
}

int sample_queue_add(struct sample_queue *q, const void *record, size_t len)
{
	struct wire_header h;
	int err;

	if (len < sizeof(h) || len > UINT32_MAX)
		return -EBADMSG;
	memcpy(&h, record, sizeof(h));
	if (h.type == WIRE_SAMPLE)
		return add_sample(q, record, len);
	if (h.type == WIRE_WEIGHT)
		return add_weight(q, record, len);
	err = check_part(h.type, record, len);
	return err ? err : add_part(q, record, len);
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
		.python = q->taken.python,
		.task = q->taken.task,
		.span = q->taken.span,
		.codes = (const struct wire_python_code *const *)q->taken.codes,
		.n_codes = q->taken.n_codes,
	};
	return true;
}

size_t sample_queue_memory(const struct sample_queue *q)
{
	return sizeof(*q) + q->len + q->cap * sizeof(*q->items) + q->cap_parts * sizeof(*q->parts);
}
