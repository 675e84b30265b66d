/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the memory budget (--memory) is shared out to what has its size from the start: the table
 * memory, the ring and what every CPU takes. Each CPU that may come has a scratch value in the
 * kernel half, each that is online a side-band buffer; so the least budget in which weft runs, and
 * with it the default, grows with the machine.
 */
#ifndef BPF_MEMORY_PLAN_H
#define BPF_MEMORY_PLAN_H

#include <stdint.h>

struct memory_plan {
	uint64_t table_len;    /* bytes; a power of two, as are the others */
	uint64_t ring_len;     /* bytes */
	uint64_t sideband_len; /* bytes a CPU, without the page that is before them */
	uint64_t seen_len;     /* bytes of marks of Python code objects that were sent */
};

/* CPUs that may come, and those that are online; both at least 1. */
uint64_t memory_least(int n_possible, int n_online);
uint64_t memory_default(int n_possible, int n_online); /* twice the least */
/* Also of budgets below the least, whose parts get their smallest sizes. */
struct memory_plan memory_plan(uint64_t budget, int n_possible, int n_online);

#endif
