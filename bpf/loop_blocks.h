/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event loops that did not return to their selector for longer than --block-ms. All samples of such
 * a turn carry the label loop=blocked. That a turn takes long is only known when it does, so the
 * samples of a loop's thread are held back until it is known, or until the loop is back.
 */
#ifndef BPF_LOOP_BLOCKS_H
#define BPF_LOOP_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

struct explained_sample;
struct profile;
struct queued_sample;
struct loop_blocks;

/* Of all loops: the turns that were too long, as far as their samples say. */
struct loop_summary {
	uint64_t n, sum_ns, longest_ns;
	uint64_t n_samples; /* of tasks */
	uint64_t n_unseen;  /* of them, those whose loop does not say when its turn began */
	uint32_t longest_pid;
	uint32_t longest_task; /* a string of the profile: who had most of its samples; 0: none */
	uint32_t longest_span; /* what the span is called that these were in; 0: in none */
};

/* p is borrowed. limit_ns 0: no sample is held back or marked. max: bytes of labels with the mark;
   0: no limit. */
struct loop_blocks *loop_blocks_new(struct profile *p, uint64_t limit_ns, size_t max);
void loop_blocks_free(struct loop_blocks *b);
/* Instead of profile_add(), in the order of time. task: its name, NULL for none. */
void loop_blocks_add(struct loop_blocks *b, const struct queued_sample *q, const char *task,
		     const struct explained_sample *sample);
/* No more will come. */
void loop_blocks_flush(struct loop_blocks *b);
const struct loop_summary *loop_blocks_summary(const struct loop_blocks *b);
/* Samples that should have the mark and have not: no room for them, or for their labels. */
uint64_t loop_blocks_over_budget(const struct loop_blocks *b);
size_t loop_blocks_memory(const struct loop_blocks *b);

#endif
