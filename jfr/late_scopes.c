// SPDX-License-Identifier: Apache-2.0
#include "jfr/late_scopes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/intern.h"
#include "core/saturated.h"
#include "jfr/chunk.h"
#include "jfr/constants.h"
#include "jfr/jvm_facts.h"
#include "jfr/metadata.h"
#include "jfr/names.h"
#include "jfr/spans.h"

#define MAX_LATE (64 * 1024)	/* 6 MB */
#define MAX_TEXTS_LEN (8 << 20) /* of their ids and tags */
#define MAX_LOOKED_AT 1024	/* before and behind a time: a thread has some tens open at most */
#define MAX_LOOKS (64 * 1024)	/* for one chunk, whatever its constants are */
#define FREE_LOOKS 4096
#define LOOKS_OF_THREAD 16		      /* on average, so that small chunks cost little */
#define MAX_APART_NS ((int64_t)NS_PER_S / 10) /* the clocks of two chunks, however near */
#define MAX_DRIFT 1000 /* a clock that is corrected is slower by a part of so many */

/* Times are those of its JVM's own clock, in nanoseconds. */
struct late_scope {
	struct late_owner owner;
	int64_t thread, os_thread;
	int64_t start, end;
	int64_t latest;	    /* end of the thread's scopes up to this one: late_scopes_sort() */
	int64_t written;    /* start of the chunk it is written in */
	int64_t clock_zero; /* of that chunk, in unix time */
	uint32_t ids;	    /* struct late_ids */
};

/* As text, all zero behind their ends. */
struct late_ids {
	char trace_id[33], span_id[33], padding[2];
	uint32_t tag;
};

/* When its JVM's clock was at 0. */
static int64_t clock_zero(const struct chunk_header *h)
{
	return sub_saturated(h->start_ns, chunk_header_any_duration_ns(h, h->start_ticks));
}

struct late_owner late_owner(const struct jvm_facts *facts, size_t file)
{
	if (facts->pid)
		return (struct late_owner){ .pid = facts->pid, .start_ms = facts->start_ms };
	return (struct late_owner){ .pid = -1, .start_ms = (int64_t)file };
}

void late_scopes_deinit(struct late_scopes *l)
{
	free(l->items);
	intern_free(l->texts);
	span_names_deinit(&l->names);
	*l = (struct late_scopes){ 0 };
}

static bool is_full(const struct late_scopes *l)
{
	return l->n >= MAX_LATE || intern_memory(l->texts) >= MAX_TEXTS_LEN;
}

static int add(struct late_scopes *l, const struct late_scope *late, const struct late_ids *ids,
	       const char *tag)
{
	struct late_ids own = *ids;
	uint32_t id;

	if (!l->texts)
		l->texts = intern_new();
	if (!l->texts)
		return -ENOMEM;
	if (is_full(l)) {
		l->n_left_out++;
		return 0;
	}
	own.tag = tag ? intern_add(l->texts, tag, strlen(tag)) : 0;
	id = intern_add(l->texts, &own, sizeof(own));
	if (!id || (tag && !own.tag) || ARRAY_RESERVE(l->items, l->cap, l->n))
		return -ENOMEM;
	l->items[l->n] = *late;
	l->items[l->n++].ids = id;
	return 0;
}

int late_scopes_add(struct late_scopes *l, struct late_owner owner, const struct chunk *chunk,
		    const struct java_thread *thread, const struct span_scope *scope)
{
	int64_t zero = clock_zero(&chunk->header);
	const struct late_scope late = {
		.owner = owner,
		.thread = thread->id,
		.os_thread = thread->os_id,
		.start = sub_saturated(scope->start_ns, zero),
		.end = sub_saturated(scope->end_ns, zero),
		.written = sub_saturated(chunk->header.start_ns, zero),
		.clock_zero = zero,
	};
	struct late_ids ids = { .tag = 0 };

	snprintf(ids.trace_id, sizeof(ids.trace_id), "%s", scope->ids->trace_id);
	snprintf(ids.span_id, sizeof(ids.span_id), "%s", scope->ids->span_id);
	return add(l, &late, &ids, scope->ids->tag);
}

static const struct late_ids *ids_of(const struct late_scopes *l, const struct late_scope *late)
{
	return intern_get(l->texts, late->ids, NULL);
}

int late_scopes_append(struct late_scopes *l, const struct late_scopes *from,
		       struct late_owner owner)
{
	int err = span_names_append(&l->names, &from->names);

	l->n_left_out += from->n_left_out;
	for (size_t i = 0; i < from->n && !err; i++) {
		const struct late_ids *ids = ids_of(from, &from->items[i]);
		struct late_scope late = from->items[i];

		if (late.owner.pid == -1)
			late.owner = owner;
		err = add(l, &late, ids, intern_get(from->texts, ids->tag, NULL));
	}
	return err;
}

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_threads(const struct late_scope *x, const struct late_scope *y)
{
	if (x->owner.pid != y->owner.pid)
		return COMPARE(x->owner.pid, y->owner.pid);
	if (x->owner.start_ms != y->owner.start_ms)
		return COMPARE(x->owner.start_ms, y->owner.start_ms);
	if (x->thread != y->thread)
		return COMPARE(x->thread, y->thread);
	return COMPARE(x->os_thread, y->os_thread);
}

