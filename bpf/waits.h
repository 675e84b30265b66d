/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From explained samples to the profile. Most are worth what they say; those of threads that wait
 * are kept here until the wait is over and a record says what it was worth.
 */
#ifndef BPF_WAITS_H
#define BPF_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/weft.h"

struct profile;

struct explained_sample {
	uint64_t id;	  /* never 0 */
	uint64_t time_ns; /* unix time */
	uint64_t weight;  /* 0: it waits */
	uint32_t tid, stack, labels;
};

struct waits;

struct waits *waits_new(void);
void waits_free(struct waits *ws);
/* False: another thread's gave way to it, which is to be counted. */
bool waits_add(struct waits *ws, struct profile *p, const struct explained_sample *s);
/* Does nothing for a sample that is not here. */
void waits_end(struct waits *ws, struct profile *p, const struct wire_weight *weight);

#endif
