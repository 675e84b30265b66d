/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sampler is a profile type taken in the kernel: an event, a BPF program that makes samples of
 * it, and what a sample is worth; or one that user space takes by itself (is_swept). One row a
 * sampler in sampler.c; `record -e NAME` chooses.
 */
#ifndef BPF_SAMPLER_H
#define BPF_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/ticker.h"

struct profile;
struct weft_bpf;

struct sampler_ops {
	const char *name;
	const char *type, *unit; /* of a sample's value in the profile, beside samples/count */
	struct tick_event event; /* of samplers that tick */
	bool is_hidden;		 /* not proposed anywhere: what never ran on the real thing */
	bool is_swept;		/* by bpf/sweeper.c: nothing ticks, configure and attach are NULL */
	unsigned int freq;	/* its default rate in Hz; 0: that of all */
	bool is_weighted;	/* samples are worth what they say, not about the same */
	const char *sum;	/* the counter that has the exact sum of its values; NULL: none */
	bool is_user_only;	/* its stacks have no kernel frames */
	bool is_of_known;	/* only of processes that user space has looked at */
	const char *shown_only; /* the language of the table at a recording's end; NULL: all */
	/* Before load: settings, and which programs. Logs what is missing. -ENOTSUP: not on this
	   machine. */
	int (*configure)(const struct sampler_ops *s, struct weft_bpf *skel);
	/* After load: opens the events, which ticker_start() starts, or begins. Logs what is
	   missing. -ENOTSUP: not on this machine; -EPERM, ... */
	int (*attach)(const struct sampler_ops *s, struct weft_bpf *skel, uint64_t period_ns,
		      struct ticker *ticker);
	/* Ends what does not tick; programs under way have ended when it returns. NULL: nothing. */
	void (*detach)(struct weft_bpf *skel);
	/* Why a finished profile may well have no samples. NULL: only where no CPU was used. */
	const char *(*nothing)(const struct profile *p);
};

/* By its name, NULL is the default one; NULL when there is none. */
const struct sampler_ops *sampler_find(const char *name);
/* Those that are proposed, as "cpu, cycles", into out[SAMPLER_NAMES_MAX]. */
#define SAMPLER_NAMES_MAX 256
const char *sampler_names(char *out);

/* The profile's types, and its period where that is known before. */
void sampler_begin_profile(const struct sampler_ops *s, struct profile *p, uint64_t period_ns);
/* After counting. Where samples are worth what they say: its period, which is what one is worth on
   average, and their sum, where that is known exactly. */
void sampler_end_profile(const struct sampler_ops *s, struct profile *p);

/* What it counted; 0 where it counts no such thing. */
uint64_t sampler_count(const struct profile *p, const char *counter);

extern const struct sampler_ops sampler_gil;

#endif
