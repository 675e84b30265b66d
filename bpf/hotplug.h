/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPUs that come online or go while they are sampled. One that comes has neither ticks nor
 * side-band of its own until somebody looks; one that went and came back between two looks is not
 * noticed.
 */
#ifndef BPF_HOTPLUG_H
#define BPF_HOTPLUG_H

#include <stdint.h>

#include "bpf/cpus.h"

struct sideband;
struct ticker;

struct hotplug {
	struct cpus cpus;
	const char *list; /* NULL, or another file than the kernel's; borrowed */
	uint64_t n_changes;
};

int hotplug_init(struct hotplug *h, const char *list); /* 0 or -ENOMEM */
void hotplug_deinit(struct hotplug *h);
/* To be done once a second or so. */
void hotplug_look(struct hotplug *h, struct ticker *t, struct sideband *sb);

#endif
