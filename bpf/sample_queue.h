/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wire records between the ring buffer and their turn: samples in order of time, each with the
 * pages of its snapshot, the build ids of its files, its span, its Python stack and the code
 * objects that are new in it.
 */
#ifndef BPF_SAMPLE_QUEUE_H
#define BPF_SAMPLE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/weft.h"

struct queued_sample {
	const struct wire_sample *sample;
	const struct wire_snapshot_page *const *pages;
	size_t n_pages;
	const struct wire_build_ids *build_ids;	     /* NULL: none */
	const struct wire_python *python;	     /* NULL: none */
	const struct wire_python_task *task;	     /* NULL: none */
	const struct wire_span *span;		     /* NULL: none */
	const struct wire_python_code *const *codes; /* code objects first seen in it */
	size_t n_codes;
};

struct sample_queue;

struct sample_queue *sample_queue_new(void);
void sample_queue_free(struct sample_queue *q);
/* Copies a record of the ring. -EBADMSG: lengths that contradict each other; -ENOMEM; -ENOENT: the
   weight of a sample that is not here any more. */
int sample_queue_add(struct sample_queue *q, const void *record, size_t len);
/* Call after adding, before taking. */
void sample_queue_sort(struct sample_queue *q);
/* The time of the oldest sample; UINT64_MAX when there is none. */
uint64_t sample_queue_time(const struct sample_queue *q);
/* Takes the oldest one; valid until the next one is taken. False: there is none. */
bool sample_queue_take(struct sample_queue *q, struct queued_sample *out);
size_t sample_queue_memory(const struct sample_queue *q);

#endif
