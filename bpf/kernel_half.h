/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel half as user space holds it: the loaded BPF programs and maps, sized by the memory
 * budget, and the sampler that runs them. Nothing is pinned: it all goes when the process goes.
 */
#ifndef BPF_KERNEL_HALF_H
#define BPF_KERNEL_HALF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/counters.h"
#include "bpf/memory_plan.h"
#include "bpf/targets.h"
#include "bpf/ticker.h"

struct kallsyms;
struct options;
struct sampler_ops;
struct weft_bpf;

struct kernel_half {
	struct weft_bpf *skel;
	struct targets targets;
	struct memory_plan plan;
	uint32_t n_table_words;
	uint64_t period_ns; /* mean time between samples on one CPU */
	const struct sampler_ops *sampler;
	struct ticker ticker;
	int stats_fd; /* while the kernel counts the programs' time; -1 */
};

/* Are our pids those that samples have? Not in a pid namespace. True when it cannot be known. */
bool kernel_half_has_pids(void);
struct cpus;
/* Loads everything; nothing ticks yet. Logs what is missing. -EPERM, -ENOTSUP, ... */
int kernel_half_open(struct kernel_half *k, const struct options *opt, const struct cpus *cpus);
/* Where the kernel's ORC tables are, so that kernel stacks can be walked without its help. Before
 * the start. */
void kernel_half_show_orc(struct kernel_half *k, const struct kallsyms *symbols);
/* Ticks begin. */
int kernel_half_start(struct kernel_half *k, const struct options *opt);
/* Ticks end; those under way have ended when this returns. */
void kernel_half_stop(struct kernel_half *k);
void kernel_half_close(struct kernel_half *k);

/* Adds the kernel half's counters to sums. */
void kernel_half_count(const struct kernel_half *k, uint64_t sums[N_COUNTERS]);
uint64_t kernel_half_memory(const struct kernel_half *k);

struct live_program;
/* What the kernel counted of each program; returns how many. */
size_t kernel_half_programs(const struct kernel_half *k, struct live_program *out);

#endif
