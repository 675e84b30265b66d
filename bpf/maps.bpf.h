/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The maps of the kernel half and its settings. Sizes of 1 are set by user space before loading.
 * Weak, like the functions that are not static: each *.bpf.c has them, and linking keeps one.
 */
#ifndef BPF_MAPS_BPF_H
#define BPF_MAPS_BPF_H

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <linux/ptrace.h>
#include <stdbool.h>
#include <stddef.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/kernel_types.h"
#include "bpf/shared.h"
#include "unwinders/arch.h"
#include "unwinders/compiler.h"
#include "unwinders/orc.h"
#include "unwinders/python_await.h"
#include "unwinders/python_identity.h"
#include "unwinders/python_task.h"
#include "unwinders/python_walk.h"
#include "unwinders/unwind.h"

#define MAX_FRAMES (MAX_KERNEL_FRAMES + MAX_USER_FRAMES)
#define PAGE_LEN 4096ULL
#define STACK_WINDOW 4096      /* bytes of user stack read at a time at most: some forty frames */
#define STACK_WINDOW_LEAST 512 /* and no more where it is further from the last one than this: */
#define STACK_WINDOW_NEAR (2 * STACK_WINDOW)
#define STACK_WINDOW_ACROSS 2048 /* where a page ends before that */
#define KERNEL_WINDOW 2048	 /* of the kernel's stack */
#define N_CACHED_RULES 2048	 /* all that a per-CPU value may have */
#define RULES_A_PLACE 4

#define SETTING __weak const volatile

/* Settings, written before loading. */
SETTING __u32 target_flags = TARGET_ALL;
SETTING __u32 table_mask = 0;	    /* words of the table memory - 1; a power of two - 1 */
SETTING __u32 python_seen_mask = 0; /* elements of python_seen - 1; a power of two - 1 */
SETTING __u32 snapshot_max_pages = 16;
SETTING __u32 snapshot_pages_per_second = 8192; /* on one CPU: 5 ms of copying a second */
SETTING __u32 ring_wakeup_len = 1;		/* bytes waiting in the ring that wake user space */
SETTING __u32 ring_snapshot_len = 1;  /* bytes waiting from which on no stacks are copied */
SETTING __u64 sample_period_ns = 0;   /* mean time between samples on one CPU */
SETTING bool is_worth_period = false; /* a sample is worth its events, not its time */
SETTING bool asks_who_waits = false;  /* user space reads what waits for asyncio tasks */
SETTING bool is_user_only = false;
SETTING bool is_kernel_only = false;
SETTING bool has_task_btf = false; /* the kernel has bpf_get_current_task_btf (5.11) */
SETTING bool has_cgroup_ancestors =
	false; /* the kernel has bpf_get_current_ancestor_cgroup_id (5.16) */
SETTING bool has_task_pt_regs = false; /* the kernel has bpf_task_pt_regs (5.15) */

/* A rule looked up before, found by the low bits of the pc. Valid as long as the process's vector
   is: a file's rules never change. Saves a binary search over cold memory for most frames. Some
   stand side by side in one place, which is what memory is fetched by, the newest one first, as the
   pcs of one stack that share a place would drive each other out at every sample. */
struct cached_rule {
	__u64 key; /* pc and generation of the vector, mixed */
	__u64 rule;
};

struct cached_rules {
	struct cached_rule items[N_CACHED_RULES];
};

/* The process that this CPU sampled last: mostly it is the next one too, and to a tick, for which
   all memory is cold, each lookup in a hash costs as much as some frames. */
struct last_process {
	struct unwind_process known; /* copied from unwind_processes */
	__u64 until_ns;		     /* CLOCK_MONOTONIC: then it is looked up again */
	__u32 pid;		     /* 0: none */
	__u32 pad;
};

/* What a CPU's ticks work with. One value, and what every sample touches at its start: to a tick,
   all memory is cold, and each further page costs as much as some frames. */
struct scratch {
	struct cpu_state cpu; /* first: user space reads it */
	struct last_process last;
	struct unwind u;
	__u64 window_start; /* address of window[0] */
	__u64 window_len;   /* of the user's stack; 0: nothing read yet */
	__u64 missed;	    /* the address that was looked for last and not in it */
	__u8 window[STACK_WINDOW];
	__u32 find_end; /* why native_find_new() found nothing, or 0 */
	__u32 is_busy;
	__u32 is_entering;   /* the kernel has not saved the user registers yet: an NMI */
	__u32 is_exec;	     /* inside execve: the user registers may be of the image before */
	__u32 is_code_new;   /* code was mapped or unmapped since the process was sampled last */
	__u32 has_task;	     /* a task of asyncio was sent, and somebody asks who waits for it */
	__u32 is_polling;    /* in a system call in which event loops wait */
	__u32 is_span_known; /* the thread said which span it is in, or that it is in none */
#pragma clang diagnostic ignored "-Wgnu-variable-sized-type-not-at-end"
	struct wire_sample sample;
	struct wire_frame frames[MAX_FRAMES]; /* follow the sample on the wire too */
	struct pt_regs user_regs;
	struct orc_walk kernel; /* ip 0: where the kernel was interrupted is not known */
	__u32 kernel_left;	/* of the last walks, those that were left to the kernel */
	__u32 n_kernel_passed;	/* that were not tried, as most were left */
	__u64 kernel_stack[MAX_KERNEL_FRAMES];
};

