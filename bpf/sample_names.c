// SPDX-License-Identifier: Apache-2.0
#include "bpf/sample_names.h"

void sample_names_find(struct sample_names *names, struct processes *ps, struct process *proc,
		       const struct queued_sample *q)
{
	names->thread = names->task = NULL;
	if (!proc)
		return;
	if (q->python)
		names->thread = python_thread_name(ps, proc, (pid_t)q->sample->tid);
	if (q->task && python_task_of(proc, q->task, names->text))
		names->task = names->text;
}
