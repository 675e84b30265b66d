/* SPDX-License-Identifier: Apache-2.0 */
/* What the runtime of a sampled process calls the thread, and what it is doing. */
#ifndef BPF_SAMPLE_NAMES_H
#define BPF_SAMPLE_NAMES_H

#include "bpf/sample_queue.h"
#include "runtimes/python_label.h"

struct process;
struct processes;

/* NULL: no name. */
struct sample_names {
	const char *thread; /* the runtime's name for it */
	const char *task;   /* that it executes */
	const char *span;   /* that it is in */
	char text_of_task[PYTHON_LABEL_MAX], text_of_span[PYTHON_LABEL_MAX];
};

/* What is found is good until the next sample; proc may be NULL. */
void sample_names_find(struct sample_names *names, struct processes *ps, struct process *proc,
		       const struct queued_sample *q);

#endif