/* Ticks write; user space reads the counters. Of the 32 KiB that a per-CPU value may have, frames
   take 18. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cached_rules);
} cached_rules __weak SEC(".maps");

/* How long each CPU's ticks are, by CPU number: one element for each that may come. User space
   writes through its own mapping, ticks read. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tick_length);
} tick_lengths __weak SEC(".maps");

/* The table memory: unwind tables and vectors of mappings, written by user space through its own
   mapping, read by walks. One element, whose size is the budget. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, 8);
} table_words __weak SEC(".maps");

/* Rules of the kernel's own code, for all CPUs: its place in the text in the high half, struct
   orc_tables. Two stand side by side in one place, the newer one first. Ticks read and write, each
   word at once. */
struct orc_rules {
	__u64 rules[2];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, N_ORC_RULES);
	__type(key, __u32);
	__type(value, struct orc_rules);
} orc_rules __weak SEC(".maps");

/* User space writes before the first tick. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct orc_tables);
} orc_places __weak SEC(".maps");

/* Processes whose mappings the kernel half knows, by pid. User space writes; a fork copies. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct unwind_process);
} unwind_processes __weak SEC(".maps");

/* Those of them that run CPython. User space writes; a fork copies. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct python_process);
} python_processes __weak SEC(".maps");

static __always_inline struct python_process *python_process_find(__u32 pid)
{
	return bpf_map_lookup_elem(&python_processes, &pid);
}

/* The loop whose tasks a thread was seen executing, where somebody asks for loops. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u64);
} python_threads __weak SEC(".maps");

#define PYTHON_CODES_A_SAMPLE 16 /* some 10 us; the others have their turn at the next sample */

/* Marks of code objects that were sent, whichever CPU saw them: each has two places, and the older
   mark gives way. Ticks write and read without a lock: at worst one is sent again. Some 4 KiB
   of each MiB of the budget (memory_plan.c): 32,768 marks at the default, for dozens of services.
 */
struct python_seen {
	__u32 marks[2];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct python_seen);
} python_seen __weak SEC(".maps");

/* A mark that this sample has set. */
struct python_sent {
	__u32 slot, mark;
};

/* What a walk of Python frames works with; its own, as a per-CPU value holds at most 32 KiB and
   most samples need none. */
struct python_scratch {
	struct python_process process; /* of the image that has this pid and generation */
	__u32 pid, generation;
	struct python_walk walk;
	struct python_reads reads;
	struct python_tasks tasks;
	struct python_await_state awaits;
	__u64 work; /* what a thread of a pool runs: unwinders/python_worker.bpf.h */
	__u32 work_is_item;
	__u32 is_worker; /* the task waits for that */
	struct wire_python_task task;
	union {
		__u8 span_bytes[PYTHON_SPAN_BYTES]; /* to look for a span */
		struct {			    /* then to send it */
			struct wire_span span;
			__u8 span_name[WIRE_SPAN_NAME_MAX]; /* follows it on the wire */
		};
	};
	struct wire_python_code code;
	__u32 n_sent; /* code objects with this sample */
	__u32 pad;
	struct python_sent sent[PYTHON_CODES_A_SAMPLE];
	struct wire_python record;
	struct wire_python_frame frames[MAX_PYTHON_FRAMES]; /* follow the record on the wire too */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct python_scratch);
} python_scratches __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct python_pages);
} python_pages __weak SEC(".maps");

_Static_assert(sizeof(struct python_scratch) <= 32 * 1024,
	       "the most that a per-CPU value may have");
_Static_assert(sizeof(struct scratch) + sizeof(struct cached_rules) +
			       sizeof(struct python_scratch) + sizeof(struct python_pages) <=
		       104 * 1024,
	       "as memory_plan.c counts them");

/* Targets. User space fills them; forks add to and remove from the pids. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} target_pids __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} target_tids __weak SEC(".maps");

struct comm {
	char name[WIRE_COMM_LEN];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct comm);
	__type(value, __u32);
} target_comms __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, __u32);
} target_cgroups __weak SEC(".maps");

/* Records of bpf/weft.h to user space. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} ring __weak SEC(".maps");

static __always_inline struct scratch *scratch_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&scratches, &zero);
}

static __always_inline struct python_scratch *python_scratch_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&python_scratches, &zero);
}

static __always_inline struct python_pages *python_pages_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&python_pages, &zero);
}

#endif
