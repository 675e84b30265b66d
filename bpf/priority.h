/* SPDX-License-Identifier: Apache-2.0 */
/* The priority of this thread while it samples; threads that it starts meanwhile inherit it. */
#ifndef BPF_PRIORITY_H
#define BPF_PRIORITY_H

#include <stdbool.h>

struct priority {
	int nice; /* before it was raised */
	bool is_raised;
};

/* When every CPU is busy with targets, the tables of a new one would come too late. Takes
   CAP_SYS_NICE; without it weft waits its turn. */
void priority_raise(struct priority *p);
/* What is left to do is not urgent: targets that still run come first. Fine when nothing was
   raised. */
void priority_restore(struct priority *p);

#endif
