/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Jitter against lockstep with the program. Ticks come more often than samples are wanted, at a
 * period that no small multiple or fraction of the sampling period meets (cpu.c picks it). A random
 * moment is drawn in every sampling period, and the first tick at or after it is the sample. So the
 * mean rate is exact, every tick is equally likely, and the grid of ticks drifts through every
 * phase.
 */
#ifndef BPF_JITTER_BPF_H
#define BPF_JITTER_BPF_H

#include "bpf/maps.bpf.h"

/* tick_ns: the time this tick stands for. True when it is the one to take. */
static __always_inline bool jitter_takes(struct cpu_state *cpu, __u64 tick_ns)
{
	__u64 offset_ns;

	/* offset_ns: where in its period the moment drawn last was; 0 before the first. */
	if (!cpu->offset_ns) {
		cpu->offset_ns = 1 + (sample_period_ns * bpf_get_prandom_u32() >> 32);
		cpu->until_ns = cpu->offset_ns;
	}
	cpu->until_ns -= tick_ns;
	if (cpu->until_ns > 0)
		return false;
	offset_ns = 1 + (sample_period_ns * bpf_get_prandom_u32() >> 32);
	cpu->until_ns += sample_period_ns - cpu->offset_ns + offset_ns;
	cpu->offset_ns = offset_ns;
	return true;
}

#endif
