// SPDX-License-Identifier: Apache-2.0
#include "bpf/sample_names.h"

#include "runtimes/python.h"

void sample_names_find(struct sample_names *names, struct processes *ps, struct process *proc,
		       const struct queued_sample *q)
{
	struct python_name_format format;

	names->thread = names->task = names->span = NULL;
	if (!proc)
		return;
	if (q->python)
		names->thread = python_thread_name(ps, proc, (pid_t)q->sample->tid);
	if ((!q->task && !q->span) || !python_name_format(proc, &format))
		return;
	if (q->task && python_task_label(q->task, &format, names->text_of_task))
		names->task = names->text_of_task;
	if (q->span && python_span_label(q->span, &format, names->text_of_span))
		names->span = names->text_of_span;
}
