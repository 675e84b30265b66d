/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the kernel half's picture of processes up to date: which mappings each has, and which of
 * them have an unwind table. A process is told of when it is first sampled or runs exec, and again
 * when its mappings changed.
 */
#ifndef BPF_FOLLOW_H
#define BPF_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtimes/process.h"

struct follower;
struct unwind_maps;

struct tables;
struct targets;

/* All are borrowed. Tables of everything that a target maps are loaded as soon as it is known to
   map it, where the targets are few; on a whole machine they wait for a sample. */
struct follower *follower_new(struct processes *ps, struct unwind_maps *maps, struct tables *tables,
			      const struct targets *targets);
void follower_free(struct follower *f);

/* A target that was there before weft. */
void follower_begin(struct follower *f, pid_t pid);
/* What the targets that run already have mapped, before they are sampled. Those that are not
   targets by their pid become known by their first sample, unless they are asked for: with_others.
 */
void follower_begin_targets(struct follower *f, bool with_others);
/* An event that was applied to the processes just now. */
void follower_event(struct follower *f, const struct process_event *ev);
/* A process that was sampled: is_stale when the kernel half did not know where it was. */
void follower_sample(struct follower *f, struct process *proc, uint64_t start_time_ns,
		     uint64_t time_ns, bool is_stale);
/* Tells the kernel half what changed since the last call. */
void follower_flush(struct follower *f);
/* The process, or the program it runs, is about to be forgotten. */
void follower_drop(struct follower *f, struct process *proc);

#endif
