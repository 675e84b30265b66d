/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of bpf/live*.c: a live source. live.c fills profiles, live_sums.c says what it took. */
#ifndef BPF_LIVE_STATE_H
#define BPF_LIVE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/budget.h"
#include "bpf/finish.h"
#include "bpf/hotplug.h"
#include "bpf/kernel_half.h"
#include "bpf/kernel_symbols.h"
#include "bpf/priority.h"
#include "bpf/wakeup.h"
#include "runtimes/runtime.h"

struct follower;
struct loop_blocks;
struct ring_buffer;
struct sample_labels;
struct sideband;
struct sweeper;
struct tables;
struct unwind_maps;

struct live {
	struct kernel_half kernel;
	struct hotplug hotplug;
	struct sideband *sideband;
	struct ring_buffer *ring;
	uint32_t n_since_breath;
	bool is_eval_shown;
	bool is_logical;   /* what waits for a task is to be read soon after a sample of it */
	size_t max_queued; /* bytes of samples taken over while others are explained */
	int64_t ring_left; /* bytes to read from it before everything else has its turn */
	struct wakeup wakeup;
	struct objects *objects;
	struct processes *processes;
	struct unwind_maps *maps;
	struct tables *tables;
	struct follower *follower;
	struct finisher *finisher;
	struct sample_queue *queue;
	struct waits *waits;
	struct kernel_symbols kernel_symbols;
	/* of the profile that is being filled */
	struct profile *profile;
	struct explain *explain;
	struct sample_labels *labels;
	struct loop_blocks *loops;
	uint64_t block_ns;	 /* from which on an event loop counts as blocked; 0: not asked */
	struct sweeper *sweeper; /* NULL: the kernel half samples */
	struct budget budget;
	bool is_stopped;
	struct priority priority;
	uint64_t open_ns, start_ns, first_sample_ns, last_expire_ns;
	uint64_t unix_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
	uint64_t n_added;
	uint64_t counters[N_COUNTERS]; /* what is counted here and nowhere else */
	struct wire_frame frames[MAX_FINISHED];
	uint32_t locations[MAX_EXPLAINED];
};

/* Bytes of user space and of BPF maps that count for the budget; ctx is the struct live. */
uint64_t live_memory(void *ctx);

#endif
