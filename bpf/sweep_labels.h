/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The labels of a sample of suspended asyncio tasks: process, thread, what the task is doing
 * (state: running, runnable, waiting), what it waits for (wait: "sleep", "Queue.get", "gather",
 * ...) and its name. Names that asyncio makes itself, "Task-123", say nothing of a task and would
 * keep equal tasks apart: they are all "Task-*". Other names, and trace_id, span_id and span_name
 * of tasks that are suspended in a span, have a share of the memory budget; beyond it, tasks have
 * those that are there already, or none.
 */
#ifndef BPF_SWEEP_LABELS_H
#define BPF_SWEEP_LABELS_H

#include <stddef.h>
#include <stdint.h>

struct process;
struct processes;
struct profile;
struct python_thread;
struct sweep_labels;

/* p is borrowed. max: bytes of names; 0: no limit. */
struct sweep_labels *sweep_labels_new(struct profile *p, size_t max);
void sweep_labels_free(struct sweep_labels *sl);

/* A task's name as a string of the profile; 0: none. */
uint32_t sweep_labels_name(struct sweep_labels *sl, const char *name);
struct python_task;

/* The ids and the name of the span that a task is in as strings of the profile; untouched where
   they have no room. */
void sweep_labels_span(struct sweep_labels *sl, const struct python_task *t, uint32_t *trace,
		       uint32_t *span, uint32_t *name);
/* Tasks that lost their names, or the ids of their spans, to the limit. */
uint64_t sweep_labels_over_budget(const struct sweep_labels *sl);

struct sweep_task {
	const struct python_thread *thread; /* NULL: no thread runs its loop */
	/* strings of the profile; 0: none */
	uint32_t state, wait, name, trace, span, span_name;
};

/* A label set of the profile. */
uint32_t sweep_labels_get(struct sweep_labels *sl, const struct process *proc,
			  const struct processes *ps, const struct sweep_task *t);

#endif
