/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What makes a sampler tick: one perf event on every CPU, which runs a BPF program. Ticks
 * of a fixed length wander: now and then each CPU's length becomes another one, so that no program
 * moves in step with them for long. What one tick stands for is in the map `tick_lengths`, which
 * the BPF program reads.
 */
#ifndef BPF_TICKER_H
#define BPF_TICKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tick_event {
	uint32_t type; /* enum perf_type_id */
	uint64_t config;
	bool is_frequency; /* the kernel fits the ticks' length to the rate: a tick is worth what
			      it says, and its length is not ours to change */
};

struct cpus;
struct ticker_cpu;

struct ticker {
	struct tick_event event;
	int prog_fd;
	struct ticker_cpu *cpus;     /* by number */
	size_t n_cpus;		     /* that may come */
	size_t n_refused;	     /* that came online later and could not be opened */
	struct tick_length *lengths; /* the map, by CPU number */
	size_t map_len;
	uint64_t tick_ns; /* mean */
	bool is_fixed;	  /* does not wander */
	uint64_t random;
	uint64_t next_change_ns; /* CLOCK_MONOTONIC */
};

/* Opens the events, stopped, with program prog_fd and the map lengths_fd. sample_ns: between two
   samples on one CPU, on average. -ENOENT, -EOPNOTSUPP: the machine has no
   such counter. ticker_close() after failure too. */
int ticker_open(struct ticker *t, const struct tick_event *event, uint64_t sample_ns, int prog_fd,
		int lengths_fd);
int ticker_start(struct ticker *t);
/* CPUs that came online since tick from now on, those that went have none left. How many. */
size_t ticker_follow(struct ticker *t, const struct cpus *cpus);
/* Ticks end; those under way have ended when this returns. */
void ticker_stop(struct ticker *t);
void ticker_close(struct ticker *t);

/* Changes the lengths when it is time. Returns how many ms may pass until the next change, at most
   max_ms. */
int ticker_wander(struct ticker *t, int max_ms);

#endif