/* By thread, then by start; of those with one start the outer one first. */
static int compare(const void *a, const void *b)
{
	const struct late_scope *x = a, *y = b;
	int order = compare_threads(x, y);

	if (order || x->start != y->start)
		return order ? order : COMPARE(x->start, y->start);
	if (x->end != y->end)
		return COMPARE(y->end, x->end);
	if (x->written != y->written)
		return COMPARE(x->written, y->written);
	return x->ids != y->ids ? COMPARE(x->ids, y->ids) : COMPARE(x->clock_zero, y->clock_zero);
}

/* A chunk that is in several files has them in each. */
static size_t drop_copies(struct late_scope *items, size_t n)
{
	size_t n_kept = n > 0;

	for (size_t i = 1; i < n; i++)
		if (compare(&items[n_kept - 1], &items[i]))
			items[n_kept++] = items[i];
	return n_kept;
}

void late_scopes_sort(struct late_scopes *l)
{
	if (l->n)
		qsort(l->items, l->n, sizeof(*l->items), compare);
	l->n = drop_copies(l->items, l->n);
	for (size_t i = 0; i < l->n; i++) {
		struct late_scope *late = &l->items[i];

		late->latest = late->end;
		if (i && !compare_threads(late - 1, late) && late[-1].latest > late->end)
			late->latest = late[-1].latest;
	}
}

/* A chunk that scopes are lent to. */
struct borrower {
	const struct late_scopes *l;
	int64_t start, end, clock_zero; /* as of a scope; an end that nobody knows is the last */
	struct spans *to;
	size_t n_looks, max_looks;
};

/* Are its times those of the same clock as the chunk's? */
static bool has_clock_of(const struct late_scope *late, const struct borrower *b)
{
	__int128 apart = (__int128)late->clock_zero - b->clock_zero;
	__int128 most = MAX_APART_NS + ((__int128)late->written - b->start) / MAX_DRIFT;

	return apart <= most && -apart <= most;
}

static int lend(struct borrower *b, const struct late_scope *late, int64_t key)
{
	const struct late_ids *from = ids_of(b->l, late);
	struct span_ids ids = { .tag = intern_get(b->l->texts, from->tag, NULL) };
	struct span_scope scope = {
		.thread = (uint64_t)key,
		.start_ns = add_saturated(late->start, b->clock_zero),
		.end_ns = add_saturated(late->end, b->clock_zero),
		.is_late = true,
		.ids = &ids,
	};

	if (b->n_looks++ >= b->max_looks || late->written <= b->start || late->end <= b->start ||
	    !has_clock_of(late, b))
		return 0;
	memcpy(ids.trace_id, from->trace_id, sizeof(ids.trace_id));
	memcpy(ids.span_id, from->span_id, sizeof(ids.span_id));
	return spans_add(b->to, &scope);
}

/* How many there are up to a thread's last one that had begun at a time. */
static size_t n_begun(const struct late_scopes *l, const struct late_scope *at)
{
	size_t low = 0, high = l->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int order = compare_threads(&l->items[mid], at);

		if (order < 0 || (!order && l->items[mid].start <= at->start))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Those of the thread that a constant is: back from the chunk's start, and on from there. */
static int lend_to(struct borrower *b, const struct late_scope *at, int64_t key)
{
	const struct late_scope *items = b->l->items;
	size_t begun = n_begun(b->l, at), i;
	int err = 0;

	for (i = begun; i > 0 && begun - i < MAX_LOOKED_AT && !err; i--) {
		if (compare_threads(&items[i - 1], at) || items[i - 1].latest <= b->start)
			break;
		err = lend(b, &items[i - 1], key);
	}
	for (i = begun; i < b->l->n && i - begun < MAX_LOOKED_AT && !err; i++) {
		if (compare_threads(&items[i], at) || items[i].start >= b->end)
			break;
		err = lend(b, &items[i], key);
	}
	return err;
}

static struct borrower borrower_of(const struct late_scopes *l, const struct chunk_header *h,
				   struct spans *to)
{
	struct borrower b = { .l = l, .end = INT64_MAX, .clock_zero = clock_zero(h), .to = to };
	int64_t end_ns = chunk_header_end_ns(h);

	b.start = sub_saturated(h->start_ns, b.clock_zero);
	/* That is by the system's clock. */
	if (h->state == CHUNK_COMPLETE && end_ns > h->start_ns)
		b.end = add_saturated(sub_saturated(end_ns, b.clock_zero), (int64_t)NS_PER_S);
	return b;
}

static size_t most_looks(size_t n_threads)
{
	return n_threads < (MAX_LOOKS - FREE_LOOKS) / LOOKS_OF_THREAD
		       ? FREE_LOOKS + n_threads * LOOKS_OF_THREAD
		       : MAX_LOOKS;
}

int late_scopes_lend(const struct late_scopes *l, struct late_owner owner, struct chunk *chunk,
		     struct spans *to)
{
	const struct jfr_type *type = metadata_by_name(chunk->metadata, "java.lang.Thread");
	struct pool *pool = type ? constants_pool(names_constants(chunk->names), type->id) : NULL;
	struct borrower b = borrower_of(l, &chunk->header, to);
	struct late_scope at = { .owner = owner, .start = b.start };
	int err = 0;

	if (!l->n || !pool)
		return 0;
	b.max_looks = most_looks(pool_size(pool));
	for (size_t i = 0; i < pool_size(pool) && b.n_looks < b.max_looks && !err; i++) {
		int64_t key = pool_key(pool, i);
		const struct java_thread *thread = names_thread(chunk, type->id, key);

		at.thread = thread ? thread->id : 0;
		at.os_thread = thread ? thread->os_id : 0;
		err = thread ? lend_to(&b, &at, key) : 0;
	}
	return err;
}
