/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a tick stands for. Every tick is a sample, worth the time since the tick before it: an
 * interrupt costs more than the walk it brings (12 to 20 us in a virtual machine), so there is none
 * that is not used. Against lockstep with the program user space changes the ticks' length all the
 * time (ticker.c), by up to 30 % to both sides: whatever repeats is in step with few lengths, and
 * the sum is right, as each tick counts by its own. What that comes to (tests/unit/tick_test.c;
 * 3,000 samples of two phases, 30 % and 70 %, that repeat every 0.1 to 8 periods): 0.54 points of
 * error rms, 0.71 for programs in step with the mean length. As many independent random moments:
 * 0.84.
 */
#ifndef BPF_TICK_BPF_H
#define BPF_TICK_BPF_H

#include "bpf/shared.h"

/* Given by who includes it, so that tests can: bpf_ktime_get_ns(). */

/* The tick's length, and what of the one before was cut off when the length changed, unless the CPU
   was idle in between. */
static __always_inline __u64 tick_worth_ns(struct cpu_state *cpu, const struct tick_length *length)
{
	__u64 tick_ns = length->tick_ns;

	if (cpu->n_changes == length->n_changes)
		return tick_ns;
	cpu->n_changes = length->n_changes;
	if (bpf_ktime_get_ns() - length->since_ns < tick_ns + tick_ns / 2)
		tick_ns += length->cut_ns;
	return tick_ns;
}

#endif
