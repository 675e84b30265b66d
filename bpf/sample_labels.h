/* SPDX-License-Identifier: Apache-2.0 */
/* The labels of a live sample: pid, tid, thread name, process, container. */
#ifndef BPF_SAMPLE_LABELS_H
#define BPF_SAMPLE_LABELS_H

#include <stdint.h>

#include "bpf/weft.h"

struct process;
struct processes;
struct profile;
struct sample_labels;

struct sample_labels *sample_labels_new(struct profile *p); /* p is borrowed */
void sample_labels_free(struct sample_labels *sl);
/* A label set of the profile; proc may be NULL. */
uint32_t sample_labels_get(struct sample_labels *sl, const struct wire_sample *s,
			   const struct process *proc, const struct processes *ps);

#endif
