/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Jitter against lockstep with the program. Ticks come more often than samples are wanted. In every
 * sampling period there is one moment, and the first tick at or after it is the sample: so the mean
 * rate is exact, and a tick is taken with the probability of its length in the sampling period,
 * whatever runs.
 *
 * Where in its period the moment is moves on by an irrational part of it each time, from a random
 * start: that spreads over all phases more evenly than random numbers. But what repeats at all, the
 * moments or the ticks, is in step with some program; so the moments begin anew at random every
 * few samples, and user space changes the ticks' length now and then (ticker.c). What that comes to
 * (tests/unit/jitter_test.c; 3,000 samples of two phases, 30 % and 70 %, that repeat every 0.1 to 8
 * periods): 0.65 points of error rms, 0.9 for programs in step with the ticks' mean length, where
 * ticks of one length show one phase only. As many independent random moments: 0.84.
 */
#ifndef BPF_JITTER_BPF_H
#define BPF_JITTER_BPF_H

#include <stdbool.h>

#include "bpf/shared.h"

/* Given by who includes it, so that tests can: sample_period_ns, bpf_get_prandom_u32(),
   bpf_ktime_get_ns(). */

#define JITTER_STEP 0xb7e15162ULL /* e - 2, in 32 bits behind the point */
#define JITTER_SAMPLES 32	  /* from one random start to the next; a power of two */

static __always_inline __u64 jitter_random_offset(void)
{
	return 1 + (sample_period_ns * bpf_get_prandom_u32() >> 32);
}

/* What the tick stands for: its length, and what of the one before was cut off when the length
   changed, unless the CPU was idle in between. */
static __always_inline __u64 jitter_tick_ns(struct cpu_state *cpu, const struct tick_length *length)
{
	__u64 tick_ns = length->tick_ns;

	if (cpu->n_changes == length->n_changes)
		return tick_ns;
	cpu->n_changes = length->n_changes;
	if (bpf_ktime_get_ns() - length->since_ns < tick_ns + tick_ns / 2)
		tick_ns += length->cut_ns;
	return tick_ns;
}

/* True when this tick is the one to take. */
static __always_inline bool jitter_takes(struct cpu_state *cpu, const struct tick_length *length)
{
	__u64 offset_ns = cpu->offset_ns; /* of the moment in its period; 0 before the first */

	if (!offset_ns) {
		offset_ns = jitter_random_offset();
		cpu->offset_ns = offset_ns;
		cpu->until_ns = offset_ns;
	}
	cpu->until_ns -= jitter_tick_ns(cpu, length);
	if (cpu->until_ns > 0)
		return false;
	if (++cpu->n_moments % JITTER_SAMPLES)
		offset_ns += sample_period_ns * JITTER_STEP >> 32;
	else
		offset_ns = jitter_random_offset();
	if (offset_ns > sample_period_ns)
		offset_ns -= sample_period_ns;
	cpu->until_ns += sample_period_ns - cpu->offset_ns + offset_ns;
	cpu->offset_ns = offset_ns;
	return true;
}

#endif
