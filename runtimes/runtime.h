/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A runtime explains the frames of one language: it turns wire frames of its kind into locations of
 * the profile. Native, kernel and perf-map JIT code now; CPython, HotSpot and Go are further rows.
 */
#ifndef RUNTIMES_RUNTIME_H
#define RUNTIMES_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/weft.h"

struct explain;
struct kallsyms;
struct objects;
struct process;
struct processes;
struct profile;

/* Makes locations out of wire frames, with caches: one for a profile being filled. */
struct explain *explain_new(struct processes *ps, struct objects *os, struct kallsyms *kernel, struct profile *p);
void explain_free(struct explain *ex);
/* The locations of n frames of one sample, leaf first, as they were at time_ns; proc may be NULL
   (unknown). out has room for n + 2 (marks). end: enum counter; an incomplete walk gets a [truncated]
   or [broken: reason] mark as its root. Returns how many. */
size_t explain_stack(struct explain *ex, struct process *proc, uint64_t time_ns,
		     const struct wire_frame *frames, size_t n, int end, uint32_t *out);
/* Names every location that has none yet; call before the profile is exported, and when a process
   whose names live with it (perf map) is about to be forgotten. */
void explain_symbolize(struct explain *ex);
void explain_drop_process(struct explain *ex, struct process *proc);
size_t explain_memory(const struct explain *ex);

#endif
