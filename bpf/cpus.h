/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BPF_CPUS_H
#define BPF_CPUS_H

#include <bpf/libbpf.h>

/* CPU numbers are below this; some may be offline. At least 1. */
static inline int cpus_possible(void)
{
	int n = libbpf_num_possible_cpus();

	return n > 0 ? n : 1;
}

#endif
