/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which waits become samples. A stack can only be taken when a wait begins, and how long it lasts
 * is known when it is over; so waits are chosen by how long they are expected to last. Those that
 * begin on a CPU, laid end to end by that, are cut into cells of equal length, each with one point
 * in it, at random. A wait is taken when a point lies in it, and is then worth what it really
 * lasted, times the cells by the part that was expected: on average exactly what it lasted,
 * whatever was expected. A good guess makes that steady, not right. One that is expected to last
 * for a cell or longer is always taken. And as the points are random, no program is in step with
 * them.
 *
 * A cell is a sampling period long while that makes no more samples than were asked for: the waits
 * of many threads come to many seconds in each second. Every second it is fitted to the one before.
 */
#ifndef BPF_POINTS_BPF_H
#define BPF_POINTS_BPF_H

#include "bpf/shared.h"

/* Given by who includes it, so that tests can: sample_period_ns, bpf_get_prandom_u32(). */

#define POINTS_FIT_NS 1000000000ULL
#define POINTS_MAX_CELL_NS (1ULL << 41) /* so that a random part of it can be worked out */
/* What may be expected: the less it is, the more a longer wait is worth, and the rarer taken. */
#define POINTS_MIN_NS 50000ULL
#define POINTS_MAX_NS POINTS_FIT_NS

static __always_inline __u64 points_random(__u64 cell_ns)
{
	return (cell_ns >> 10) * bpf_get_prandom_u32() >> 22;
}

/* What is left of a cell is given up, which is right on average too: every ns has the same chance,
   and is worth its cell by that. */
static __always_inline void points_fit(struct points *p, __u64 now_ns)
{
	__u64 n_wanted = (now_ns - p->since_ns) / (sample_period_ns | !sample_period_ns);

	p->cell_ns = p->total_ns / (n_wanted | !n_wanted);
	if (p->cell_ns < sample_period_ns)
		p->cell_ns = sample_period_ns;
	if (p->cell_ns > POINTS_MAX_CELL_NS)
		p->cell_ns = POINTS_MAX_CELL_NS;
	p->since_ns = now_ns;
	p->total_ns = 0;
	p->at_ns = 0;
	p->point_ns = points_random(p->cell_ns);
}

/* Cells of the points in a wait that begins now and is expected to last that long, in ns. 0: it is
   no sample. */
static __always_inline __u64 points_take(struct points *p, __u64 expected_ns, __u64 now_ns)
{
	__u64 end_ns, n;

	if (now_ns - p->since_ns >= POINTS_FIT_NS)
		points_fit(p, now_ns);
	p->total_ns += expected_ns;
	if (expected_ns >= p->cell_ns)
		return expected_ns;
	end_ns = p->at_ns + expected_ns;
	n = p->at_ns <= p->point_ns && p->point_ns < end_ns;
	p->at_ns = end_ns;
	if (end_ns >= p->cell_ns) {
		p->at_ns -= p->cell_ns;
		p->point_ns = points_random(p->cell_ns);
		n += p->point_ns < p->at_ns;
	}
	return n * p->cell_ns;
}

/* What it was worth when it is over, in ns: len_ns * taken_ns / expected_ns, of which the product
   may not fit. */
static __always_inline __u64 points_worth(__u64 len_ns, __u64 expected_ns, __u64 taken_ns)
{
	__u64 factor = (taken_ns << 10) / (expected_ns | !expected_ns);

	return (len_ns >> 10) * factor + ((len_ns & 1023) * factor >> 10);
}

/* What to expect of a thread's next wait: as long as this one, or nearly as long as longer ones
   lately. */
static __always_inline __u64 points_expect(__u64 len_ns, __u64 expected_ns)
{
	__u64 next_ns = expected_ns - expected_ns / 8;

	if (next_ns < len_ns)
		next_ns = len_ns;
	if (next_ns < POINTS_MIN_NS)
		return POINTS_MIN_NS;
	return next_ns > POINTS_MAX_NS ? POINTS_MAX_NS : next_ns;
}

#endif
