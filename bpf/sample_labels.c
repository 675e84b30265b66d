// SPDX-License-Identifier: Apache-2.0
#include "bpf/sample_labels.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/label_keys.h"
#include "core/log.h"
#include "core/profile.h"
#include "runtimes/process.h"
#include "runtimes/python_spans.h"

#define N_CACHED 1024	   /* threads; a power of two */
#define NAME_COST 320	   /* bytes of a name, a label set and a sample */
#define MAX_THREAD_NAME 64 /* bytes with the NUL; what gives longer ones cuts them itself */

struct cached {
	uint32_t pid, tid, comm, container; /* comm and container of the process */
	char comm_of_thread[WIRE_COMM_LEN];
	char thread[MAX_THREAD_NAME];
	uint32_t gil; /* enum wire_python_flags */
	uint32_t labels;
};

struct sample_labels {
	struct profile *profile;
	size_t used, max; /* bytes */
	size_t used_late; /* of them since the budget was used up */
	uint64_t n_over;
	uint64_t n_named; /* label sets that have the name of a span and not its ids */
	struct label_keys keys;
	uint32_t gil; /* a key too */
	struct cached cache[N_CACHED];
};

/* A label set under construction. */
struct draft {
	struct sample_labels *sl;
	const struct processes *ps;
	struct label labels[10];
	const char *task;	      /* NULL: the sample is of none */
	const struct wire_span *span; /* NULL: of none */
	const char *span_name;	      /* its name; NULL: it has none */
	size_t n;
	bool is_new;	/* strings and the set may be added */
	bool is_absent; /* they may not, and one is not there */
};

struct sample_labels *sample_labels_new(struct profile *p, size_t max)
{
	struct sample_labels *sl = calloc(1, sizeof(*sl));

	if (!sl)
		return NULL;
	sl->profile = p;
	sl->max = max;
	sl->keys = label_keys_of(p);
	sl->gil = profile_string(p, "gil");
	return sl;
}

void sample_labels_free(struct sample_labels *sl)
{
	free(sl);
}

uint64_t sample_labels_over_budget(const struct sample_labels *sl)
{
	return sl->n_over;
}

static void add_number(struct draft *d, uint32_t key, uint32_t number)
{
	d->labels[d->n++] = (struct label){ .key = key, .num = number };
}

static void add_text(struct draft *d, uint32_t key, const char *text, size_t len)
{
	struct profile *p = d->sl->profile;
	uint32_t str;

	len = strnlen(text, len);
	if (!len)
		return;
	str = d->is_new ? profile_string_n(p, text, len) : profile_find_string_n(p, text, len);
	d->is_absent |= !str;
	d->labels[d->n++] = (struct label){ .key = key, .str = str };
}

static void add_known_text(struct draft *d, uint32_t key, uint32_t string)
{
	if (string)
		add_text(d, key, processes_string(d->ps, string), SIZE_MAX);
}

/* An id as W3C Trace Context writes it. */
static void add_id(struct draft *d, uint32_t key, const uint8_t *id, size_t len)
{
	char text[PYTHON_ID_LEN];

	python_id_text(id, len, text);
	add_text(d, key, text, sizeof(text));
}

/* Its id; 0 when it is not there and may not be added. */
static uint32_t finish(struct draft *d)
{
	struct profile *p = d->sl->profile;

	if (d->is_new)
		return profile_label_set(p, d->labels, d->n);
	return d->is_absent ? 0 : profile_find_label_set(p, d->labels, d->n);
}

static uint32_t make(struct draft *d, const struct cached *c, bool with_thread)
{
	struct sample_labels *sl = d->sl;
	size_t before = profile_memory(sl->profile);
	uint32_t labels;

	d->n = 0;
	d->is_absent = false;
	add_number(d, sl->keys.pid, c->pid);
	if (with_thread) {
		add_number(d, sl->keys.tid, c->tid);
		add_text(d, sl->keys.thread, c->thread, sizeof(c->thread));
	}
	if (c->comm)
		add_known_text(d, sl->keys.process, c->comm);
	else
		add_text(d, sl->keys.process, c->comm_of_thread, sizeof(c->comm_of_thread));
	add_known_text(d, sl->keys.container, c->container);
	if (c->gil & WIRE_PYTHON_HOLDS_GIL)
		add_text(d, sl->gil, "holding", SIZE_MAX);
	if (c->gil & WIRE_PYTHON_RELEASED_GIL)
		add_text(d, sl->gil, "released", SIZE_MAX);
	if (c->gil & WIRE_PYTHON_WAITS_FOR_GIL)
		add_text(d, sl->gil, "waiting", SIZE_MAX);
	if (d->task)
		add_text(d, sl->keys.task, d->task, SIZE_MAX);
	if (d->span) {
		add_id(d, sl->keys.trace_id, d->span->trace_id, sizeof(d->span->trace_id));
		add_id(d, sl->keys.span_id, d->span->span_id, sizeof(d->span->span_id));
	}
	if (d->span_name)
		add_text(d, sl->keys.span_name, d->span_name, SIZE_MAX);
	labels = finish(d);
	sl->used += profile_memory(sl->profile) - before;
	return labels;
}

