// SPDX-License-Identifier: Apache-2.0
#include "bpf/sweep_labels.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/label_keys.h"
#include "core/log.h"
#include "core/profile.h"
#include "core/text.h"
#include "runtimes/process.h"
#include "runtimes/python_tasks.h"
#include "runtimes/python_threads.h"

#define N_LABELS 11
/* Bytes that a name costs besides its own: its entry, a label set, a sample. */
#define NAME_COST 320

struct sweep_labels {
	struct profile *profile;
	size_t used, max; /* bytes of names */
	uint64_t n_over;
	struct label_keys keys;
	uint32_t state, wait; /* keys too */
};

struct sweep_labels *sweep_labels_new(struct profile *p, size_t max)
{
	struct sweep_labels *sl = calloc(1, sizeof(*sl));

	if (!sl)
		return NULL;
	sl->profile = p;
	sl->max = max;
	sl->keys = label_keys_of(p);
	sl->state = profile_string(p, "state");
	sl->wait = profile_string(p, "wait");
	return sl;
}

void sweep_labels_free(struct sweep_labels *sl)
{
	free(sl);
}

uint64_t sweep_labels_over_budget(const struct sweep_labels *sl)
{
	return sl->n_over;
}

/* A text that there may be very many of; 0: it has no room. */
static uint32_t string_of(struct sweep_labels *sl, const char *name)
{
	struct profile *p = sl->profile;
	uint32_t id = profile_find_string_n(p, name, SIZE_MAX);

	if (id)
		return id;
	if (sl->max && sl->used > sl->max) {
		if (!sl->n_over++)
			log_info("there are more names of tasks than the memory budget has room "
				 "for: samples of new ones carry none; give more by --memory");
		return 0;
	}
	sl->used += strlen(name) + NAME_COST;
	return profile_string(p, name);
}

uint32_t sweep_labels_name(struct sweep_labels *sl, const char *name)
{
	if (!name || !*name)
		return 0;
	if (text_is_numbered(name, "Task-"))
		return profile_string(sl->profile, "Task-*");
	return string_of(sl, name);
}

void sweep_labels_span(struct sweep_labels *sl, const struct python_task *t, uint32_t *trace,
		       uint32_t *span, uint32_t *name)
{
	char text[PYTHON_ID_LEN];
	uint32_t of_trace, of_span;

	python_id_text(t->span.trace_id, sizeof(t->span.trace_id), text);
	of_trace = string_of(sl, text);
	python_id_text(t->span.span_id, sizeof(t->span.span_id), text);
	of_span = of_trace ? string_of(sl, text) : 0;
	if (t->span_name)
		*name = string_of(sl, t->span_name);
	if (!of_span)
		return;
	*trace = of_trace;
	*span = of_span;
}

/* A label set under construction. */
struct draft {
	struct label labels[N_LABELS];
	size_t n;
};

static void add_number(struct draft *d, uint32_t key, int64_t number)
{
	d->labels[d->n++] = (struct label){ .key = key, .num = number };
}

static void add_string(struct draft *d, uint32_t key, uint32_t string)
{
	if (string)
		d->labels[d->n++] = (struct label){ .key = key, .str = string };
}

uint32_t sweep_labels_get(struct sweep_labels *sl, const struct process *proc,
			  const struct processes *ps, const struct sweep_task *t)
{
	struct profile *p = sl->profile;
	struct draft d = { .n = 0 };

	add_number(&d, sl->keys.pid, proc->pid);
	add_string(&d, sl->keys.process, profile_string(p, processes_string(ps, proc->comm)));
	add_string(&d, sl->keys.container,
		   profile_string(p, processes_string(ps, proc->container)));
	if (t->thread && t->thread->tid)
		add_number(&d, sl->keys.tid, t->thread->tid);
	if (t->thread)
		add_string(&d, sl->keys.thread, profile_string(p, t->thread->name));
	add_string(&d, sl->state, t->state);
	add_string(&d, sl->wait, t->wait);
	add_string(&d, sl->keys.task, t->name);
	add_string(&d, sl->keys.trace_id, t->trace);
	add_string(&d, sl->keys.span_id, t->span);
	add_string(&d, sl->keys.span_name, t->span_name);
	return profile_label_set(p, d.labels, d.n);
}
