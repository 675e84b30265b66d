/* SPDX-License-Identifier: Apache-2.0 */
/* Finishes the stack of a sample that left the kernel half as a snapshot. */
#ifndef BPF_FINISH_H
#define BPF_FINISH_H

#include <stddef.h>

#include "bpf/sample_queue.h"

struct finisher;
struct process;
struct processes;
struct tables;

/* Both are borrowed. */
struct finisher *finisher_new(struct processes *ps, struct tables *tables);
void finisher_free(struct finisher *f);
/* Appends frames to the *n of out, up to max; loads the tables of the files it passes. proc may be
   NULL. Returns why the walk ended: enum counter. */
int finish_stack(struct finisher *f, struct process *proc, const struct queued_sample *q,
		 struct wire_frame *out, size_t *n, size_t max);

#define MAX_FINISHED (MAX_KERNEL_FRAMES + MAX_USER_FRAMES)

/* The frames of a sample into out[MAX_FINISHED], the walk finished if it was not; *n is how many.
   Returns its end. */
int finish_frames(struct finisher *f, struct process *proc, const struct queued_sample *q,
		  struct wire_frame *out, size_t *n);

#endif
