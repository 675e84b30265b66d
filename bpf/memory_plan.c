// SPDX-License-Identifier: Apache-2.0
#include "bpf/memory_plan.h"

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)

#define SCRATCH_LEN (104 * KIB) /* of all per-CPU maps of maps.bpf.h, whose sizes it asserts */
#define PAGE_LEN (4 * KIB)	/* before each side-band buffer */

/* A storm of 2,000 execs a second writes about 4 MB/s: the largest lasts for 130 ms of it on one
   CPU, the smallest for 16 ms, and weft reads as soon as something is there. */
#define MAX_SIDEBAND_LEN (512 * KIB)
#define MIN_SIDEBAND_LEN (64 * KIB)
#define MIN_TABLE_LEN (64 * KIB)
#define MAX_TABLE_LEN (512 * MIB) /* the verifier lets a pointer move by 2^29 */
#define MIN_RING_LEN (2 * MIB)	  /* 500 pages of snapshots */
#define MAX_RING_LEN (64 * MIB)
#define MIN_SEEN_LEN (32 * KIB)
#define MAX_SEEN_LEN (4 * MIB)

/* What is in use in the least budget before the first stack, without what each CPU takes: the table
   memory (8 MiB), the ring (2 MiB), processes and targets known to the kernel half, and the
   kernel's own symbols, with modules some 7 MiB. */
#define BASE_LEN (21 * MIB)
#define LEAST (24 * MIB)
#define SPARE_PART 16 /* of the budget is kept for the names at the end, see budget.c */

static uint64_t power_of_two(uint64_t n, uint64_t min, uint64_t max)
{
	uint64_t p = min;

	while (p <= n / 2 && p < max)
		p *= 2;
	return p;
}

static uint64_t per_cpu(uint64_t sideband_len, int n_possible, int n_online)
{
	return SCRATCH_LEN * (uint64_t)n_possible + (PAGE_LEN + sideband_len) * (uint64_t)n_online;
}

/* Half a MiB is for a few stacks. */
uint64_t memory_least(int n_possible, int n_online)
{
	uint64_t need = BASE_LEN + per_cpu(MIN_SIDEBAND_LEN, n_possible, n_online);
	uint64_t least = (need * SPARE_PART / (SPARE_PART - 1) + MIB / 2 + MIB - 1) / MIB * MIB;

	return least < LEAST ? LEAST : least;
}

uint64_t memory_default(int n_possible, int n_online)
{
	return 2 * memory_least(n_possible, n_online);
}

/* At most a 32nd for the side-band. Of what the CPUs leave at most 3/8 for tables and mappings, at
   most an eighth for the ring: what comes while user space explains other samples, or has no CPU,
   waits in it, stacks included. */
struct memory_plan memory_plan(uint64_t budget, int n_possible, int n_online)
{
	uint64_t sideband =
		power_of_two(budget / 32 / (uint64_t)n_online, MIN_SIDEBAND_LEN, MAX_SIDEBAND_LEN);
	uint64_t cpus = per_cpu(sideband, n_possible, n_online);
	uint64_t usable = budget - budget / SPARE_PART;
	uint64_t left = cpus < usable ? usable - cpus : 0;

	return (struct memory_plan){
		.table_len = power_of_two(left / 8 * 3, MIN_TABLE_LEN, MAX_TABLE_LEN),
		.ring_len = power_of_two(left / 8, MIN_RING_LEN, MAX_RING_LEN),
		.sideband_len = sideband,
		.seen_len = power_of_two(left / 256, MIN_SEEN_LEN, MAX_SEEN_LEN),
	};
}
