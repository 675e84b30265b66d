/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's own record of what processes do: fork, exec, names, executable mappings, exit. A
 * dummy perf event a CPU; their records are decoded and put into order of time. Times are
 * CLOCK_MONOTONIC.
 */
#ifndef BPF_SIDEBAND_H
#define BPF_SIDEBAND_H

#include <stddef.h>
#include <stdint.h>

#include "runtimes/process.h"

struct cpus;
struct sideband;

/* buffer_len: bytes a CPU, a power of two. NULL and *err: -EPERM without CAP_PERFMON. */
struct sideband *sideband_new(size_t buffer_len, int *err);
void sideband_free(struct sideband *sb);
/* Adds the descriptors to an epoll set: each becomes readable as soon as it has a record. */
int sideband_watch(struct sideband *sb, int epoll_fd);
/* CPUs that came online since get a buffer, what those that went leave is taken over. Events on one
   that came before this are not heard of. */
void sideband_follow(struct sideband *sb, const struct cpus *cpus);
/* Takes over what is there, up to now. Returns the number of events that wait. */
size_t sideband_read(struct sideband *sb);
/* The oldest event that waits if it is not after time_ns, else NULL. Valid until the next call. */
const struct process_event *sideband_next(struct sideband *sb, uint64_t time_ns);
uint64_t sideband_lost(const struct sideband *sb);
size_t sideband_memory(const struct sideband *sb);

/* One record of the kernel's, header included, as an event; name points into it. 0, -ENOENT when it
   is none that matters (*lost grows by what it says was lost), -EBADMSG. */
int sideband_decode(const void *record, size_t len, struct process_event *ev, uint64_t *lost);

#endif
