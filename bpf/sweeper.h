/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `record -e async`: looks at all asyncio tasks of the target processes again and again, from user
 * space, without stopping anybody. A look (a sweep) is worth the time since the one before, for
 * each task that it finds: the sum over all sweeps is the time that tasks were somewhere. The pause
 * between two rounds of sweeps is random around its mean, so that they are in step with nothing,
 * and long enough that sweeping takes at most SWEEP_SHARE of one CPU.
 */
#ifndef BPF_SWEEPER_H
#define BPF_SWEEPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/budget.h"
#include "bpf/counters.h"

#define SWEEP_SHARE 20 /* one part of so many: 5 % */

struct processes;
struct profile;
struct sweeper;
struct targets;

struct sweep_stats {
	uint64_t n_sweeps; /* of one process each */
	uint64_t n_tasks;  /* in all of them */
	uint64_t most_tasks;
	uint64_t cpu_ns, user_ns; /* of all of them */
	uint64_t dearest_ns;	  /* user CPU time of the one with most tasks */
};

/* All is borrowed. period_ns: mean pause between two rounds. */
struct sweeper *sweeper_new(struct processes *ps, const struct targets *targets,
			    uint64_t period_ns);
void sweeper_free(struct sweeper *s);
/* Time begins to count. p and budget are borrowed; unix_offset_ns: CLOCK_REALTIME -
   CLOCK_MONOTONIC. 0 or -ENOMEM. */
int sweeper_begin(struct sweeper *s, struct profile *p, struct budget *budget,
		  uint64_t unix_offset_ns);
/* How long to wait for the next round, at most max_ms. */
int sweeper_wait_ms(const struct sweeper *s, int max_ms);
/* A round, if it is time for one. is_last: the time for it is now. */
void sweeper_run(struct sweeper *s, bool is_last);
/* Adds what was counted. */
void sweeper_count(const struct sweeper *s, uint64_t counters[N_COUNTERS]);
/* What a round usually costs, after the n_rounds-th that cost so much and the one before it. A
   pause must not follow the last round alone: a look at a busy program costs more, and the look
   after the longer pause would meet a program that moves at some rhythm at a place that is no
   accident. And one round that is dear, as the first is, which learns what later ones know, must
   not make one long pause, all of which would be put where the next look finds the tasks. What two
   rounds in a row say, many more tasks, counts at once. */
uint64_t sweeper_usual_cost(uint64_t usual_ns, uint64_t before_ns, uint64_t cost_ns,
			    uint64_t n_rounds);
/* Was the mean pause so much longer than was asked for that it is worth saying? */
bool sweeper_is_slow(uint64_t mean_ns, uint64_t period_ns);
/* Says what the reader of the profile must know. */
void sweeper_say(const struct sweeper *s);
size_t sweeper_memory(const struct sweeper *s);
struct sweep_stats sweeper_stats(const struct sweeper *s);

#endif
