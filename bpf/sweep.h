/* SPDX-License-Identifier: Apache-2.0 */
/* One look at the asyncio tasks of a process, as samples of a profile. */
#ifndef BPF_SWEEP_H
#define BPF_SWEEP_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/budget.h"
#include "bpf/counters.h"

struct process;
struct processes;
struct profile;
struct python_memory;
struct sweep;

/* All is borrowed. */
struct sweep *sweep_new(struct processes *ps, struct profile *p, struct budget *budget,
			uint64_t unix_offset_ns);
void sweep_free(struct sweep *s);
/* Adds a sample for each task, worth weight_ns; those with the same stack and labels are one with a
   count. *n_tasks: how many there are. memory is what earlier looks at the same
   program learned. Errors as of python_dump_read(). */
int sweep_process(struct sweep *s, const struct process *proc, struct python_memory *memory,
		  uint64_t time_ns, uint64_t weight_ns, size_t *n_tasks);
size_t sweep_memory(const struct sweep *s);
void sweep_count(const struct sweep *s, uint64_t counters[N_COUNTERS]);

#endif
