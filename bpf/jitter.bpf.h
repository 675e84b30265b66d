/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Jitter against lockstep with the program. Ticks come more often than samples are wanted. In every
 * sampling period there is one moment, and the first tick at or after it is the sample: so the mean
 * rate is exact, and every tick is equally likely.
 *
 * Where in its period the moment is moves on by an irrational part of it each time, from a random
 * start; and the ticks' own period is an irrational part of it too (kernel_half.c). Both spread
 * over all phases far more evenly than random numbers would: an error of 0.5 points for 3,000
 * samples of a program whose period is any small multiple or fraction of ours, where those leave 2
 * to 8 (simulated; a few odd ratios, 1.11 for one, leave 4). The two numbers must not be related
 * to each other: with the golden ratio in both it is 20.
 */
#ifndef BPF_JITTER_BPF_H
#define BPF_JITTER_BPF_H

#include "bpf/maps.bpf.h"

#define JITTER_STEP 0xb7e15162ULL /* e - 2, in 32 bits behind the point */

/* tick_ns: the time this tick stands for. True when it is the one to take. */
static __always_inline bool jitter_takes(struct cpu_state *cpu, __u64 tick_ns)
{
	__u64 offset_ns = cpu->offset_ns; /* of the moment in its period; 0 before the first */

	if (!offset_ns) {
		offset_ns = 1 + (sample_period_ns * bpf_get_prandom_u32() >> 32);
		cpu->offset_ns = offset_ns;
		cpu->until_ns = offset_ns;
	}
	cpu->until_ns -= tick_ns;
	if (cpu->until_ns > 0)
		return false;
	offset_ns += sample_period_ns * JITTER_STEP >> 32;
	if (offset_ns > sample_period_ns)
		offset_ns -= sample_period_ns;
	cpu->until_ns += sample_period_ns - cpu->offset_ns + offset_ns;
	cpu->offset_ns = offset_ns;
	return true;
}

#endif
