/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The labels of a live sample: pid, tid, thread name, process, container, what a thread that runs
 * Python has of the GIL, the name of the asyncio task that it executes, and trace_id and span_id of
 * the OpenTelemetry span that it is in, in hex, and its name. Spans, tasks, threads and processes
 * that only start and end would make more and more of them: beyond a share of the memory budget,
 * and when that is used up, samples of a new span have its name only, or its task's labels only,
 * those of a new task its thread's, those of a new thread its process's, and those of a new process
 * one set of labels for all: process=[over memory budget].
 */
#ifndef BPF_SAMPLE_LABELS_H
#define BPF_SAMPLE_LABELS_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/budget.h"
#include "bpf/sample_names.h"
#include "bpf/sample_queue.h"

struct process;
struct processes;
struct profile;
struct sample_labels;

/* p is borrowed. max: bytes of it for labels, half of that again for processes alone; 0: no
   limit. */
struct sample_labels *sample_labels_new(struct profile *p, size_t max);
void sample_labels_free(struct sample_labels *sl);
/* A label set of the profile; proc may be NULL. The runtime's name for the thread counts where the
   system's says no more than the process's, or only how this one begins. state: of the whole
   budget. */
uint32_t sample_labels_get(struct sample_labels *sl, const struct queued_sample *q,
			   const struct process *proc, const struct processes *ps,
			   const struct sample_names *names, enum budget_state state);
/* Samples that have fewer labels than they should. */
uint64_t sample_labels_over_budget(const struct sample_labels *sl);

#endif
