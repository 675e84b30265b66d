/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a target can make us do, in a unit of whoever asks (steps of work, nanoseconds of waiting):
 * so much at once, and so much a second in the long run. It is taken beforehand or found out
 * afterwards, so a bit more than what was left may be used.
 */
#ifndef CORE_ALLOWANCE_H
#define CORE_ALLOWANCE_H

#include <stdint.h>

#include "core/clock.h"

struct allowance_limits {
	uint64_t most, per_s; /* neither is 0 */
};

/* Zeros at first. */
struct allowance {
	uint64_t used, at_ns;
};

/* What is left at this time, which may also stand still or go back. */
static inline uint64_t allowance_left(struct allowance *a, const struct allowance_limits *limits,
				      uint64_t now_ns)
{
	uint64_t passed = now_ns > a->at_ns ? now_ns - a->at_ns : 0;
	unsigned __int128 back = (unsigned __int128)passed * limits->per_s / NS_PER_S;

	if (back >= a->used) {
		a->used = 0;
		a->at_ns = now_ns;
	} else if (back) {
		a->used -= (uint64_t)back;
		a->at_ns = now_ns;
	}
	return a->used < limits->most ? limits->most - a->used : 0;
}

static inline void allowance_use(struct allowance *a, uint64_t n)
{
	a->used = n > UINT64_MAX - a->used ? UINT64_MAX : a->used + n;
}

#endif
