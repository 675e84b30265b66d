/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the maps hold that both halves touch: map values and settings, no wire records. */
#ifndef BPF_SHARED_H
#define BPF_SHARED_H

#include <linux/types.h>

#include "bpf/counters.h"
#include "bpf/weft.h"
#include "unwinders/python_walk.h"

/* Which of the target maps are looked at; a task that any of them has is a target. */
enum target_flags {
	TARGET_ALL = 1,
	TARGET_PIDS = 2,
	TARGET_TIDS = 4,
	TARGET_COMMS = 8,
	TARGET_CGROUPS = 16,
	TARGET_CHILDREN = 32, /* a fork of a target pid is one too */
};

/* The image a process runs. Every exec makes a new mm, and nothing else; so an entry speaks of the
   mm it was first used for. Before that it is known by its vdso, which an exec maps at a random
   place, unless randomization is switched off. */
struct unwind_process {
	__u64 start_time_ns; /* of the group leader, boottime */
	__u64 vdso;
	__u64 mm;     /* the kernel half writes it; 0: not used yet */
	__u32 vector; /* word in the table memory: struct unwind_vector; 0 is none */
	__u32 n_mappings;
	__u32 generation;   /* also the vector's first word, until it is freed */
	__u32 n_code_pages; /* at its last sample, which the kernel half writes here */
	__u32 flags;	    /* enum unwind_process_flags */
	__u32 pad;
	struct python_slot_at context; /* the variable of unwinders/thread_context.bpf.h */
};

/* How long ticks may go by a copy of an entry: what it refers to is not used for anything else
   before. */
#define LAST_PROCESS_NS 100000000

enum unwind_process_flags {
	UNWIND_PROCESS_PYTHON = 1,  /* python_processes has it */
	UNWIND_PROCESS_CONTEXT = 2, /* context is known */
};

/* In the table memory, 8-byte aligned: mappings sorted by address. Their `table` changes in place,
   everything else by a new vector. */
struct unwind_vector {
	__u32 generation;
	__u32 n_mappings;
	struct unwind_mapping mappings[];
};

#define MAPPING_WORDS (sizeof(struct unwind_mapping) / 4)

/* Which of the time that passed off the CPUs is sampled: points.bpf.h. */
struct points {
	__u64 cell_ns, at_ns, point_ns;
	__u64 since_ns, total_ns;
};

/* One a CPU, at the start of the value of the map `scratches`; written by its ticks only. What a
   tick that hits no target touches stands together. */
struct cpu_state {
	__u64 n_changes;	    /* of the ticks' length, as far as it was seen */
	__u64 counters[N_COUNTERS]; /* the TICK_*s are the first */
	/* snapshot.bpf.h: pages that may still be copied, and when that was worked out */
	__u64 n_pages_left, refill_time_ns;
	__u64 n_samples; /* for ids */
	struct points points;
};

/* What the ticks of one CPU stand for, in the map `tick_lengths`; user space writes, in this order.
   When the length changes, the tick under way is cut off after cut_ns. */
struct tick_length {
	__u64 cut_ns;
	__u64 since_ns; /* CLOCK_MONOTONIC */
	__u64 tick_ns;
	__u64 n_changes;
};

#define MAX_SNAPSHOT_PAGES 64

#endif