/* The labels of all that has no place. */
static uint32_t make_any(struct sample_labels *sl)
{
	struct label label = {
		.key = sl->keys.process,
		.str = profile_string(sl->profile, "[over memory budget]"),
	};

	return profile_label_set(sl->profile, &label, 1);
}

static void count_over(struct sample_labels *sl)
{
	if (!sl->n_over++)
		log_info("there are more threads, tasks and spans than the memory budget has room "
			 "for: "
			 "samples of new ones carry fewer labels, or [over memory budget]; give "
			 "more by --memory");
}

/* Few processes are worth more than the little that is kept for the end. */
static bool may_add_process(const struct sample_labels *sl, enum budget_state state)
{
	if (state == BUDGET_FITS)
		return !sl->max || sl->used < sl->max + sl->max / 2;
	return state == BUDGET_OVER && sl->used_late < sl->max / 8;
}

/* Fewer labels, but only such as are there, or have room. */
static uint32_t make_fewer(struct draft *d, const struct cached *c, enum budget_state state)
{
	struct sample_labels *sl = d->sl;
	size_t before = sl->used;
	uint32_t labels;

	count_over(sl);
	d->is_new = may_add_process(sl, state);
	labels = make(d, c, false);
	if (state != BUDGET_FITS)
		sl->used_late += sl->used - before;
	return labels ? labels : make_any(sl);
}

/* Names of tasks and ids of spans may be as many as requests: they have half of the room, so that
   threads keep theirs. */
static uint32_t make_within_half(struct draft *d, const struct cached *c)
{
	struct sample_labels *sl = d->sl;
	bool is_new = d->is_new;
	uint32_t labels;

	d->is_new = is_new && (!sl->max || sl->used < sl->max / 2);
	labels = make(d, c, true);
	d->is_new = is_new;
	return labels;
}

/* Of a request only what its span is called: there are few such names, so they have some room
   besides, which is counted as what they take one by one. */
static uint32_t make_named(struct draft d, const struct cached *c, enum budget_state state)
{
	struct sample_labels *sl = d.sl;
	uint32_t labels;

	d.span = NULL;
	d.task = NULL;
	d.is_new = false;
	labels = make(&d, c, true);
	if (labels || state != BUDGET_FITS || sl->n_named >= sl->max / 8 / NAME_COST)
		return labels;
	sl->n_named++;
	d.is_new = true;
	return make(&d, c, true);
}

/* Where there is no room for all of it, the name of the span or the task is kept; 0: for neither.
 */
static uint32_t make_with_request(struct draft *d, const struct cached *c, enum budget_state state)
{
	uint32_t labels = make_within_half(d, c);

	if (!labels)
		count_over(d->sl);
	if (!labels && d->span_name)
		labels = make_named(*d, c, state);
	d->span = NULL;
	d->span_name = NULL;
	if (!labels && d->task)
		labels = make_within_half(d, c);
	d->task = NULL;
	return labels;
}

/* The system has room for 15 characters of a name, and threads get their process's. */
static void set_thread(struct cached *c, const struct processes *ps, const char *comm,
		       const char *name)
{
	size_t len = strnlen(comm, sizeof(c->comm_of_thread));
	bool is_cut = name && len == WIRE_COMM_LEN - 1 && !strncmp(comm, name, len), is_own;

	memcpy(c->comm_of_thread, comm, len);
	is_own = c->comm && strncmp(processes_string(ps, c->comm), comm, WIRE_COMM_LEN);
	if (!name || (is_own && !is_cut))
		memcpy(c->thread, comm, len);
	else
		strncpy(c->thread, name, sizeof(c->thread) - 1);
}

uint32_t sample_labels_get(struct sample_labels *sl, const struct queued_sample *q,
			   const struct process *proc, const struct processes *ps,
			   const struct sample_names *names, enum budget_state state)
{
	const struct wire_sample *s = q->sample;
	struct cached *slot = &sl->cache[s->tid & (N_CACHED - 1)];
	struct cached wanted = {
		.pid = s->pid,
		.tid = s->tid,
		.comm = proc ? proc->comm : 0,
		.container = proc ? proc->container : 0,
		.gil = q->python ? q->python->h.flags : 0,
		.labels = slot->labels,
	};
	struct draft d = {
		.sl = sl,
		.ps = ps,
		.task = names->task,
		.span = q->span,
		.span_name = names->span,
		.is_new = state == BUDGET_FITS && (!sl->max || sl->used < sl->max),
	};

	set_thread(&wanted, ps, s->comm, names->thread);
	if (d.task || d.span) {
		wanted.labels = make_with_request(&d, &wanted, state);
		if (wanted.labels)
			return wanted.labels;
		wanted.labels = slot->labels;
	}
	if (slot->labels && !memcmp(&wanted, slot, sizeof(wanted)))
		return slot->labels;
	wanted.labels = make(&d, &wanted, true);
	if (!wanted.labels)
		return make_fewer(&d, &wanted, state);
	*slot = wanted;
	return wanted.labels;
}
