/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A copy of what user space says of a process that runs CPython. What it says anew takes a place of
 * its own, and the old place may become another process's at once, while somebody copies from it:
 * each has a number, and a copy holds when the same is found again under the same number. Whoever
 * includes it has
 *
 *	struct python_process *python_process_find(__u32 pid)	in the map; NULL: none
 */
#ifndef BPF_PYTHON_KNOWN_BPF_H
#define BPF_PYTHON_KNOWN_BPF_H

#include "unwinders/python_walk.h"

/* False: it is not there, or became another one meanwhile; the next time may do. */
static __always_inline int python_process_copy(struct python_process *out, __u32 pid)
{
	const struct python_process *known = python_process_find(pid), *again;
	__u64 serial;

	if (!known)
		return 0;
	serial = *(const volatile __u64 *)&known->serial;
	*out = *known;
	asm volatile("" : : : "memory"); /* not before all of it is copied */
	again = python_process_find(pid);
	return again && again == known && *(const volatile __u64 *)&again->serial == serial &&
	       out->serial == serial;
}

#endif
