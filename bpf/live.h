/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live source: loads the kernel half, attaches the CPU sampler, follows processes by the
 * kernel's side-band, and turns wire samples into samples of the profile.
 *
 * How a recording goes: source_open() samples already when it returns; source_pump() again and
 * again; live_stop(); source_pump() until it returns 0 (what was under way); live_finish(); export;
 * source_close(). All pumps are given the same profile.
 */
#ifndef BPF_LIVE_H
#define BPF_LIVE_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/counters.h"
#include "bpf/sweeper.h"
#include "core/source.h"

extern const struct source_ops source_live;

/* No more ticks: everything after this is draining. */
void live_stop(struct source *src);
/* Names what is not named yet, until is_stopped (NULL: never) says so, and writes the accounting
   into the profile. Returns how many locations of files were left without names. */
size_t live_finish(struct source *src, struct profile *p, bool (*is_stopped)(void));

/* The sums of both halves so far, by enum counter. */
void live_counters(struct source *src, uint64_t counters[N_COUNTERS]);

struct live_program {
	char name[32];		       /* outlives the source */
	uint64_t run_time_ns, run_cnt; /* 0 unless options.stats asked the kernel to count */
};

#define LIVE_MAX_PROGRAMS 8

struct live_stats {
	struct live_program programs[LIVE_MAX_PROGRAMS];
	size_t n_programs;
	uint64_t first_sample_ns;  /* from source_open() to the first tick that became a sample; 0:
				      none */
	uint64_t attach_ns;	   /* from source_open() to sampling */
	uint64_t map_bytes;	   /* BPF maps and the side-band's buffers */
	uint64_t user_bytes;	   /* of the profile and all that fills it, symbols included */
	struct sweep_stats sweeps; /* of `-e async` */
};

void live_stats(struct source *src, struct live_stats *out);

struct loop_summary;
/* Of event loops that were blocked, after live_finish(); NULL when nothing was sampled. Borrowed.
 */
const struct loop_summary *live_loops(struct source *src);

#endif
